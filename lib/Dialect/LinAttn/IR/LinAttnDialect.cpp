//===- LinAttnDialect.cpp - dialect, types, attributes --------------------===//

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;

#include "linattn/Dialect/LinAttn/IR/LinAttnDialect.cpp.inc"
#include "linattn/Dialect/LinAttn/IR/LinAttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnTypes.cpp.inc"

void LinAttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "linattn/Dialect/LinAttn/IR/LinAttnAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "linattn/Dialect/LinAttn/IR/LinAttnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "linattn/Dialect/LinAttn/IR/LinAttnOps.cpp.inc"
      >();
}

Operation *LinAttnDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// The kinds of sample data that linattn-run can draw.
static bool isSampleKind(StringRef kind) {
  return llvm::StringSwitch<bool>(kind)
      .Cases({"log_gate", "linear_gate", "rate", "rate2", "unit_key", "value"},
             true)
      .Cases({"weight", "a_log", "raw", "raw_gate", "state"}, true)
      .Default(false);
}

LogicalResult
LinAttnDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                         unsigned argIndex,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  if (name == kArgNameAttr) {
    auto value = dyn_cast<StringAttr>(attribute.getValue());
    if (!value || value.empty())
      return op->emitOpError()
             << "argument " << argIndex << ": '" << name
             << "' is a non-empty string, got " << attribute.getValue();
    return success();
  }
  if (name == kArgSampleAttr) {
    auto value = dyn_cast<StringAttr>(attribute.getValue());
    if (!value || !isSampleKind(value))
      return op->emitOpError()
             << "argument " << argIndex << ": '" << name
             << "' is one of log_gate, linear_gate, rate, rate2, unit_key, "
                "value, weight, a_log, raw, raw_gate, state, got "
             << attribute.getValue();
    return success();
  }
  if (name == kArgDimsAttr) {
    auto value = dyn_cast<ArrayAttr>(attribute.getValue());
    bool strings = value && llvm::all_of(value, llvm::IsaPred<StringAttr>);
    auto func = dyn_cast<FunctionOpInterface>(op);
    ShapedType type;
    if (func && argIndex < func.getNumArguments()) {
      Type argType = func.getArgumentTypes()[argIndex];
      // A lowered function keeps the names on its pointers.
      if (!isa<BuiltinDialect>(argType.getDialect()))
        return success();
      type = dyn_cast<ShapedType>(argType);
    }
    if (!strings || !type || !type.hasRank() ||
        (int64_t)value.size() != type.getRank())
      return op->emitOpError()
             << "argument " << argIndex << ": '" << name
             << "' names each dimension of a ranked operand, got "
             << attribute.getValue();
    return success();
  }
  return op->emitOpError() << "argument " << argIndex << ": unknown attribute '"
                           << name << "'";
}

//===----------------------------------------------------------------------===//
// StateType
//===----------------------------------------------------------------------===//

FloatType StateType::getComputeType() const {
  return getElementType().isF64() ? getElementType()
                                  : FloatType(Float32Type::get(getContext()));
}

VectorType StateType::getReadType() const {
  return VectorType::get({getValues()}, getComputeType());
}

LogicalResult StateType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t keys, int64_t values,
                                FloatType elementType) {
  if (keys < 1 || keys > kMaxStateDim || values < 1 || values > kMaxStateDim)
    return emitError() << "a state is KxV with K and V from 1 to "
                       << kMaxStateDim << ", got " << keys << "x" << values;
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() &&
      !elementType.isF64())
    return emitError()
           << "the element type of a state is f16, bf16, f32 or f64, got "
           << elementType;
  return success();
}

Type StateType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc) << "a state is KxV, got " << shape.size()
                          << " dimension(s)";
    return {};
  }
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType) {
    parser.emitError(loc)
        << "the element type of a state is f16, bf16, f32 or f64, got "
        << element;
    return {};
  }
  return parser.getChecked<StateType>(loc, parser.getContext(), shape[0],
                                      shape[1], floatType);
}

void StateType::print(AsmPrinter &printer) const {
  printer << "<" << getKeys() << "x" << getValues() << "x" << getElementType()
          << ">";
}
