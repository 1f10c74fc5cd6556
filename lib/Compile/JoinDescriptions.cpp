//===- JoinDescriptions.cpp - one description of several launches ---------===//
//
// A tensor of a stage is a tensor of the whole: an argument, a result, or a
// scratch buffer, which has no gaps. Strides of a buffer are sizes:
// those of [B, T, H, D] are T * H * D, H * D, D and 1.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

using namespace mlir;
using namespace linattn;
namespace json = llvm::json;

/// Sizes by their names.
using Environment = llvm::StringMap<json::Value>;

static json::Value substitute(const json::Value &size, const Environment &env) {
  if (auto name = size.getAsString()) {
    auto it = env.find(*name);
    return it == env.end() ? size : it->second;
  }
  if (const json::Object *formula = size.getAsObject()) {
    json::Object result;
    for (const auto &[key, value] : *formula)
      if (key == "round" || key == "divide")
        result[key] = value;
      else
        result[key] = substitute(value, env);
    return result;
  }
  if (const json::Array *list = size.getAsArray()) {
    json::Array result;
    for (const json::Value &value : *list)
      result.push_back(substitute(value, env));
    return result;
  }
  return size;
}

static json::Value plus(const json::Value &size, int64_t number) {
  if (number == 0)
    return size;
  if (auto known = size.getAsInteger())
    return *known + number;
  // N + 1 - 1
  if (const json::Object *formula = size.getAsObject())
    if (formula->size() == 2 && formula->getInteger("plus") == -number)
      return *formula->get("of");
  return json::Object{{"of", size}, {"plus", number}};
}

namespace {

class Joiner {
public:
  explicit Joiner(const Stages &stages)
      : stages(stages), function(stages.function),
        returned(function.getBody().front().getTerminator()->getOperands()) {}

  llvm::Expected<json::Object> run(ArrayRef<json::Object> descriptions);

private:
  /// A tensor of the whole.
  struct Tensor {
    std::string name;
    json::Array shape; ///< null where no stage has said it yet
    bool isBuffer = false;
    json::Object description; ///< of an argument or result
  };

  void addArguments();
  llvm::Error addStage(const Stage &stage, const json::Object &description);
  /// Makes a stage's rules for one of its arguments those of the whole.
  llvm::Error addArgument(Value root, RankedTensorType type,
                          const json::Object &rule, const Environment &env);
  void addResult(const Stage &stage, unsigned number, const json::Object &rule,
                 const Environment &env);
  json::Value parameterOf(const json::Object &own, const Stage &stage,
                          const Environment &env);
  json::Object strideOfBuffer(const Tensor &tensor, RankedTensorType type,
                              int64_t dimension);
  llvm::Error checkAlignment(const json::Object &rule, RankedTensorType type);

  const Stages &stages;
  func::FuncOp function;
  ValueRange returned;
  llvm::DenseMap<Value, Tensor> tensors;
  json::Array buffers, launches, plans;
  SmallVector<json::Object> results;
};

} // namespace

void Joiner::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    Tensor tensor;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kArgNameAttr);
    tensor.name = name ? name.str() : std::to_string(argument.getArgNumber());
    for (int64_t size : type.getShape())
      tensor.shape.push_back(ShapedType::isDynamic(size) ? json::Value(nullptr)
                                                         : json::Value(size));
    tensors[argument] = std::move(tensor);
  }
}

/// What a further stage asks of an argument or a result.
static void mergeRule(json::Object &known, const json::Object &rule) {
  for (auto [mine, theirs] :
       llvm::zip(*known.getArray("strides"), *rule.getArray("strides")))
    if (theirs.getAsInteger())
      mine = theirs;
  int64_t bytes = std::max(known.getInteger("alignment").value_or(0),
                           rule.getInteger("alignment").value_or(0));
  if (bytes)
    known["alignment"] = bytes;
}

/// Buffers begin at multiples of 256 bytes; their rows must fit too.
llvm::Error Joiner::checkAlignment(const json::Object &rule,
                                   RankedTensorType type) {
  int64_t bytes = rule.getInteger("alignment").value_or(1);
  int64_t stride = type.getElementTypeBitWidth() / 8;
  // The strides are products of inner sizes: the smallest decides.
  for (int64_t size : llvm::reverse(type.getShape().drop_front())) {
    if (ShapedType::isDynamic(size))
      break;
    stride *= size;
    if (stride % bytes != 0)
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          "'" + *rule.getString("name") + "' has rows of " + Twine(stride) +
              " bytes between two kernels, got a kernel that needs multiples "
              "of " +
              Twine(bytes));
  }
  return llvm::Error::success();
}

