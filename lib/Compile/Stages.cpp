//===- Stages.cpp - a function of several kernels -------------------------===//

#include "Stages.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn;

static bool isKernel(Operation *op) {
  return isa<RecurrenceOp, ShortConvOp, SoftmaxAttentionOp, DiffAttentionOp>(
      op);
}

/// The tensor that a value is, but for its shape.
static Value withoutReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

namespace {

/// Makes the function of one stage. `fronts` are the convolutions that are no
/// stages of their own.
class StageBuilder {
public:
  StageBuilder(Stages &whole, const llvm::SetVector<Operation *> &fronts,
               Operation *op, Stage &stage)
      : whole(whole), fronts(fronts), op(op), stage(stage),
        builder(op->getContext()) {}

  void run();

private:
  void materialize(Value value);
  void addArgument(Value value, Value root);
  std::string nameOf(Value root);
  void addResults();

  Stages &whole;
  const llvm::SetVector<Operation *> &fronts;
  Operation *op;
  Stage &stage;
  OpBuilder builder;
  func::FuncOp func;
  IRMapping mapping;
};

} // namespace

std::string StageBuilder::nameOf(Value root) {
  std::string name;
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    auto attr = whole.function.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), kArgNameAttr);
    return attr ? attr.str() : std::to_string(argument.getArgNumber());
  }
  for (Stage &earlier : whole.stages)
    for (auto [i, result] : llvm::enumerate(earlier.results))
      if (result == root)
        name = earlier.name + "." + std::to_string(i);
  // One tensor in two shapes is two arguments.
  while (stage.arguments.contains(name))
    name += "'";
  return name;
}

void StageBuilder::addArgument(Value value, Value root) {
  std::string name = nameOf(root);
  unsigned number = func.getNumArguments();
  SmallVector<NamedAttribute> attrs = {
      builder.getNamedAttr(kArgNameAttr, builder.getStringAttr(name))};
  if (auto argument = dyn_cast<BlockArgument>(root))
    if (Attribute dims =
            whole.function.getArgAttr(argument.getArgNumber(), kArgDimsAttr))
      attrs.push_back(builder.getNamedAttr(kArgDimsAttr, dims));
  (void)func.insertArgument(number, value.getType(),
                            builder.getDictionaryAttr(attrs), value.getLoc());
  mapping.map(value, func.getArgument(number));
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    stage.arguments[name] = {root, type};
}

/// Makes `value` known in the stage: as an argument, or by copies of what
/// computes it.
void StageBuilder::materialize(Value value) {
  if (mapping.contains(value))
    return;
  Value root = withoutReshapes(value);
  Operation *source = root.getDefiningOp();
  if (source ? isKernel(source) && !fronts.contains(source) : root == value)
    return addArgument(value, root);
  Operation *defining = value.getDefiningOp();
  for (Value operand : defining->getOperands())
    materialize(operand);
  builder.clone(*defining, mapping);
}

void StageBuilder::run() {
  stage.module = ModuleOp::create(op->getLoc());
  builder.setInsertionPointToStart(stage.module->getBody());
  func = func::FuncOp::create(builder, op->getLoc(), stage.name,
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(func.addEntryBlock());
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  for (Value input : inputs)
    materialize(input);
  builder.clone(*op, mapping);
  addResults();
}

/// What is returned, or read later, of the operation and what is in front.
void StageBuilder::addResults() {
  Operation *ret = whole.function.getBody().front().getTerminator();
  SmallVector<Value> returned;
  auto add = [&](Value own) {
    int64_t times = llvm::count(ret->getOperands(), own);
    if (times == 0 && !own.use_empty())
      times = 1;
    stage.results.append(times, own);
    returned.append(times, mapping.lookup(own));
  };
  llvm::for_each(op->getResults(), add);
  for (Operation *front : fronts)
    if (auto conv = cast<ShortConvOp>(front);
        conv.getFinalWindow() && mapping.contains(conv.getFinalWindow()))
      add(conv.getFinalWindow());
  func::ReturnOp::create(builder, op->getLoc(), returned);
  func.setFunctionType(builder.getFunctionType(
      func.getArgumentTypes(), ValueRange(returned).getTypes()));
}

FailureOr<Stages>
linattn::cutIntoStages(ModuleOp isolated, StringRef function,
                       llvm::function_ref<bool(ShortConvOp)> isInFront) {
  Stages whole;
  auto countKernels = [](Operation *root) {
    unsigned count = 0;
    root->walk([&](Operation *op) { count += isKernel(op); });
    return count;
  };
  if (countKernels(isolated) < 2)
    return whole;
  OwningOpRef<ModuleOp> inlined = isolated.clone();
  PassManager passes(isolated.getContext());
  passes.addPass(createInlinerPass());
  passes.addPass(createSymbolDCEPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*inlined)))
    return failure();
  auto func = inlined->lookupSymbol<func::FuncOp>(function);
  // The module may have had other functions.
  if (!func || !func.getBody().hasOneBlock() || countKernels(func) < 2)
    return whole;
  whole.module = std::move(inlined);
  whole.function = func;
  Block &body = func.getBody().front();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (!value.getDefiningOp() || !isKernel(value.getDefiningOp()))
      return body.getTerminator()->emitOpError()
             << "operand " << i
             << " is a result of one of the function's recurrences, attentions "
                "or convolutions, in its own shape, to become a result of a "
                "kernel";
  llvm::SetVector<Operation *> fronts;
  for (auto conv : body.getOps<ShortConvOp>())
    if (isInFront(conv))
      fronts.insert(conv);
  for (Operation &op : body) {
    if (!isKernel(&op) || fronts.contains(&op))
      continue;
    Stage stage;
    stage.name = (function + "_" + Twine(whole.stages.size())).str();
    StageBuilder(whole, fronts, &op, stage).run();
    whole.stages.push_back(std::move(stage));
  }
  return whole;
}
