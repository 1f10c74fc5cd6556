//===- KernelSignature.cpp - parameters of a kernel -----------------------===//

#include "KernelSignature.h"

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Fronts.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn;

MemRefType TensorParameter::getMemRefType() const {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (contiguousInner)
    strides.back() = 1;
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), 0, strides));
}

DictionaryAttr linattn::readOnlyAttrs(Builder &builder) {
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(),
                            builder.getUnitAttr()),
       builder.getNamedAttr(LLVM::LLVMDialect::getReadonlyAttrName(),
                            builder.getUnitAttr())});
}

SmallVector<Value> SequenceOp::getParams() const {
  if (auto conv = convolution())
    return present({conv.getWeight(), conv.getBias()});
  if (!attention())
    return ofRecurrence([](auto o) { return Values(o.getParams()); });
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::to_vector(llvm::make_filter_range(captured, [](Value value) {
    return isa<BlockArgument>(value) && isa<RankedTensorType>(value.getType());
  }));
}

bool SequenceOp::isInnerContiguous(Value operand) const {
  bool isState = llvm::is_contained(getStates(), operand);
  bool isParam = llvm::is_contained(getParams(), operand);
  bool isToken = llvm::is_contained(getTokens(), operand) ||
                 llvm::is_contained(getKeys(), operand);
  // Channels are contiguous; the small operands of a convolution lie as their
  // owner has them, as [N, C, W - 1] or with the channels inside.
  if (convolution())
    return isToken;
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  if (isState)
    return true;
  if (isToken)
    return rank > getHeadDim() + 1;
  return isParam && rank > 1;
}

bool SequenceOp::isResultInnerContiguous(unsigned number) const {
  bool isOutput = number < getNumOutputs();
  if (convolution())
    return isOutput;
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  return !isOutput || type.getRank() > getHeadDim() + 1;
}

//===----------------------------------------------------------------------===//
// The form of the function
//===----------------------------------------------------------------------===//

/// The number that fills a tensor: of a splat constant, tensor.splat or
/// linalg.fill; null if the value is something else.
static FloatAttr getSplat(Value tensor) {
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>());
  Value filler;
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    filler = splat.getInput();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    filler = fill.getInputs()[0];
  FloatAttr number;
  if (filler && matchPattern(filler, m_Constant(&number)))
    return number;
  return {};
}

/// What may stand beside the recurrence: it makes constant initial states.
static bool makesConstantState(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() ||
         isa<tensor::DimOp, tensor::EmptyOp, tensor::GenerateOp,
             tensor::SplatOp, linalg::FillOp>(op) ||
         isa<IndexType>(op.getNumResults() == 1
                            ? op.getResult(0).getType()
                            : Type(NoneType::get(op.getContext())));
}

FailureOr<KernelSignature> KernelSignature::get(func::FuncOp func) {
  KernelSignature signature;
  signature.func = func;
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has one block to become a kernel, got ")
           << func.getBody().getBlocks().size();
  if (failed(signature.findOperations()) || failed(signature.addOperands()) ||
      failed(signature.addResults()))
    return failure();
  return signature;
}

LogicalResult KernelSignature::findOperations() {
  for (Operation &inner : func.getBody().front().without_terminator()) {
    if (isPartOfFront(&inner)) {
      if (auto conv = dyn_cast<ShortConvOp>(inner)) {
        if (std::string reason = whyNoFront(conv); !reason.empty())
          return conv.emitOpError("is not computed in front of a kernel: ")
                 << reason;
        fronts.push_back(conv);
      }
    } else if (SequenceOp recurrence = SequenceOp::dynCast(&inner)) {
      if (op)
        return inner.emitOpError(
            "is the second of its function: a kernel is one recurrence "
            "between arguments and results");
      op = recurrence;
    } else if (!makesConstantState(inner)) {
      if (!func.getOps<AttentionTilesOp>().empty())
        return inner.emitOpError(
            "is no part of a kernel, which is one attention between arguments "
            "and results, after what makes a number per head of arguments "
            "(projections are kernels of their own, or compile for the CPU)");
      return inner.emitOpError(
          "is no part of a kernel, which is one recurrence between "
          "arguments and results (move it into the step, or compile for the "
          "CPU)");
    }
  }
  if (!op)
    return func.emitOpError("has no linattn.recurrence to become a kernel");
  return success();
}

