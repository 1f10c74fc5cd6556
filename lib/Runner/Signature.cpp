//===- Signature.cpp - what a function takes and gives ----------*- C++ -*-===//

#include "linattn/Runner/Signature.h"
#include "linattn/Dialect/LinAttn/IR/Precision.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::runner;

const Argument *Signature::find(StringRef name) const {
  for (const Argument &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

StringRef Signature::canonicalName(StringRef dimension) const {
  for (auto it = aliases.find(dimension); it != aliases.end();
       it = aliases.find(dimension))
    dimension = it->second;
  return dimension;
}

static std::optional<DType> dtypeOf(Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isSignlessInteger(32))
    return DType::I32;
  if (type.isSignlessInteger(64))
    return DType::I64;
  return std::nullopt;
}

static std::optional<SampleKind> parseSampleKind(StringRef name) {
  for (unsigned kind = 0; kind <= unsigned(SampleKind::Index); ++kind)
    if (nameOf(SampleKind(kind)) == name)
      return SampleKind(kind);
  return std::nullopt;
}

template <typename T> static std::string print(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Operations whose result has the operand's dimensions, in their places.
static bool keepsDimensions(Operation *op) {
  if (isa<tensor::CastOp>(op) || op->hasTrait<OpTrait::Elementwise>())
    return true;
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  return generic && generic.getNumLoops() == generic.getNumParallelLoops() &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

static int argumentIndex(Value value) {
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument.getArgNumber()
             : -1;
}

//===----------------------------------------------------------------------===//
// Dimensions of arguments
//===----------------------------------------------------------------------===//

namespace {
/// Finds what the dimensions of one argument count, by the operations that use
/// it.
class ArgumentUses {
public:
  ArgumentUses(Argument &argument, Signature &signature)
      : argument(argument), signature(signature) {}

  void infer(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (!visit(use) && keepsDimensions(user) && user->getNumResults() == 1 &&
          seen.insert(user).second)
        infer(user->getResult(0));
    }
  }

private:
  /// Whether the user is one of the dialect's operations.
  bool visit(OpOperand &use) {
    return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
        .Case([&](RecurrenceOp op) { return visitRecurrence(op, use), true; })
        .Case([&](ShortConvOp op) { return visitShortConv(op, use), true; })
        .Case<SoftmaxAttentionOp, DiffAttentionOp>(
            [&](auto op) { return visitAttention(op, use), true; })
        .Default([](Operation *) { return false; });
  }

  void visitRecurrence(RecurrenceOp op, OpOperand &use) {
    bool packed = op.isPacked();
    unsigned number = use.getOperandNumber();
    unsigned tokens = op.getTokens().size(), params = op.getParams().size();
    Sequences sequences = {argumentIndex(op.getSeqlens()),
                           argumentIndex(op.getSlots()), op.getPaddingSlot()};
    if (use.get() == op.getSeqlens())
      return nameSeqlens(op.getTokens().front());
    if (use.get() == op.getSlots()) {
      argument.sample = SampleKind::Slots;
      argument.padding = sequences.padding;
      argument.counted = argumentIndex(op.getStates().front());
      return name(0, packed ? "N" : "B");
    }
    if (number < tokens)
      return nameTokens(packed, "T", sequences);
    if (number < tokens + params)
      return;
    argument.inPlace |= bool(op.getSlots());
    nameStates(op.getSlots() ? Layout::Pool : Layout::States,
               op.getSlots() ? "P"
               : packed      ? "N"
                             : "B",
               sequences);
  }

  void visitShortConv(ShortConvOp op, OpOperand &use) {
    Sequences sequences = {argumentIndex(op.getSeqlens())};
    if (use.get() == op.getSeqlens())
      return nameSeqlens(op.getInput());
    if (use.get() == op.getInput())
      return nameTokens(op.isPacked(), "T", sequences);
    if (use.get() == op.getWindow())
      nameStates(Layout::States, op.isPacked() ? "N" : "B", sequences);
  }

  template <typename AttentionOp>
  void visitAttention(AttentionOp op, OpOperand &use) {
    Value kvSeqlens = op.getKvSeqlens() ? op.getKvSeqlens() : op.getSeqlens();
    if (use.get() == op.getSeqlens())
      return nameSeqlens(op.getQuery());
    if (use.get() == op.getKvSeqlens())
      return nameSeqlens(op.getKey());
    if (use.get() == op.getKey() || use.get() == op.getValue())
      return nameTokens(op.isPacked(), "S", {argumentIndex(kvSeqlens)});
    // lambda per token, unless it is one per head.
    if (use.get() == op.getQuery() || argument.dims.size() > 1)
      nameTokens(op.isPacked(), "T", {argumentIndex(op.getSeqlens())});
  }

  void nameSeqlens(Value tokens) {
    argument.sample = SampleKind::Seqlens;
    argument.counted = argumentIndex(tokens);
    name(0, "N", 1);
  }

  void nameStates(Layout layout, StringRef count, Sequences sequences) {
    argument.rows.layout = layout;
    argument.rows.sequences = sequences;
    name(0, count);
  }

  void nameTokens(bool packed, StringRef tokens, Sequences sequences) {
    argument.rows.layout = packed ? Layout::PackedTokens : Layout::Tokens;
    argument.rows.sequences = sequences;
    unsigned dim = 0;
    if (!packed)
      name(dim++, "B");
    name(dim, tokens);
  }

  void name(unsigned number, StringRef name, int64_t plus = 0) {
    if (number >= argument.dims.size())
      return;
    Dimension &dim = argument.dims[number];
    if (dim.name.empty()) {
      dim.name = name;
      dim.plus = plus;
      return;
    }
    if (dim.isStatic())
      return;
    // Used as queries and as keys, for example: both names are one size.
    StringRef first = signature.canonicalName(dim.name);
    StringRef second = signature.canonicalName(name);
    if (first != second && dim.plus == plus)
      signature.aliases[second] = first.str();
  }

  Argument &argument;
  Signature &signature;
  DenseSet<Operation *> seen;
};
} // namespace

/// "N+1" is the size N plus one.
static Dimension parseDimension(StringRef text) {
  Dimension dim;
  auto [name, plus] = text.split('+');
  if (!plus.empty() && !plus.trim().getAsInteger(10, dim.plus))
    text = name.trim();
  dim.name = text.str();
  return dim;
}

static void nameDimensions(func::FuncOp function, BlockArgument value,
                           Argument &argument, Signature &signature) {
  auto type = cast<RankedTensorType>(value.getType());
  auto names =
      function.getArgAttrOfType<ArrayAttr>(argument.index, kArgDimsAttr);
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    Dimension dim;
    if (names && ShapedType::isDynamic(size))
      dim = parseDimension(cast<StringAttr>(names[i]).getValue());
    dim.size = size;
    argument.dims.push_back(dim);
  }
  ArgumentUses(argument, signature).infer(value);
  for (auto [i, dim] : llvm::enumerate(argument.dims))
    if (!dim.isStatic() && dim.name.empty())
      dim.name = argument.name + "." + std::to_string(i);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static llvm::Error analyzeArgument(func::FuncOp function, BlockArgument value,
                                   Signature &signature) {
  Argument argument;
  argument.index = value.getArgNumber();
  auto name =
      function.getArgAttrOfType<StringAttr>(argument.index, kArgNameAttr);
  argument.name = name ? name.str() : std::to_string(argument.index);
  if (signature.find(argument.name))
    return usageError("two arguments of @" + signature.function +
                      " have the name '" + argument.name + "'");

  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<DType> dtype;
  if (type)
    dtype = dtypeOf(type.getElementType());
  if (!dtype)
    return usageError("argument '" + argument.name +
                      "' is a ranked tensor of f16, bf16, f32, f64, i32 or "
                      "i64, got " +
                      print(value.getType()));
  argument.type = *dtype;
  if (!isFloat(*dtype))
    argument.sample = SampleKind::Index; // unless a use says more
  nameDimensions(function, value, argument, signature);

  if (isFloat(*dtype)) {
    if (auto attr = function.getArgAttrOfType<StringAttr>(argument.index,
                                                          kArgSampleAttr))
      argument.sample = *parseSampleKind(attr); // the dialect verifies it
    else
      argument.sample = inferSampleKind(value);
  }
  signature.arguments.push_back(std::move(argument));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void describeRecurrenceResult(OpResult value, RecurrenceOp op,
                                     Result &result) {
  bool packed = op.isPacked();
  RowLayout &rows = result.rows;
  rows.sequences = {argumentIndex(op.getSeqlens()),
                    argumentIndex(op.getSlots()), op.getPaddingSlot()};
  unsigned number = value.getResultNumber();
  unsigned outputs = op.getNumOutputs(), states = op.getNumStates();
  if (number < outputs) {
    rows.layout = packed ? Layout::PackedTokens : Layout::Tokens;
    result.headDim = op.getHeadDim();
  } else if (number < outputs + states) {
    rows.layout = op.getSlots() ? Layout::Pool : Layout::States;
    result.headDim = 1;
    if (op.getSlots())
      result.pool = argumentIndex(op.getStates()[number - outputs]);
  } else {
    rows.every = op.getSnapshots().value_or(1);
    rows.layout = !packed           ? Layout::Tokens
                  : rows.every == 1 ? Layout::PackedTokens
                                    : Layout::PackedSnapshots;
    result.headDim = op.getHeadDim();
  }
}

template <typename AttentionOp>
static void describeAttentionResult(AttentionOp op, Result &result) {
  result.rows.sequences.seqlens = argumentIndex(op.getSeqlens());
  result.rows.layout = op.isPacked() ? Layout::PackedTokens : Layout::Tokens;
  result.headDim = op.getHeadDim();
}

/// Finds the operation that gave a result its rows.
static void describeResult(Value value, Result &result) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  auto number = cast<OpResult>(value);
  if (auto recurrence = dyn_cast<RecurrenceOp>(op)) {
    describeRecurrenceResult(number, recurrence, result);
  } else if (auto conv = dyn_cast<ShortConvOp>(op)) {
    result.rows.sequences.seqlens = argumentIndex(conv.getSeqlens());
    result.rows.layout = number.getResultNumber() == 1 ? Layout::States
                         : conv.isPacked()             ? Layout::PackedTokens
                                                       : Layout::Tokens;
  } else if (auto attention = dyn_cast<SoftmaxAttentionOp>(op)) {
    describeAttentionResult(attention, result);
  } else if (auto attention = dyn_cast<DiffAttentionOp>(op)) {
    describeAttentionResult(attention, result);
  } else if (keepsDimensions(op)) {
    result.direct = false;
    auto shape = cast<ShapedType>(value.getType()).getShape();
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (type && type.getShape().size() == shape.size() &&
          result.rows.layout == Layout::Other)
        describeResult(operand, result);
    }
  }
}

static llvm::Error analyzeResults(func::FuncOp function, Signature &signature) {
  auto returnOp =
      cast<func::ReturnOp>(function.getBody().back().getTerminator());
  for (auto [i, value] : llvm::enumerate(returnOp.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<DType> dtype;
    if (type)
      dtype = dtypeOf(type.getElementType());
    if (!dtype)
      return usageError("result " + Twine(i) + " of @" + signature.function +
                        " is a ranked tensor of f16, bf16, f32, f64, i32 or "
                        "i64, got " +
                        print(value.getType()));
    Result result;
    result.type = *dtype;
    result.rank = type.getRank();
    result.direct = true;
    describeResult(value, result);
    result.inPlace = result.pool >= 0 && result.direct;
    signature.results.push_back(result);
  }
  return llvm::Error::success();
}

/// Whether some 16-bit value is computed and goes on into a computation, so
/// that a run in the function's own types rounds on the way.
static bool computesIn16Bit(func::FuncOp function) {
  auto isNarrow = [](Type type) {
    if (auto state = dyn_cast<StateType>(type))
      type = state.getElementType();
    Type element = getElementTypeOrSelf(type);
    return element.isBF16() || element.isF16();
  };
  auto rounds = [&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() ||
        isa<tensor::TensorDialect, vector::VectorDialect>(op->getDialect()))
      return false;
    return llvm::any_of(op->getResults(), [&](Value value) {
      return isNarrow(value.getType()) &&
             llvm::any_of(value.getUsers(), [&](Operation *user) {
               return !isa<YieldOp, func::ReturnOp>(user) ||
                      isa<StateType>(value.getType());
             });
    });
  };
  return function
      .walk([&](Operation *op) {
        return rounds(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

llvm::Expected<Signature> runner::analyzeSignature(func::FuncOp function) {
  Signature signature;
  signature.function = function.getName().str();
  for (BlockArgument argument : function.getArguments())
    if (llvm::Error error = analyzeArgument(function, argument, signature))
      return error;
  if (llvm::Error error = analyzeResults(function, signature))
    return error;
  signature.computesIn16Bit = computesIn16Bit(function);
  function.walk([&](Operation *op) {
    std::optional<MmaPrecision> mma = getMmaPrecision(op);
    signature.productsRound |=
        mma == MmaPrecision::BF16 || mma == MmaPrecision::F16;
  });
  return signature;
}

llvm::Expected<func::FuncOp> runner::selectFunction(ModuleOp module,
                                                    StringRef name) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() &&
        (name.empty() ? function.isPublic() : function.getName() == name))
      candidates.push_back(function);
  if (candidates.size() == 1)
    return candidates.front();

  SmallVector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      names.push_back("@" + function.getName().str());
  std::string list = names.empty() ? "none" : llvm::join(names, ", ");
  if (!name.empty())
    return usageError("--function=" + name +
                      ": no such function with a body; there are: " + list);
  if (candidates.empty())
    return usageError("the module has no public function with a body");
  return usageError("the module has several public functions, name one with "
                    "--function=NAME: " +
                    list);
}
