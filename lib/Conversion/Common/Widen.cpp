//===- Widen.cpp - every float becomes f64 --------------------------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/Precision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace linattn {
#define GEN_PASS_DEF_WIDEN
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

/// The attribute's value in f64; exact, since every narrower float is one.
static APFloat widen(APFloat value) {
  bool lost = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value;
}

/// Notes what products round to, which the types of the operands say.
template <typename OpTy> static void keepPrecision(OpTy op) {
  if (op.getPrecisionAttr())
    return;
  MmaPrecision mma = *getMmaPrecision(op);
  if (mma != MmaPrecision::F32)
    op.setPrecisionAttr(
        PrecisionAttr::get(op.getContext(), mma, MmaPrecision::F32));
}

namespace {
struct WidenPass : linattn::impl::WidenBase<WidenPass> {
  using Base::Base;

  void runOnOperation() override {
    auto f64 = Float64Type::get(&getContext());
    // What chunks and tiles may round to follows from the types that go now.
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<RecurrenceOp, SoftmaxAttentionOp, DiffAttentionOp>(
              [](auto op) { keepPrecision(op); });
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FloatType type) -> std::pair<Type, WalkResult> {
      return {f64, WalkResult::skip()};
    });
    replacer.addReplacement(
        [&](FloatAttr attr) -> std::pair<Attribute, WalkResult> {
          return {FloatAttr::get(f64, widen(attr.getValue())),
                  WalkResult::skip()};
        });
    replacer.addReplacement(
        [&](DenseElementsAttr attr)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!isa<FloatType>(attr.getElementType()))
            return std::nullopt;
          SmallVector<APFloat> values;
          if (attr.isSplat())
            values.push_back(widen(attr.getSplatValue<APFloat>()));
          else
            for (APFloat value : attr.getValues<APFloat>())
              values.push_back(widen(value));
          return std::pair<Attribute, WalkResult>(
              DenseElementsAttr::get(attr.getType().clone(f64), values),
              WalkResult::skip());
        });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    getOperation().walk([&](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      ++numCasts;
    });
  }
};
} // namespace