SmallVector<Value> KernelSignature::getInputs() const {
  SmallVector<Value> inputs;
  for (Value operand : op.getInputs())
    if (!getFront(operand))
      inputs.push_back(operand);
  for (ShortConvOp front : fronts)
    llvm::append_range(inputs, front->getOperands());
  return inputs;
}

bool KernelSignature::isToken(Value argument) const {
  return llvm::is_contained(op.getTokens(), argument) ||
         llvm::any_of(fronts, [&](ShortConvOp front) {
           return front.getInput() == argument;
         });
}

bool KernelSignature::isWindow(Value argument) const {
  return argument && llvm::any_of(fronts, [&](ShortConvOp front) {
           return front.getWindow() == argument;
         });
}

/// What lies beside each other for one of those that read an argument does for
/// all of them.
bool KernelSignature::isInnerContiguous(Value argument) const {
  return llvm::any_of(
             fronts,
             [&](ShortConvOp front) { return front.getInput() == argument; }) ||
         (llvm::is_contained(op.getInputs(), argument) &&
          op.isInnerContiguous(argument));
}

Value KernelSignature::getLeadingToken() const {
  Value token = op.getTokens()[0];
  ShortConvOp front = getFront(token);
  return front ? front.getInput() : token;
}

ArrayRef<unsigned> KernelSignature::getFinalWindow(ShortConvOp front) const {
  auto it = windows.find(front);
  return it == windows.end() ? ArrayRef<unsigned>() : it->second;
}

LogicalResult KernelSignature::addOperands() {
  // Arguments in the order of the function, so that the parameters follow it.
  SmallVector<Value> inputs = getInputs();
  for (BlockArgument argument : func.getArguments()) {
    if (!llvm::is_contained(inputs, argument))
      continue;
    operands[argument] = tensors.size();
    bool inPlace =
        op.getSlots() && llvm::is_contained(op.getStates(), argument);
    tensors.push_back({nameOf(argument),
                       cast<RankedTensorType>(argument.getType()),
                       isInnerContiguous(argument), inPlace});
  }
  // What a transition begins with is no parameter: kernels make it.
  llvm::SmallPtrSet<Value, 4> given;
  for (auto [i, state] : llvm::enumerate(op.getStates()))
    if (!isTransition(op.getOperation(), i))
      given.insert(state);
  for (ShortConvOp front : fronts)
    for (auto [i, operand] : llvm::enumerate(front->getOperands())) {
      if (operands.contains(operand))
        continue;
      FloatAttr splat = isWindow(operand) ? getSplat(operand) : FloatAttr();
      if (!splat)
        return front->emitOpError()
               << "operand " << i << " is an argument of the function"
               << (isWindow(operand) ? " or filled with one number" : "")
               << " to become a parameter of a kernel";
      constants[operand] = splat;
    }
  for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
    if (operands.contains(operand) || getFront(operand))
      continue;
    bool isState = llvm::is_contained(op.getStates(), operand);
    if (isState && !given.contains(operand))
      continue;
    FloatAttr splat = isState ? getSplat(operand) : FloatAttr();
    if (!splat)
      return op->emitOpError()
             << "operand " << i << " is an argument of the function"
             << (isState ? " or filled with one number" : "")
             << " to become a parameter of a kernel";
    if (op.getSlots())
      return op->emitOpError()
             << "operand " << i
             << " is an argument of the function: slots update it in place";
    constants[operand] = splat;
  }
  if (op.getSlots())
    for (auto [i, state] : llvm::enumerate(op.getStates()))
      if (given.contains(state) &&
          llvm::is_contained(ArrayRef(op.getStates()).take_front(i), state))
        return op->emitOpError()
               << "state operand " << i
               << " is a pool of its own: slots update it in place";
  return success();
}

LogicalResult KernelSignature::addResults() {
  results.resize(op->getNumResults());
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    auto front = value.getDefiningOp<ShortConvOp>();
    if (front && front.getFinalWindow() == value &&
        llvm::is_contained(fronts, front)) {
      windows[front].push_back(tensors.size());
      tensors.push_back({"out_" + std::to_string(i),
                         cast<RankedTensorType>(value.getType()),
                         /*contiguousInner=*/false, /*written=*/true});
      continue;
    }
    if (!result || result.getOwner() != op.getOperation())
      return ret.emitOpError()
             << "operand " << i
             << " is a result of the recurrence to become a result of a "
                "kernel";
    if (getInPlaceArgument(result))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    bool inner = op.isResultInnerContiguous(result.getResultNumber());
    results[result.getResultNumber()].push_back(tensors.size());
    tensors.push_back(
        {"out_" + std::to_string(i), type, inner, /*written=*/true});
  }
  return success();
}