json::Object Joiner::strideOfBuffer(const Tensor &tensor, RankedTensorType type,
                                    int64_t dimension) {
  // Inner sizes are static, but for those of the buffer's own leading ones,
  // which reshapes do not touch.
  int64_t number = 1;
  json::Value names = nullptr;
  for (int64_t dim = dimension + 1; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      number *= type.getDimSize(dim);
    else if (names.kind() == json::Value::Null)
      names = tensor.shape[dim];
    else
      names = json::Object{{"of", names}, {"times", tensor.shape[dim]}};
  }
  if (names.kind() == json::Value::Null)
    return json::Object{
        {"kind", "constant"}, {"value", number}, {"type", "s64"}};
  return json::Object{{"kind", "size"},
                      {"size", json::Object{{"of", names}, {"times", number}}},
                      {"type", "s64"}};
}

json::Value Joiner::parameterOf(const json::Object &own, const Stage &stage,
                                const Environment &env) {
  json::Object parameter = own;
  if (const json::Value *size = own.get("size"))
    parameter["size"] = substitute(*size, env);
  auto name = own.getString("tensor");
  if (!name)
    return parameter;
  Value root;
  RankedTensorType type;
  if (auto it = stage.arguments.find(*name); it != stage.arguments.end())
    std::tie(root, type) = it->second;
  unsigned number;
  StringRef rest = *name;
  if (!root && rest.consume_front("out_") && !rest.getAsInteger(10, number) &&
      number < stage.results.size()) {
    root = stage.results[number];
    type = cast<RankedTensorType>(root.getType());
    if (!tensors[root].isBuffer) {
      // Of a result that is returned twice, this is one.
      unsigned nth =
          llvm::count(ArrayRef(stage.results).take_front(number), root);
      for (auto [i, value] : llvm::enumerate(returned))
        if (value == root && nth-- == 0)
          parameter["tensor"] = "out_" + std::to_string(i);
      return parameter;
    }
  }
  if (!root) { // A scratch buffer of the stage.
    parameter["tensor"] = stage.name + "." + name->str();
    return parameter;
  }
  Tensor &tensor = tensors[root];
  if (tensor.isBuffer && own.getString("kind") == "stride")
    return strideOfBuffer(tensor, type, *own.getInteger("dimension"));
  parameter["tensor"] = tensor.name;
  return parameter;
}

void Joiner::addResult(const Stage &stage, unsigned number,
                       const json::Object &rule, const Environment &env) {
  Value root = stage.results[number];
  Tensor tensor;
  tensor.shape = *substitute(*rule.get("shape"), env).getAsArray();
  tensor.isBuffer = !llvm::is_contained(returned, root);
  if (tensor.isBuffer) {
    tensor.name = stage.name + "." + std::to_string(number);
    buffers.push_back(json::Object{{"name", tensor.name},
                                   {"dtype", *rule.get("dtype")},
                                   {"shape", json::Array(tensor.shape)}});
  }
  for (auto [i, value] : llvm::enumerate(returned)) {
    if (value != root)
      continue;
    json::Object result = rule;
    result["name"] = tensor.name = "out_" + std::to_string(i);
    result["shape"] = json::Array(tensor.shape);
    results[i] = std::move(result);
  }
  tensors[root] = std::move(tensor);
}

llvm::Error Joiner::addArgument(Value root, RankedTensorType type,
                                const json::Object &rule,
                                const Environment &env) {
  Tensor &tensor = tensors[root];
  if (tensor.isBuffer)
    return checkAlignment(rule, type);
  if (isa<BlockArgument>(root)) {
    for (auto [size, known] : llvm::zip(*rule.getArray("shape"), tensor.shape))
      if (known.kind() == json::Value::Null)
        known = substitute(size, env);
    if (tensor.description.empty())
      tensor.description = rule;
    else
      mergeRule(tensor.description, rule);
    return llvm::Error::success();
  }
  if (type != root.getType())
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "'" + tensor.name +
            "' is a result, and another kernel reads it in another shape: "
            "return it in that shape, or not at all");
  for (auto [i, value] : llvm::enumerate(returned))
    if (value == root)
      mergeRule(results[i], rule);
  return llvm::Error::success();
}

