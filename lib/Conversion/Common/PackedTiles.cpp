//===- PackedTiles.cpp - tiles of packed sequences ------------------------===//

#include "PackedTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

Value linattn::findSequence(OpBuilder &builder, Location loc, Value slot,
                            Value numSequences,
                            llvm::function_ref<Value(Value)> firstSlot) {
  Type i32 = builder.getI32Type();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value last = arith::SubIOp::create(builder, loc, numSequences, index(1));
  Value zeros = math::CountLeadingZerosOp::create(
      builder, loc, arith::IndexCastOp::create(builder, loc, i32, last));
  Value all =
      arith::ConstantOp::create(builder, loc, IntegerAttr::get(i32, 32));
  Value bits = arith::SubIOp::create(builder, loc, all, zeros);
  Value steps =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bits);
  auto loop = scf::ForOp::create(builder, loc, index(0), steps, index(1),
                                 ValueRange{index(0), last});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value low = loop.getRegionIterArg(0), high = loop.getRegionIterArg(1);
  Value middle = arith::AddIOp::create(builder, loc, low, high);
  middle = arith::AddIOp::create(builder, loc, middle, index(1));
  middle = arith::DivUIOp::create(builder, loc, middle, index(2));
  Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       firstSlot(middle), slot);
  Value below = arith::SubIOp::create(builder, loc, middle, index(1));
  scf::YieldOp::create(
      builder, loc,
      ValueRange{arith::SelectOp::create(builder, loc, before, middle, low),
                 arith::SelectOp::create(builder, loc, before, high, below)});
  return loop.getResult(0);
}
