//===- Elementwise.cpp - arith and math on fragments ----------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

/// e^x, 2^x or a quotient in f32 for which an approximation is good enough: one
/// instruction.
static Value approximate(Emitter &e, Operation *op, ValueRange operands) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  Value x = operands.front();
  if (!isa<math::ExpOp, math::Exp2Op, arith::DivFOp>(op) ||
      !x.getType().isF32() ||
      !bitEnumContainsAny(fast.getFastMathFlagsAttr().getValue(),
                          arith::FastMathFlags::afn))
    return {};
  if (isa<arith::DivFOp>(op))
    return e.mulF(x, emitReciprocalApprox(e.builder, e.loc, operands[1]));
  if (isa<math::ExpOp>(op))
    x = e.mulF(x, e.f32(1.4426950408889634));
  return emitExp2Approx(e.builder, e.loc, x);
}

/// The operation on scalars or on vectors of two.
static Value apply(Emitter &e, Operation *op, ValueRange operands, Type type) {
  if (Value result = approximate(e, op, operands))
    return result;
  OperationState state(op->getLoc(), op->getName(), operands, {type},
                       op->getAttrs());
  return e.builder.create(state)->getResult(0);
}

static LogicalResult emitConstant(Emitter &e, arith::ConstantOp op,
                                  RankedTensorType type) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || !elements.isSplat())
    return op.emitOpError("constants in registers have one value, got ")
           << op.getValue();
  TypedAttr value = elements.getSplatValue<TypedAttr>();
  if (isPacked(type))
    value = DenseElementsAttr::get(cast<VectorType>(getRegisterType(type)),
                                   Attribute(value));
  e.fragments[op.getResult()] =
      Registers(getNumRegisters(type), e.constant(value));
  return success();
}

/// Two f32 to a register of two 16-bit floats.
static Registers roundPairs(Emitter &e, RankedTensorType type,
                            ValueRange source) {
  Registers result;
  for (size_t i = 0; i < source.size(); i += 2)
    result.push_back(
        e.roundPair(source[i], source[i + 1], type.getElementType()));
  return result;
}

/// The other way round.
static Registers widenPairs(Emitter &e, ValueRange source) {
  Registers result;
  for (Value pair : source) {
    auto [first, second] = e.widenPair(pair);
    result.push_back(first);
    result.push_back(second);
  }
  return result;
}

static Registers emitOnRegisters(Emitter &e, Operation *op,
                                 RankedTensorType type) {
  auto fragmentType = [](Value value) {
    return dyn_cast<RankedTensorType>(value.getType());
  };
  if (isa<arith::TruncFOp>(op) && isPacked(type) &&
      fragmentType(op->getOperand(0)).getElementType().isF32())
    return roundPairs(e, type, e.fragments.lookup(op->getOperand(0)));
  if (isa<arith::ExtFOp>(op) && type.getElementType().isF32() &&
      isPacked(fragmentType(op->getOperand(0))))
    return widenPairs(e, e.fragments.lookup(op->getOperand(0)));
  // Two elements at a time where all are pairs, else one.
  bool inPairs =
      isPacked(type) && llvm::all_of(op->getOperands(), [&](Value operand) {
        return fragmentType(operand) && isPacked(fragmentType(operand));
      });
  SmallVector<Registers> operands;
  for (Value operand : op->getOperands()) {
    Registers registers;
    if (fragmentType(operand))
      registers = e.fragments.lookup(operand);
    else
      registers.assign(getElementsPerLane(type), e.scalars.lookup(operand));
    operands.push_back(inPairs ? registers : e.unpack(registers));
  }
  Registers result;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    SmallVector<Value> values;
    for (const Registers &registers : operands)
      values.push_back(registers[i]);
    result.push_back(
        apply(e, op, values,
              inPairs ? getRegisterType(type) : type.getElementType()));
  }
  return inPairs ? result : e.packAs(type, result);
}

/// Columns of a matrix: some of the registers that a lane has.
static LogicalResult emitColumns(Emitter &e, tensor::ExtractSliceOp op) {
  RankedTensorType from = op.getSourceType(), to = op.getType();
  ArrayRef<int64_t> offsets = op.getStaticOffsets();
  if (!isa<AccAttr>(from.getEncoding()) ||
      from.getEncoding() != to.getEncoding() || !op.hasUnitStride() ||
      to.getDimSize(0) != from.getDimSize(0) || offsets[0] != 0 ||
      ShapedType::isDynamic(offsets[1]) || offsets[1] % 8 != 0)
    return op.emitOpError("is no slice of registers: it has all rows of a "
                          "matrix in 'acc', and columns from a multiple of 8 "
                          "on, got ")
           << from << " to " << to;
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
  for (int64_t i : llvm::seq(getElementsPerLane(from))) {
    LaneElement at = getLaneElement(from, i);
    numbers[{at.row, at.column}] = i;
  }
  // Neighbours stay neighbours, so registers of two are as good.
  int64_t perRegister = isPacked(from) ? 2 : 1;
  const Registers &source = e.fragments[op.getSource()];
  Registers result;
  for (int64_t i = 0; i < getElementsPerLane(to); i += perRegister) {
    LaneElement at = getLaneElement(to, i);
    result.push_back(
        source[numbers.at({at.row, at.column + offsets[1]}) / perRegister]);
  }
  e.fragments[op.getResult()] = result;
  return success();
}

static LogicalResult emitScalar(Emitter &e, Operation *op) {
  if (op->getNumResults() == 1 && op->getNumOperands() != 0) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(e.scalars.lookupOrNull(operand));
    if (Value result = approximate(e, op, operands)) {
      e.scalars.map(op->getResult(0), result);
      return success();
    }
  }
  e.builder.clone(*op, e.scalars);
  return success();
}

LogicalResult linattn::tilenvvm::emitElementwise(Emitter &e, Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::none_of(op->getOperandTypes(), isTensor) &&
      llvm::none_of(op->getResultTypes(), isTensor))
    return emitScalar(e, op);
  if (op->getNumResults() != 1 || !isFragment(op->getResult(0).getType()))
    return op->emitOpError("works on tensors in registers, got ")
           << op->getResultTypes();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return emitConstant(e, constant, type);
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    Value value = e.scalars.lookup(splat.getInput());
    if (isPacked(type))
      value = e.pack(value, value);
    e.fragments[splat.getResult()] = Registers(getNumRegisters(type), value);
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return emitColumns(e, slice);
  if (!op->hasTrait<OpTrait::Elementwise>())
    return op->emitOpError("has no translation on tensors in registers");
  e.fragments[op->getResult(0)] = emitOnRegisters(e, op, type);
  return success();
}