std::string KernelSignature::nameOf(BlockArgument argument) const {
  auto name =
      func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kArgNameAttr);
  return name ? name.str() : std::to_string(argument.getArgNumber());
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

namespace {
/// Builds attributes that read as JSON.
struct Describe {
  Builder builder;

  Attribute text(const Twine &value) { return builder.getStringAttr(value); }
  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }
  NamedAttribute field(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  DictionaryAttr object(ArrayRef<NamedAttribute> fields) {
    return builder.getDictionaryAttr(fields);
  }
};
} // namespace

StringRef KernelSignature::roleOf(Value argument) const {
  if (isToken(argument) || llvm::is_contained(op.getKeys(), argument))
    return "token";
  if (llvm::is_contained(op.getParams(), argument) ||
      llvm::any_of(fronts, [&](ShortConvOp front) {
        return front.getWeight() == argument || front.getBias() == argument;
      }))
    return "parameter";
  if (isWindow(argument))
    return "state";
  if (llvm::is_contained(op.getStates(), argument))
    return op.getSlots() ? "state pool" : "state";
  if (argument == op.getSeqlens() || argument == op.getKvSeqlens())
    return "seqlens";
  return argument == op.getSlots() ? "slots" : "unused";
}

Attribute KernelSignature::describeDim(Value argument, int64_t dim) const {
  Describe d{Builder(func.getContext())};
  auto type = cast<RankedTensorType>(argument.getType());
  if (!type.isDynamicDim(dim))
    return d.number(type.getDimSize(dim));
  // Tokens share their sequences and their time, whatever each calls them; keys
  // have a time of their own.
  bool isKey = !isToken(argument) && llvm::is_contained(op.getKeys(), argument);
  int64_t time = op.getHeadDim() - 1;
  if (isKey && dim == time)
    argument = op.getKeys()[0];
  else if ((isKey || isToken(argument)) && dim <= time)
    argument = getLeadingToken();
  bool perSequence =
      isWindow(argument) || (llvm::is_contained(op.getStates(), argument)
                                 ? !op.getSlots()
                                 : argument == op.getSlots());
  if (perSequence && dim == 0 && !op.isPacked())
    argument = getLeadingToken();
  auto names = func.getArgAttrOfType<ArrayAttr>(
      cast<BlockArgument>(argument).getArgNumber(), kArgDimsAttr);
  if (names && dim < (int64_t)names.size())
    if (auto name = dyn_cast<StringAttr>(names[dim]);
        name && !name.getValue().empty())
      return name;
  StringRef sequences = op.isPacked() ? "N" : "B";
  StringRef role = roleOf(argument);
  if (role == "token")
    return d.text(dim != time ? sequences : StringRef(isKey ? "S" : "T"));
  if (role == "state pool")
    return d.text("P");
  if (role == "seqlens")
    return d.object({d.field("of", d.text("N")), d.field("plus", d.number(1))});
  if (role == "unused" || (role == "parameter" && !op.getKeys().empty()))
    return d.text(nameOf(cast<BlockArgument>(argument)) + "." + Twine(dim));
  return d.text(sequences);
}

ArrayAttr KernelSignature::describeShape(Value argument) const {
  SmallVector<Attribute> dims;
  for (int64_t dim :
       llvm::seq(cast<RankedTensorType>(argument.getType()).getRank()))
    dims.push_back(describeDim(argument, dim));
  return ArrayAttr::get(func.getContext(), dims);
}