llvm::Error Joiner::addStage(const Stage &stage,
                             const json::Object &description) {
  // Sizes: what the tensors of the whole have, under the stage's names.
  Environment env;
  for (const json::Value &value : *description.getArray("arguments")) {
    const json::Object &rule = *value.getAsObject();
    auto it = stage.arguments.find(*rule.getString("name"));
    // Reshapes leave leading, dynamic sizes alone.
    for (auto [size, known] :
         llvm::zip(*rule.getArray("shape"), tensors[it->second.first].shape))
      if (auto name = size.getAsString();
          name && known.kind() != json::Value::Null)
        env.try_emplace(*name, known);
  }
  for (const json::Value &value : *description.getArray("arguments")) {
    const json::Object &rule = *value.getAsObject();
    const auto &[root, type] =
        stage.arguments.find(*rule.getString("name"))->second;
    if (llvm::Error error = addArgument(root, type, rule, env))
      return error;
  }

  // T, N and S of the launches come from tensors.
  Environment sizes = std::move(env);
  for (const auto &[name, value] : *description.getObject("sizes")) {
    const json::Object &origin = *value.getAsObject();
    const auto &[root, type] =
        stage.arguments.find(*origin.getString("tensor"))->second;
    (void)type;
    json::Value size = tensors[root].shape[*origin.getInteger("dimension")];
    sizes.insert_or_assign(name,
                           plus(size, origin.getInteger("plus").value_or(0)));
  }

  for (auto [number, value] : llvm::enumerate(*description.getArray("results")))
    addResult(stage, number, *value.getAsObject(), sizes);
  if (const json::Array *own = description.getArray("workspace"))
    for (const json::Value &value : *own) {
      json::Object buffer = *value.getAsObject();
      buffer["name"] = stage.name + "." + buffer.getString("name")->str();
      buffer["shape"] = substitute(*buffer.get("shape"), sizes);
      buffers.push_back(std::move(buffer));
    }
  for (const json::Value &value : *description.getArray("launches")) {
    json::Object launch = *value.getAsObject();
    launch["grid"] = substitute(*launch.get("grid"), sizes);
    json::Array parameters;
    for (const json::Value &parameter : *launch.getArray("parameters"))
      parameters.push_back(parameterOf(*parameter.getAsObject(), stage, sizes));
    launch["parameters"] = std::move(parameters);
    launches.push_back(std::move(launch));
  }
  plans.push_back(*description.get("plan"));
  return llvm::Error::success();
}

llvm::Expected<json::Object> Joiner::run(ArrayRef<json::Object> descriptions) {
  addArguments();
  results.resize(returned.size());
  for (auto [stage, description] : llvm::zip(stages.stages, descriptions))
    if (llvm::Error error = addStage(stage, description))
      return std::move(error);

  json::Array arguments, outputs;
  for (BlockArgument argument : function.getArguments()) {
    auto it = tensors.find(argument);
    if (it == tensors.end())
      continue;
    Tensor &tensor = it->second;
    json::Object rule = std::move(tensor.description);
    if (rule.empty()) { // No stage has it.
      std::string dtype;
      auto type = cast<RankedTensorType>(argument.getType());
      llvm::raw_string_ostream(dtype) << type.getElementType();
      json::Array strides;
      for (auto [i, size] : llvm::enumerate(tensor.shape)) {
        strides.push_back("free");
        if (size.kind() == json::Value::Null)
          size = tensor.name + "." + std::to_string(i);
      }
      rule = json::Object{{"name", tensor.name},
                          {"dtype", dtype},
                          {"strides", std::move(strides)},
                          {"role", "unused"}};
    }
    rule["shape"] = std::move(tensor.shape);
    arguments.push_back(std::move(rule));
  }
  for (json::Object &result : results)
    outputs.push_back(std::move(result));
  json::Object whole{{"plan", json::Object{{"name", "several kernels"},
                                           {"stages", std::move(plans)}}},
                     {"arguments", std::move(arguments)},
                     {"results", std::move(outputs)},
                     {"sizes", json::Object{}},
                     {"launches", std::move(launches)}};
  if (!buffers.empty())
    whole["workspace"] = std::move(buffers);
  return whole;
}

llvm::Expected<json::Object>
linattn::joinDescriptions(const Stages &stages,
                          ArrayRef<json::Object> descriptions) {
  return Joiner(stages).run(descriptions);
}
