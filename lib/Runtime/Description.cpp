//===- Description.cpp - reads NAME.json ----------------------------------===//

#include "linattn/Runtime/Description.h"
#include "linattn/Runtime/Error.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace linattn::runtime;
using Json = nlohmann::json;

static constexpr struct {
  const char *name;
  linattn_dtype dtype;
  size_t bytes;
} kTypes[] = {{"f16", LINATTN_F16, 2}, {"bf16", LINATTN_BF16, 2},
              {"f32", LINATTN_F32, 4}, {"f64", LINATTN_F64, 8},
              {"i32", LINATTN_I32, 4}, {"i64", LINATTN_I64, 8},
              {"i8", LINATTN_I8, 1},   {"u8", LINATTN_U8, 1}};

std::optional<linattn_dtype>
linattn::runtime::parseDType(const std::string &s) {
  for (const auto &type : kTypes)
    if (s == type.name)
      return type.dtype;
  return std::nullopt;
}

extern "C" size_t linattn_dtype_bytes(linattn_dtype dtype) {
  for (const auto &type : kTypes)
    if (dtype == type.dtype)
      return type.bytes;
  return 0;
}

extern "C" const char *linattn_dtype_name(linattn_dtype dtype) {
  for (const auto &type : kTypes)
    if (dtype == type.dtype)
      return type.name;
  return dtype == LINATTN_ABSENT ? "absent" : "unknown";
}

const std::string &Description::nameOf(Operand operand) const {
  if (operand.kind == Operand::Argument)
    return arguments[operand.index].name;
  if (operand.kind == Operand::Result)
    return results[operand.index].name;
  return workspace[operand.index].name;
}

std::string linattn::runtime::toString(const Expr &expr,
                                       const std::vector<std::string> &names) {
  switch (expr.kind) {
  case Expr::Number:
    return std::to_string(expr.number);
  case Expr::Name:
    return names[expr.name];
  case Expr::Minimum: {
    std::string list;
    for (const Expr &each : expr.of)
      list += (list.empty() ? "" : ", ") + toString(each, names);
    return "min(" + list + ")";
  }
  case Expr::Formula:
    break;
  }
  std::string result = toString(expr.of[0], names);
  if (!expr.times.empty())
    result += " * " + toString(expr.times[0], names);
  if (expr.divide != 1) {
    result += " / " + std::to_string(expr.divide);
    if (expr.roundUp)
      result = "ceil(" + result + ")";
  }
  if (!expr.plus.empty()) {
    const Expr &more = expr.plus[0];
    result += more.kind == Expr::Number && more.number < 0
                  ? " - " + std::to_string(-more.number)
                  : " + " + toString(more, names);
  }
  return result;
}

namespace {
/// A place in the file, for messages: "launches[0].grid".
class Reader {
public:
  Reader(Description &description, std::string origin)
      : description(description), origin(std::move(origin)) {}

  void read(const Json &root);

private:
  [[noreturn]] void fail(const std::string &place, const std::string &rule,
                         const Json &got) const {
    std::string text = got.is_discarded() ? "nothing" : got.dump();
    if (text.size() > 60)
      text = text.substr(0, 57) + "...";
    throw Error(LINATTN_ERROR_ARTIFACT,
                origin + ": " + place + " " + rule + ", got " + text);
  }

  static const Json &missing() {
    static const Json none(Json::value_t::discarded);
    return none;
  }
  static const Json &member(const Json &object, const char *name) {
    auto it = object.find(name);
    return it == object.end() ? missing() : *it;
  }

  std::string textAt(const Json &object, const std::string &place,
                     const char *name) const {
    const Json &value = member(object, name);
    if (!value.is_string())
      fail(place + name, "is a string", value);
    return value.get<std::string>();
  }
  int64_t number(const Json &value, const std::string &place, int64_t least,
                 int64_t most) const {
    if (!value.is_number_integer() || value.get<int64_t>() < least ||
        value.get<int64_t>() > most)
      fail(place, text("is an integer from ", least, " to ", most), value);
    return value.get<int64_t>();
  }
  int64_t numberAt(const Json &object, const std::string &place,
                   const char *name, int64_t least, int64_t most) const {
    return number(member(object, name), place + name, least, most);
  }
  const Json &listAt(const Json &object, const std::string &place,
                     const char *name) const {
    const Json &value = member(object, name);
    if (!value.is_array())
      fail(place + name, "is a list", value);
    return value;
  }
  void needObject(const Json &value, const std::string &place) const {
    if (!value.is_object())
      fail(place, "is an object", value);
  }
  linattn_dtype dtypeAt(const Json &object, const std::string &place,
                        const char *name) const {
    std::string given = textAt(object, place, name);
    std::optional<linattn_dtype> dtype = parseDType(given);
    if (!dtype)
      fail(place + name, "is f16, bf16, f32, f64, i32, i64, i8 or u8", given);
    return *dtype;
  }

