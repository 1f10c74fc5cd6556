//===- StepOps.cpp - decay, read, write -----------------------------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace linattn;

/// Emits `op (label): <what> has <want> elements, one per <unit>, got ..` when
/// the vector `type` has another size.
static LogicalResult verifySize(Operation *op, StringRef label, StringRef what,
                                Type type, int64_t want, StringRef dim) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getNumElements() == want)
    return success();
  return op->emitOpError() << "(" << label << ") the " << what << " has " << dim
                           << " = " << want << " elements, got "
                           << vector.getNumElements();
}

//===----------------------------------------------------------------------===//
// DecayOp
//===----------------------------------------------------------------------===//

LogicalResult DecayOp::verify() {
  return verifySize(*this, "decay_c1", "gate", getGate().getType(),
                    getState().getType().getKeys(), "K");
}

OpFoldResult DecayOp::fold(FoldAdaptor adaptor) {
  // A log decay of 0 and a linear factor of 1 leave the state as it is.
  Attribute gate = adaptor.getGate();
  if (getLinear() ? matchPattern(gate, m_OneFloat())
                  : matchPattern(gate, m_AnyZeroFloat()))
    return getState();
  return {};
}

namespace {
/// decay(decay(S, g), h) = decay(S, g + h) for log decays, g h for linear ones.
/// Only where the state between is used once, so that no decay is added.
struct CombineDecays : OpRewritePattern<DecayOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecayOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getState().getDefiningOp<DecayOp>();
    if (!inner || !inner.getResult().hasOneUse() ||
        inner.getLinear() != op.getLinear() ||
        inner.getGate().getType() != op.getGate().getType())
      return failure();
    // The sum is rounded to the gate's type: in 16 bits it would not be the
    // product of the two factors any more.
    Type element = getElementTypeOrSelf(op.getGate().getType());
    if (element.getIntOrFloatBitWidth() < 32)
      return failure();
    Value gate;
    if (op.getLinear())
      gate = arith::MulFOp::create(rewriter, op.getLoc(), inner.getGate(),
                                   op.getGate());
    else
      gate = arith::AddFOp::create(rewriter, op.getLoc(), inner.getGate(),
                                   op.getGate());
    rewriter.replaceOpWithNewOp<DecayOp>(op, op.getType(), inner.getState(),
                                         gate, op.getLinearAttr());
    return success();
  }
};
} // namespace

void DecayOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<CombineDecays>(context);
}

//===----------------------------------------------------------------------===//
// ReadOp
//===----------------------------------------------------------------------===//

LogicalResult ReadOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       ReadOp::Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  auto state = dyn_cast<StateType>(adaptor.getState().getType());
  if (!state)
    return failure();
  inferred.push_back(state.getReadType());
  return success();
}

LogicalResult ReadOp::verify() {
  Type element = getState().getType().getElementType();
  if (getScale() && !isFiniteIn(*getScale(), element))
    return emitOpError() << "(read_c2) the scale is finite in "
                         << (element.isF64() ? "f64" : "f32") << ", got "
                         << getScaleAttr();
  return verifySize(*this, "read_c1", "key", getKey().getType(),
                    getState().getType().getKeys(), "K");
}

//===----------------------------------------------------------------------===//
// WriteOp
//===----------------------------------------------------------------------===//

LogicalResult WriteOp::verify() {
  StateType state = getState().getType();
  if (failed(verifySize(*this, "write_c1", "key", getKey().getType(),
                        state.getKeys(), "K")))
    return failure();
  return verifySize(*this, "write_c2", "value", getValue().getType(),
                    state.getValues(), "V");
}
