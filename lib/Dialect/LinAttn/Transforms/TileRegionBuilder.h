//===- TileRegionBuilder.h - tensor code of an attention tile ---*- C++ -*-===//
//
// Short names for the operations on tiles that a region of `attention_tiles`
// consists of. A row is a query: [Q] holds one number per row, [Q, D] a vector.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_TILEREGIONBUILDER_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_TILEREGIONBUILDER_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace linattn {

class TileRegionBuilder {
public:
  TileRegionBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// The type of the arithmetic, and what operands of products are rounded to.
  mlir::Type compute;
  MmaPrecision precision = MmaPrecision::F32;

  Value splat(mlir::Type type, double value);
  Value zeros(llvm::ArrayRef<int64_t> shape);
  /// To another float type; as it is if it has that one.
  Value convert(Value tile, mlir::Type element);
  Value transpose(Value matrix);
  /// outs + a b, each operand rounded once (or in two terms).
  Value product(Value a, Value b, Value outs);

  Value add(Value a, Value b) { return binary<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return binary<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return binary<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return binary<mlir::arith::DivFOp>(a, b); }
  Value exp(Value x) { return unary<mlir::math::ExpOp>(x); }
  Value log(Value x) { return unary<mlir::math::LogOp>(x); }
  Value sqrt(Value x) { return unary<mlir::math::SqrtOp>(x); }
  /// 1 / (1 + e^-x), without overflow.
  Value sigmoid(Value x);
  Value scale(Value x, double factor) {
    return mul(x, splat(x.getType(), factor));
  }
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, double with) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, x,
                                       splat(x.getType(), with));
  }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// [Q] as [Q, D], and [D] as [Q, D], of the shape of `like`.
  Value overColumns(Value rows, Value like) { return repeat(rows, like, 1); }
  Value overRows(Value columns, Value like) { return repeat(columns, like, 0); }
  /// onto[i] + sum_j x[i, j], or their maximum.
  Value reduceRows(Value x, Value onto, bool maximum);
  /// A tile like the first input from numbers of all; the body yields one.
  Value elementwise(mlir::ValueRange inputs,
                    llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                            mlir::ValueRange)>
                        body);
  /// The query head 2 h + m.
  Value headOfMap(Value head, int64_t m);
  /// Element `at` (the only one where that is null) of a tensor from outside,
  /// in `rows` rows.
  Value readNumber(Value tensor, Value at, int64_t rows);

private:
  template <typename OpTy> Value unary(Value x) {
    return OpTy::create(builder, loc, x);
  }
  template <typename OpTy> Value binary(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value repeat(Value tile, Value like, int64_t dimension);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_TILEREGIONBUILDER_H
