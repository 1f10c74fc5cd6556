//===- DescribeCPU.cpp - the description of an object file ----------------===//
//
// The same fields as in the description of a kernel for a GPU, as far as they
// apply: a caller checks its arrays by them.
//
//===----------------------------------------------------------------------===//

#include "linattn/Compile/Artifact.h"
#include "linattn/Conversion/Destinations.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace linattn;

static std::string nameOf(func::FuncOp func, unsigned argument) {
  auto name = func.getArgAttrOfType<StringAttr>(argument, kArgNameAttr);
  return name ? name.str() : std::to_string(argument);
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Sizes; null where one is only known at a call.
static llvm::json::Array describeShape(RankedTensorType type) {
  llvm::json::Array shape;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? llvm::json::Value(nullptr)
                                                : llvm::json::Value(size));
  return shape;
}

/// Vectors of a token are read as vectors: their elements must be contiguous.
/// That is so where a token has more than a number.
static bool isInnerContiguous(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  for (OpOperand &use : argument.getUses()) {
    auto recurrence = dyn_cast<RecurrenceOp>(use.getOwner());
    if (!recurrence)
      continue;
    unsigned number = use.getOperandNumber();
    unsigned tokens = recurrence.getTokens().size();
    unsigned params = recurrence.getParams().size();
    unsigned leading = number < tokens            ? recurrence.getHeadDim() + 1
                       : number < tokens + params ? 1
                                                  : 2;
    bool numbers = number < tokens + params + recurrence.getNumStates();
    if (numbers && type.getRank() > leading)
      return true;
  }
  return false;
}

static StringRef roleOf(BlockArgument argument) {
  for (OpOperand &use : argument.getUses()) {
    auto recurrence = dyn_cast<RecurrenceOp>(use.getOwner());
    if (!recurrence)
      continue;
    Value value = argument;
    if (value == recurrence.getSeqlens())
      return "seqlens";
    if (value == recurrence.getSlots())
      return "slots";
    if (llvm::is_contained(recurrence.getStates(), value))
      return recurrence.getSlots() ? "pool" : "initial state";
    if (llvm::is_contained(recurrence.getParams(), value))
      return "param";
    return "token";
  }
  return "input";
}

llvm::json::Object linattn::describeForCPU(func::FuncOp func) {
  llvm::json::Array arguments, results;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    llvm::json::Object fields{{"name", nameOf(func, argument.getArgNumber())},
                              {"role", roleOf(argument)}};
    if (type) {
      fields["dtype"] = print(type.getElementType());
      fields["shape"] = describeShape(type);
      fields["inner_contiguous"] = isInnerContiguous(argument);
    } else {
      fields["dtype"] = print(argument.getType());
    }
    arguments.push_back(std::move(fields));
  }
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    llvm::json::Object fields{{"name", "out_" + std::to_string(i)}};
    if (type) {
      fields["dtype"] = print(type.getElementType());
      fields["shape"] = describeShape(type);
    }
    if (BlockArgument pool = getInPlaceArgument(value))
      fields["in_place"] = nameOf(func, pool.getArgNumber());
    results.push_back(std::move(fields));
  }
  return llvm::json::Object{
      {"entry", ("_mlir_ciface_" + func.getName()).str()},
      {"sizes", ("_mlir_ciface_" + func.getName() + "_result_shapes").str()},
      {"arguments", std::move(arguments)},
      {"results", std::move(results)}};
}