ArrayAttr KernelSignature::describeResultShape(unsigned number) const {
  Describe d{Builder(func.getContext())};
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  unsigned outputs = op.getNumOutputs(), states = op.getNumStates();
  Value token = getLeadingToken();
  unsigned time = op.getHeadDim() - 1;
  SmallVector<Attribute> dims;
  if (number < outputs || number >= outputs + states) {
    for (unsigned dim = 0; dim <= time; ++dim)
      dims.push_back(describeDim(token, dim));
    if (number >= outputs && *op.getSnapshots() != 1) {
      NamedAttribute of = d.field("of", dims.back());
      NamedAttribute by = d.field("divide", d.number(*op.getSnapshots()));
      if (op.isPacked())
        dims.back() = d.object({of, by, d.field("round", d.text("down")),
                                d.field("plus", d.text("N"))});
      else
        dims.back() = d.object({of, by, d.field("round", d.text("up"))});
    }
  } else {
    Value state = op.getStates()[number - outputs];
    if (isa<BlockArgument>(state))
      return describeShape(state);
    dims.push_back(op.isPacked() ? d.text("N") : describeDim(token, 0));
  }
  for (unsigned dim = dims.size(); dim < type.getRank(); ++dim)
    dims.push_back(d.number(type.getDimSize(dim)));
  return ArrayAttr::get(func.getContext(), dims);
}

ArrayAttr KernelSignature::describeWindowShape(ShortConvOp front) const {
  Value window = front.getWindow();
  if (isa<BlockArgument>(window))
    return describeShape(window);
  Describe d{Builder(func.getContext())};
  SmallVector<Attribute> dims = {
      op.isPacked() ? d.text("N") : describeDim(getLeadingToken(), 0)};
  for (int64_t size :
       cast<RankedTensorType>(window.getType()).getShape().drop_front())
    dims.push_back(d.number(size));
  return ArrayAttr::get(func.getContext(), dims);
}

ArrayAttr KernelSignature::describeStrides(RankedTensorType type,
                                           bool contiguousInner) const {
  Describe d{Builder(func.getContext())};
  SmallVector<Attribute> strides(type.getRank(), d.text("free"));
  if (contiguousInner)
    strides.back() = d.number(1);
  return ArrayAttr::get(func.getContext(), strides);
}

/// f32, bf16, i32, ..
static std::string dtypeOf(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type.getElementType();
  return text;
}