  int sizeNamed(const std::string &name);
  Expr expr(const Json &value, const std::string &place);
  std::vector<Expr> exprs(const Json &list, const std::string &place);
  TensorDescription tensor(const Json &object, const std::string &place,
                           bool isResult);
  Operand operandAt(const Json &object, const std::string &place) const;
  const std::vector<Expr> &shapeOf(Operand operand) const;
  Launch launch(const Json &object, const std::string &place);
  Parameter parameter(const Json &object, const std::string &place,
                      const Launch &launch);
  TensorMapDescription tensorMap(const Json &object, const std::string &place);
  Triple triple(const Json &value, const std::string &place, int64_t most);
  void checkNames() const;

  Description &description;
  std::string origin;
};

int Reader::sizeNamed(const std::string &name) {
  auto it = std::find(description.sizes.begin(), description.sizes.end(), name);
  if (it != description.sizes.end())
    return int(it - description.sizes.begin());
  description.sizes.push_back(name);
  return int(description.sizes.size()) - 1;
}

Expr Reader::expr(const Json &value, const std::string &place) {
  // Deeper ones would end the stack.
  if (place.size() > 300)
    fail(place.substr(0, 60) + "..", "is nested less deeply", value);
  Expr result;
  if (value.is_number_integer()) {
    result.number = value.get<int64_t>();
    return result;
  }
  if (value.is_string()) {
    result.kind = Expr::Name;
    result.name = sizeNamed(value.get<std::string>());
    return result;
  }
  if (value.is_object() && value.contains("min")) {
    result.kind = Expr::Minimum;
    result.of = exprs(listAt(value, place + ".", "min"), place + ".min");
    if (result.of.empty())
      fail(place + ".min", "has an element", value);
    return result;
  }
  if (!value.is_object() || !value.contains("of"))
    fail(place, "is a number, a name, {\"of\": ..} or {\"min\": ..}", value);
  result.kind = Expr::Formula;
  result.of.push_back(expr(value["of"], place + ".of"));
  if (value.contains("times"))
    result.times.push_back(expr(value["times"], place + ".times"));
  if (value.contains("divide")) {
    result.divide = numberAt(value, place + ".", "divide", 1, INT64_MAX);
    std::string round = value.value("round", "down");
    if (round != "up" && round != "down")
      fail(place + ".round", "is up or down", round);
    result.roundUp = round == "up";
  }
  if (value.contains("plus"))
    result.plus.push_back(expr(value["plus"], place + ".plus"));
  return result;
}

std::vector<Expr> Reader::exprs(const Json &list, const std::string &place) {
  std::vector<Expr> result;
  for (size_t i = 0; i < list.size(); ++i)
    result.push_back(expr(list[i], text(place, "[", i, "]")));
  return result;
}

TensorDescription Reader::tensor(const Json &object, const std::string &place,
                                 bool isResult) {
  needObject(object, place);
  std::string at = place + ".";
  TensorDescription result;
  result.name = textAt(object, at, "name");
  result.role = object.value("role", "");
  result.dtype = dtypeAt(object, at, "dtype");
  result.shape = exprs(listAt(object, at, "shape"), at + "shape");
  if (result.shape.size() > LINATTN_MAX_RANK)
    fail(at + "shape", text("has at most ", LINATTN_MAX_RANK, " dimensions"),
         object["shape"]);
  for (const Expr &dim : result.shape)
    result.shapeText += (result.shapeText.empty() ? "" : ", ") +
                        toString(dim, description.sizes);
  result.shapeText = "[" + result.shapeText + "]";
  const Json &strides = listAt(object, at, "strides");
  if (strides.size() != result.shape.size())
    fail(at + "strides", "has an element per dimension", strides);
  for (const Json &stride : strides) {
    if (stride == "free")
      result.strides.push_back(std::nullopt);
    else if (stride.is_number_integer())
      result.strides.push_back(stride.get<int64_t>());
    else
      fail(at + "strides", "has numbers and \"free\"", stride);
  }
  result.alignment = linattn_dtype_bytes(result.dtype);
  if (object.contains("alignment"))
    result.alignment = numberAt(object, at, "alignment", 1, 1 << 20);
  const Json &optional = member(object, "optional");
  if (!optional.is_discarded() && !optional.is_boolean())
    fail(at + "optional", "is true or false", optional);
  // What no kernel reads need not be given.
  result.optional = (optional.is_boolean() && optional.get<bool>()) ||
                    result.role == "unused";
  if (isResult && object.contains("in_place")) {
    std::string holder = textAt(object, at, "in_place");
    for (size_t i = 0; i < description.arguments.size(); ++i)
      if (description.arguments[i].name == holder)
        result.inPlace = int(i);
    if (result.inPlace < 0)
      fail(at + "in_place", "names an argument", holder);
    description.arguments[result.inPlace].written = true;
  }
  return result;
}

Operand Reader::operandAt(const Json &object, const std::string &place) const {
  std::string name = textAt(object, place, "tensor");
  for (size_t i = 0; i < description.arguments.size(); ++i)
    if (description.arguments[i].name == name)
      return {Operand::Argument, int(i)};
  for (size_t i = 0; i < description.results.size(); ++i)
    if (description.results[i].name == name &&
        description.results[i].inPlace < 0)
      return {Operand::Result, int(i)};
  for (size_t i = 0; i < description.workspace.size(); ++i)
    if (description.workspace[i].name == name)
      return {Operand::Workspace, int(i)};
  fail(place + "tensor",
       "names an argument, a result with memory of its own or a buffer of the "
       "workspace",
       name);
}

const std::vector<Expr> &Reader::shapeOf(Operand operand) const {
  if (operand.kind == Operand::Argument)
    return description.arguments[operand.index].shape;
  if (operand.kind == Operand::Result)
    return description.results[operand.index].shape;
  return description.workspace[operand.index].shape;
}

Triple Reader::triple(const Json &value, const std::string &place,
                      int64_t most) {
  if (!value.is_array() || value.empty() || value.size() > 3)
    fail(place, "is a list of one to three numbers", value);
  Triple result = {1, 1, 1};
  for (size_t i = 0; i < value.size(); ++i)
    result[i] = number(value[i], text(place, "[", i, "]"), 1, most);
  return result;
}

Parameter Reader::parameter(const Json &object, const std::string &place,
                            const Launch &launch) {
  needObject(object, place);
  std::string at = place + ".";
  std::string kind = textAt(object, at, "kind");
  Parameter result;
  if (kind == "tensor_map") {
    result.kind = Parameter::TensorMap;
    result.map =
        numberAt(object, at, "map", 0, int64_t(launch.maps.size()) - 1);
    result.bytes = sizeof(uint64_t[16]);
    return result;
  }
  std::string type = object.value("type", kind == "pointer" ? "u64" : "s64");
  if (type != "s64" && type != "u64" && type != "s32" && type != "u32" &&
      !(kind == "constant" && type == "f32"))
    fail(at + "type", "is s64, u64, s32, u32, or f32 of a constant", type);
  result.bytes = type[1] == '6' ? 8 : 4;
  result.isSigned = type[0] == 's';
  if (kind == "pointer") {
    result.tensor = operandAt(object, at);
    if (result.bytes != 8)
      fail(at + "type", "has 64 bits for a pointer", type);
  } else if (kind == "stride") {
    result.kind = Parameter::Stride;
    result.tensor = operandAt(object, at);
    result.dimension = numberAt(object, at, "dimension", 0,
                                int64_t(shapeOf(result.tensor).size()) - 1);
    std::string unit = object.value("unit", "elements");
    if (unit != "elements" && unit != "bytes")
      fail(at + "unit", "is elements or bytes", unit);
    result.inBytes = unit == "bytes";
  } else if (kind == "size") {
    result.kind = Parameter::Size;
    result.size = expr(member(object, "size"), at + "size");
  } else if (kind == "constant") {
    result.kind = Parameter::Constant;
    const Json &value = member(object, "value");
    if (!value.is_number() || (type != "f32" && !value.is_number_integer()))
      fail(at + "value", "is a number of type " + type, value);
    if (type == "f32") {
      float number = value.get<float>();
      static_assert(sizeof(number) == 4);
      std::copy_n(reinterpret_cast<const char *>(&number), 4,
                  reinterpret_cast<char *>(&result.constant));
    } else {
      result.constant = uint64_t(value.get<int64_t>());
    }
  } else {
    fail(at + "kind", "is pointer, stride, size, constant or tensor_map", kind);
  }
  return result;
}

TensorMapDescription Reader::tensorMap(const Json &object,
                                       const std::string &place) {
  needObject(object, place);
  std::string at = place + ".";
  TensorMapDescription map;
  map.tensor = operandAt(object, at);
  map.tensorName = description.nameOf(map.tensor);
  if (map.tensor.kind == Operand::Workspace)
    map.dtype = description.workspace[map.tensor.index].dtype;
  else
    map.dtype = (map.tensor.kind == Operand::Argument
                     ? description.arguments[map.tensor.index]
                     : description.results[map.tensor.index])
                    .dtype;
  if (object.contains("type")) {
    map.tf32 = textAt(object, at, "type") == "tf32";
    if (!map.tf32 || map.dtype != LINATTN_F32)
      fail(at + "type", "is tf32 for a tensor of f32, or is not there",
           object["type"]);
  }
  int64_t rank = shapeOf(map.tensor).size();
  const Json &dimensions = listAt(object, at, "dimensions");
  for (const Json &dim : dimensions)
    map.dimensions.push_back(number(dim, at + "dimensions", 0, rank - 1));
  if (dimensions.empty() || dimensions.size() > 5)
    fail(at + "dimensions", "has one to five elements", dimensions);
  const Json &box = listAt(object, at, "box");
  if (box.size() != dimensions.size())
    fail(at + "box", "has an element per dimension of the map", box);
  for (const Json &size : box)
    map.box.push_back(uint32_t(number(size, at + "box", 1, 256)));
  auto choice = [&](const char *name, std::vector<int64_t> values) {
    if (!object.contains(name))
      return 0;
    int64_t value = numberAt(object, at, name, 0, 256);
    if (std::find(values.begin(), values.end(), value) == values.end())
      fail(at + name, "is one of those that the driver knows", object[name]);
    return int(value);
  };
  map.swizzle = choice("swizzle", {0, 32, 64, 128});
  map.promotion = choice("l2_promotion", {0, 64, 128, 256});
  std::string fill = object.value("fill", "zero");
  if (fill != "zero" && fill != "nan")
    fail(at + "fill", "is zero or nan", fill);
  map.fillNaN = fill == "nan";
  return map;
}

Launch Reader::launch(const Json &object, const std::string &place) {
  needObject(object, place);
  std::string at = place + ".";
  Launch result;
  result.kernel = textAt(object, at, "kernel");
  const Json &grid = listAt(object, at, "grid");
  if (grid.empty() || grid.size() > 3)
    fail(at + "grid", "has one to three elements", grid);
  for (size_t i = 0; i < grid.size(); ++i)
    result.grid[i] = expr(grid[i], text(at, "grid[", i, "]"));
  result.block = triple(member(object, "block"), at + "block", 1024);
  if (object.contains("cluster"))
    result.cluster = triple(object["cluster"], at + "cluster", 16);
  if (object.contains("dynamic_shared_bytes"))
    result.dynamicShared =
        numberAt(object, at, "dynamic_shared_bytes", 0, 1 << 20);
  if (object.contains("tensor_maps")) {
    const Json &maps = listAt(object, at, "tensor_maps");
    for (size_t i = 0; i < maps.size(); ++i)
      result.maps.push_back(
          tensorMap(maps[i], text(at, "tensor_maps[", i, "]")));
  }
  const Json &parameters = listAt(object, at, "parameters");
  for (size_t i = 0; i < parameters.size(); ++i)
    result.parameters.push_back(
        parameter(parameters[i], text(at, "parameters[", i, "]"), result));
  return result;
}

/// Every size that is used is one that the tensors or the device give.
void Reader::checkNames() const {
  std::vector<bool> known(description.sizes.size(), false);
  auto see = [&](const std::vector<Expr> &shape) {
    for (const Expr &dim : shape) {
      const Expr *name = &dim;
      if (dim.kind == Expr::Formula && dim.times.empty() && dim.divide == 1)
        name = &dim.of[0];
      if (name->kind == Expr::Name)
        known[name->name] = true;
    }
  };
  for (const TensorDescription &argument : description.arguments)
    see(argument.shape);
  for (const SizeOrigin &size : description.origins)
    known[size.name] = true;
  for (size_t i = 0; i < known.size(); ++i)
    if (!known[i] && description.sizes[i] != kMultiprocessors)
      throw Error(LINATTN_ERROR_ARTIFACT, origin +
                                              ": no argument has the size '" +
                                              description.sizes[i] + "'");
}

void Reader::read(const Json &root) {
  needObject(root, "the description");
  if (member(root, "format") != "linattn")
    fail("format", "is \"linattn\"", member(root, "format"));
  if (member(root, "version") != LINATTN_ARTIFACT_VERSION)
    fail("version", text("is ", LINATTN_ARTIFACT_VERSION, " for this library"),
         member(root, "version"));
  description.name = textAt(root, "", "name");
  description.target = textAt(root, "", "target");
  if (root.contains("cubin"))
    description.cubinFile = textAt(root, "", "cubin");
  if (root.contains("ptx"))
    description.ptxFile = textAt(root, "", "ptx");

  const Json &arguments = listAt(root, "", "arguments");
  for (size_t i = 0; i < arguments.size(); ++i)
    description.arguments.push_back(
        tensor(arguments[i], text("arguments[", i, "]"), false));
  const Json &results = listAt(root, "", "results");
  for (size_t i = 0; i < results.size(); ++i)
    description.results.push_back(
        tensor(results[i], text("results[", i, "]"), true));
  if (root.contains("workspace")) {
    const Json &buffers = listAt(root, "", "workspace");
    for (size_t i = 0; i < buffers.size(); ++i) {
      std::string at = text("workspace[", i, "].");
      needObject(buffers[i], at);
      WorkspaceBuffer buffer;
      buffer.name = textAt(buffers[i], at, "name");
      buffer.dtype = dtypeAt(buffers[i], at, "dtype");
      buffer.shape = exprs(listAt(buffers[i], at, "shape"), at + "shape");
      if (buffer.shape.size() > LINATTN_MAX_RANK)
        fail(at + "shape",
             text("has at most ", LINATTN_MAX_RANK, " dimensions"),
             buffers[i]["shape"]);
      description.workspace.push_back(std::move(buffer));
    }
  }
  if (root.contains("sizes")) {
    const Json &sizes = member(root, "sizes");
    needObject(sizes, "sizes");
    for (auto it = sizes.begin(); it != sizes.end(); ++it) {
      std::string at = "sizes." + it.key() + ".";
      needObject(*it, "sizes." + it.key());
      Operand operand = operandAt(*it, at);
      if (operand.kind != Operand::Argument)
        fail(at + "tensor", "names an argument", (*it)["tensor"]);
      SizeOrigin origin;
      origin.name = sizeNamed(it.key());
      origin.argument = operand.index;
      origin.dimension = numberAt(*it, at, "dimension", 0,
                                  int64_t(shapeOf(operand).size()) - 1);
      if (it->contains("plus"))
        origin.plus = numberAt(*it, at, "plus", INT32_MIN, INT32_MAX);
      description.origins.push_back(origin);
    }
  }
  const Json &launches = listAt(root, "", "launches");
  for (size_t i = 0; i < launches.size(); ++i)
    description.launches.push_back(
        launch(launches[i], text("launches[", i, "]")));
  checkNames();
}
} // namespace

std::unique_ptr<Description>
linattn::runtime::parseDescription(std::string json,
                                   const std::string &origin) {
  auto description = std::make_unique<Description>();
  try {
    Reader(*description, origin).read(Json::parse(json));
  } catch (const Json::parse_error &error) {
    throw Error(LINATTN_ERROR_ARTIFACT,
                origin + ": is no JSON: " + error.what());
  } catch (const Json::exception &error) {
    throw Error(LINATTN_ERROR_ARTIFACT,
                origin + ": has a field of another type: " + error.what());
  }
  description->json = std::move(json);
  return description;
}

bool linattn::runtime::isDescription(const std::string &json) {
  Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  return root.is_object() && root.contains("format");
}