DictionaryAttr
KernelSignature::describe(const KernelDescription &description) const {
  MLIRContext *context = func.getContext();
  Describe d{Builder(context)};
  SmallVector<Attribute> arguments, outputs, parameters;
  auto addAlignment = [&](SmallVector<NamedAttribute> &fields,
                          std::optional<unsigned> tensor) {
    if (int64_t bytes = tensor ? description.alignments.lookup(*tensor) : 0)
      fields.push_back(d.field("alignment", d.number(bytes)));
  };

  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) // Not used by the recurrence, which takes tensors only.
      continue;
    SmallVector<NamedAttribute> fields = {
        d.field("name", d.text(nameOf(argument))),
        d.field("dtype", d.text(dtypeOf(type))),
        d.field("shape", describeShape(argument)),
        d.field("strides", describeStrides(type, isInnerContiguous(argument))),
        d.field("role", d.text(roleOf(argument)))};
    addAlignment(fields, getOperand(argument));
    if (argument == op.getSlots())
      fields.push_back(d.field("padding", d.number(op.getPaddingSlot())));
    arguments.push_back(d.object(fields));
  }

  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    if (auto front = value.getDefiningOp<ShortConvOp>();
        front && front != op.getOperation()) {
      auto type = cast<RankedTensorType>(value.getType());
      outputs.push_back(d.object(
          {d.field("name", d.text("out_" + Twine(i))),
           d.field("dtype", d.text(dtypeOf(type))),
           d.field("shape", describeWindowShape(front)),
           d.field("strides", describeStrides(type, /*contiguousInner=*/false)),
           d.field("role", d.text("final state"))}));
      continue;
    }
    unsigned number = cast<OpResult>(value).getResultNumber();
    unsigned numOutputs = op.getNumOutputs(), states = op.getNumStates();
    auto type = cast<RankedTensorType>(value.getType());
    bool inner = op.isResultInnerContiguous(number);
    SmallVector<NamedAttribute> fields = {
        d.field("name", d.text("out_" + Twine(i))),
        d.field("dtype", d.text(dtypeOf(type))),
        d.field("shape", describeResultShape(number)),
        d.field("strides", describeStrides(type, inner)),
        d.field("role", d.text(number < numOutputs            ? "output"
                               : number < numOutputs + states ? "final state"
                                                              : "snapshots"))};
    ArrayRef<unsigned> targets = getResult(number);
    addAlignment(fields, targets.empty() ? std::nullopt
                                         : std::optional(targets.front()));
    if (BlockArgument pool = getInPlaceArgument(value))
      fields.push_back(d.field("in_place", d.text(nameOf(pool))));
    if (number >= numOutputs + states)
      fields.push_back(d.field("every", d.number(*op.getSnapshots())));
    outputs.push_back(d.object(fields));
  }

  for (const TensorParameter &tensor : tensors) {
    parameters.push_back(
        d.object({d.field("kind", d.text("pointer")),
                  d.field("tensor", d.text(tensor.name)),
                  d.field("access", d.text(tensor.written ? "write" : "read")),
                  d.field("type", d.text("u64"))}));
    for (unsigned dim : llvm::seq(tensor.numStrides()))
      parameters.push_back(d.object({d.field("kind", d.text("stride")),
                                     d.field("tensor", d.text(tensor.name)),
                                     d.field("dimension", d.number(dim)),
                                     d.field("type", d.text("s64"))}));
  }
  SmallVector<Attribute> buffers;
  for (const Workspace &buffer : description.workspace) {
    parameters.push_back(d.object({d.field("kind", d.text("pointer")),
                                   d.field("tensor", d.text(buffer.name)),
                                   d.field("access", d.text("write")),
                                   d.field("type", d.text("u64"))}));
    SmallVector<Attribute> shape = {buffer.rows};
    for (int64_t size : buffer.type.getShape().drop_front())
      shape.push_back(d.number(size));
    std::string dtype;
    llvm::raw_string_ostream(dtype) << buffer.type.getElementType();
    buffers.push_back(d.object(
        {d.field("name", d.text(buffer.name)), d.field("dtype", d.text(dtype)),
         d.field("shape", ArrayAttr::get(context, shape))}));
  }
  SmallVector<StringRef> sizeNames = {"T", "N"};
  if (!op.getKeys().empty())
    sizeNames.push_back("S");
  for (StringRef size : sizeNames)
    parameters.push_back(d.object({d.field("kind", d.text("size")),
                                   d.field("size", d.text(size)),
                                   d.field("type", d.text("s64"))}));

  std::string token = tensors[operands.lookup(getLeadingToken())].name;
  DictionaryAttr time =
      d.object({d.field("tensor", d.text(token)),
                d.field("dimension", d.number(op.getHeadDim() - 1))});
  DictionaryAttr sequences = d.object(
      {d.field("tensor", d.text(token)), d.field("dimension", d.number(0))});
  if (op.isPacked())
    sequences = d.object(
        {d.field("tensor",
                 d.text(tensors[operands.lookup(op.getSeqlens())].name)),
         d.field("dimension", d.number(0)), d.field("plus", d.number(-1))});

  SmallVector<NamedAttribute> sizes = {d.field("T", time),
                                       d.field("N", sequences)};
  if (!op.getKeys().empty())
    sizes.push_back(d.field(
        "S",
        d.object(
            {d.field("tensor",
                     d.text(tensors[operands.lookup(op.getKeys()[0])].name)),
             d.field("dimension", d.number(op.getHeadDim() - 1))})));

  SmallVector<Attribute> launches;
  for (const KernelLaunch &launch : description.launches)
    launches.push_back(d.object(
        {d.field("kernel", d.text(launch.kernel)),
         d.field("grid", ArrayAttr::get(context, {launch.grid})),
         d.field("block", ArrayAttr::get(context, {d.number(launch.threads)})),
         d.field("parameters", ArrayAttr::get(context, parameters))}));

  SmallVector<NamedAttribute> fields = {
      d.field("plan", description.plan),
      d.field("arguments", ArrayAttr::get(context, arguments)),
      d.field("results", ArrayAttr::get(context, outputs)),
      d.field("sizes", d.object(sizes)),
      d.field("launches", ArrayAttr::get(context, launches))};
  if (!buffers.empty())
    fields.push_back(d.field("workspace", ArrayAttr::get(context, buffers)));
  return d.object(fields);
}

LogicalResult
linattn::lowerToKernels(ModuleOp module,
                        llvm::function_ref<LogicalResult(func::FuncOp)> lower) {
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration())
      functions.push_back(func);
  for (func::FuncOp func : functions)
    if (failed(lower(func)))
      return failure();
  if (!functions.empty())
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(module.getContext()));
  return success();
}
