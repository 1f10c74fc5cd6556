//===- Binding.cpp - checks the tensors of a call -------------------------===//

#include "linattn/Runtime/Binding.h"
#include "linattn/Runtime/Error.h"
#include "linattn/Runtime/Overlap.h"

#include <algorithm>
#include <numeric>

using namespace linattn::runtime;

static std::string join(const int64_t *values, int count) {
  std::string result = "[";
  for (int i = 0; i < count; ++i)
    result += (i ? ", " : "") + std::to_string(values[i]);
  return result + "]";
}

std::string linattn::runtime::toString(const linattn_tensor &tensor) {
  return join(tensor.sizes, tensor.rank);
}

bool linattn::runtime::isEmpty(const linattn_tensor &tensor) {
  return std::any_of(tensor.sizes, tensor.sizes + tensor.rank,
                     [](int64_t size) { return size == 0; });
}

std::optional<Extent> linattn::runtime::extentOf(const linattn_tensor &tensor) {
  if (isEmpty(tensor))
    return Extent();
  // A product of two 64-bit numbers fits 128 bits, and so do eight of them.
  __int128 low = 0, high = 0;
  for (int i = 0; i < tensor.rank; ++i) {
    __int128 last = __int128(tensor.sizes[i] - 1) * tensor.strides[i];
    (last < 0 ? low : high) += last;
  }
  int64_t width = linattn_dtype_bytes(tensor.dtype);
  low *= width;
  high = (high + 1) * width;
  if (low < INT64_MIN / 2 || high > INT64_MAX / 2)
    return std::nullopt;
  return Extent{int64_t(low), int64_t(high)};
}

Binding::Binding(const Description &description)
    : description(description), sizes(description.sizes.size()) {}

void Binding::refuse(const std::string &message) const {
  throw Error(LINATTN_ERROR_ARGUMENT, description.name + ": " + message);
}

void Binding::setMultiprocessors(int64_t count) {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (description.sizes[i] == kMultiprocessors)
      sizes[i] = {count, true, "the device"};
}

bool Binding::isKnown(const Expr &expr) const {
  if (expr.kind == Expr::Name)
    return sizes[expr.name].known;
  for (const auto *list : {&expr.of, &expr.times, &expr.plus})
    for (const Expr &part : *list)
      if (!isKnown(part))
        return false;
  return true;
}

int64_t Binding::evaluate(const Expr &expr) const {
  auto overflow = [&]() {
    refuse(runtime::toString(expr, description.sizes) +
           " fits 64 bits, got more");
  };
  switch (expr.kind) {
  case Expr::Number:
    return expr.number;
  case Expr::Name:
    if (!sizes[expr.name].known)
      refuse("the size " + description.sizes[expr.name] +
             " is that of an argument, got none that has it");
    return sizes[expr.name].value;
  case Expr::Minimum: {
    int64_t least = evaluate(expr.of[0]);
    for (const Expr &each : expr.of)
      least = std::min(least, evaluate(each));
    return least;
  }
  case Expr::Formula:
    break;
  }
  int64_t value = evaluate(expr.of[0]);
  if (!expr.times.empty() &&
      __builtin_mul_overflow(value, evaluate(expr.times[0]), &value))
    overflow();
  if (expr.divide != 1) {
    // Sizes are not negative; a part of a formula may be.
    int64_t remainder = value % expr.divide;
    value /= expr.divide;
    value += expr.roundUp ? remainder > 0 : -(remainder < 0);
  }
  if (!expr.plus.empty() &&
      __builtin_add_overflow(value, evaluate(expr.plus[0]), &value))
    overflow();
  return value;
}

const linattn_tensor &Binding::tensor(Operand operand) const {
  return operand.kind == Operand::Argument ? arguments[operand.index]
                                           : results[operand.index];
}

bool Binding::isAbsent(Operand operand) const {
  return operand.kind != Operand::Workspace &&
         tensor(operand).dtype == LINATTN_ABSENT;
}

uint64_t Binding::address(Operand operand) const {
  if (operand.kind == Operand::Workspace)
    return reinterpret_cast<uint64_t>(workspace + offsets[operand.index]);
  return isAbsent(operand) ? 0
                           : reinterpret_cast<uint64_t>(tensor(operand).data);
}

//===----------------------------------------------------------------------===//
// Rules of one operand
//===----------------------------------------------------------------------===//

void Binding::checkLayout(const TensorDescription &rule,
                          const linattn_tensor &given) {
  std::string quoted = "'" + rule.name + "'";
  if (given.dtype != rule.dtype)
    refuse(text(quoted, " is ", linattn_dtype_name(rule.dtype), ", got ",
                linattn_dtype_name(given.dtype)));
  int rank = int(rule.shape.size());
  if (given.rank < 0 || given.rank > LINATTN_MAX_RANK)
    refuse(text(quoted, " has ", rank, " dimensions ", rule.shapeText, ", got ",
                given.rank));
  if (given.rank != rank)
    refuse(text(quoted, " has ", rank, " dimensions ", rule.shapeText, ", got ",
                given.rank, " ", runtime::toString(given)));
  for (int i = 0; i < rank; ++i)
    if (given.sizes[i] < 0)
      refuse(text("dimension ", i, " of ", quoted, " is at least 0, got ",
                  given.sizes[i]));
}

void Binding::checkStrides(const TensorDescription &rule,
                           const linattn_tensor &given, bool written) const {
  std::string quoted = "'" + rule.name + "'";
  if (isEmpty(given))
    return;
  int64_t width = linattn_dtype_bytes(given.dtype);
  for (int i = 0; i < given.rank; ++i) {
    if (given.sizes[i] == 1)
      continue;
    int64_t stride = given.strides[i];
    if (rule.strides[i]) {
      if (stride != *rule.strides[i])
        refuse(text("stride ", i, " of ", quoted, " is ", *rule.strides[i],
                    ", got ", stride));
      continue;
    }
    if (rule.alignment > width && stride % (rule.alignment / width) != 0)
      refuse(text("stride ", i, " of ", quoted, " is a multiple of ",
                  rule.alignment / width, " (", rule.alignment, " bytes), got ",
                  stride));
  }
  if (!extentOf(given))
    refuse(text(quoted, " extends over less than 2^62 bytes, got sizes ",
                runtime::toString(given), " with strides ",
                join(given.strides, given.rank)));
  auto address = reinterpret_cast<uint64_t>(given.data);
  if (address % rule.alignment != 0)
    refuse(text(quoted, " begins at a multiple of ", rule.alignment,
                " bytes, got 0x", std::hex, address));
  if (!written)
    return;
  // No element lies where another one does, if each stride is beyond all that
  // the smaller ones reach.
  int order[LINATTN_MAX_RANK];
  std::iota(order, order + given.rank, 0);
  auto magnitude = [&](int i) { return std::abs(given.strides[i]); };
  std::sort(order, order + given.rank,
            [&](int a, int b) { return magnitude(a) < magnitude(b); });
  int64_t reach = 0;
  for (int *i = order; i != order + given.rank; ++i) {
    if (given.sizes[*i] == 1)
      continue;
    if (magnitude(*i) <= reach)
      refuse(text(quoted, " is written, so its elements lie apart, got sizes ",
                  runtime::toString(given), " with strides ",
                  join(given.strides, given.rank)));
    reach += magnitude(*i) * (given.sizes[*i] - 1);
  }
}

void Binding::refuseSize(const TensorDescription &rule, int dimension,
                         int64_t wanted, const linattn_tensor &given) const {
  const Expr &expr = rule.shape[dimension];
  std::string what = runtime::toString(expr, description.sizes);
  if (expr.kind != Expr::Number) {
    what += " = " + std::to_string(wanted);
    const Expr &name = expr.kind == Expr::Formula ? expr.of[0] : expr;
    if (name.kind == Expr::Name && !sizes[name.name].source.empty())
      what += " (from '" + sizes[name.name].source + "')";
  }
  refuse(text("dimension ", dimension, " of '", rule.name, "' is ", what,
              ", got ", given.sizes[dimension]));
}

/// Takes the names that the shape gives; what follows from them is checked
/// afterwards.
void Binding::bindShape(const TensorDescription &rule,
                        const linattn_tensor &given) {
  for (int i = 0; i < given.rank; ++i) {
    const Expr &dim = rule.shape[i];
    if (dim.kind == Expr::Name && !sizes[dim.name].known)
      sizes[dim.name] = {given.sizes[i], true, rule.name};
    // "N + 1" gives N.
    if (dim.kind == Expr::Formula && dim.times.empty() && dim.divide == 1 &&
        dim.of[0].kind == Expr::Name && dim.plus.size() == 1 &&
        dim.plus[0].kind == Expr::Number && !sizes[dim.of[0].name].known) {
      int64_t value = given.sizes[i] - dim.plus[0].number;
      if (value < 0)
        refuse(text("dimension ", i, " of '", rule.name, "' is ",
                    runtime::toString(dim, description.sizes), ", at least ",
                    dim.plus[0].number, ", got ", given.sizes[i]));
      sizes[dim.of[0].name] = {value, true, rule.name};
    }
  }
}

void Binding::checkShape(const TensorDescription &rule,
                         const linattn_tensor &given) const {
  for (int i = 0; i < given.rank; ++i) {
    const Expr &dim = rule.shape[i];
    if (!isKnown(dim))
      continue;
    int64_t wanted = evaluate(dim);
    if (wanted != given.sizes[i])
      refuseSize(rule, i, wanted, given);
  }
}

//===----------------------------------------------------------------------===//
// All operands
//===----------------------------------------------------------------------===//

void Binding::bindArguments(const linattn_tensor *tensors, int32_t count) {
  const auto &rules = description.arguments;
  if (count != int32_t(rules.size()))
    refuse(text("takes ", rules.size(), " arguments, got ", count));
  arguments.assign(tensors, tensors + count);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (arguments[i].dtype == LINATTN_ABSENT) {
      if (!rules[i].optional)
        refuse("'" + rules[i].name + "' is an argument, got none");
      continue;
    }
    checkLayout(rules[i], arguments[i]);
    bindShape(rules[i], arguments[i]);
  }
  for (const SizeOrigin &origin : description.origins) {
    const linattn_tensor &source = arguments[origin.argument];
    if (source.dtype == LINATTN_ABSENT)
      continue;
    const std::string &name = rules[origin.argument].name;
    int64_t value = source.sizes[origin.dimension] + origin.plus;
    if (value < 0)
      refuse(text("dimension ", origin.dimension, " of '", name,
                  "' is at least ", -origin.plus, ", got ",
                  source.sizes[origin.dimension]));
    Bound &bound = sizes[origin.name];
    if (bound.known && bound.value != value)
      refuse(text("dimension ", origin.dimension, " of '", name, "' gives ",
                  description.sizes[origin.name], " = ", bound.value,
                  " (from '", bound.source, "'), got ",
                  source.sizes[origin.dimension]));
    bound = {value, true, bound.known ? bound.source : name};
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (arguments[i].dtype == LINATTN_ABSENT)
      continue;
    checkShape(rules[i], arguments[i]);
    checkStrides(rules[i], arguments[i], rules[i].written);
  }
}

void Binding::inferResults(linattn_tensor *tensors, int32_t count) const {
  const auto &rules = description.results;
  if (count != int32_t(rules.size()))
    refuse(text("gives ", rules.size(), " results, got room for ", count));
  for (size_t i = 0; i < rules.size(); ++i) {
    int64_t shape[LINATTN_MAX_RANK] = {};
    for (size_t d = 0; d < rules[i].shape.size(); ++d)
      shape[d] = evaluate(rules[i].shape[d]);
    tensors[i] = linattn_make_tensor(nullptr, rules[i].dtype,
                                     int32_t(rules[i].shape.size()), shape);
  }
}

void Binding::bindResults(const linattn_tensor *tensors, int32_t count) {
  const auto &rules = description.results;
  if (count != int32_t(rules.size()))
    refuse(text("gives ", rules.size(), " results, got ", count));
  results.assign(tensors, tensors + count);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].inPlace >= 0)
      continue;
    if (results[i].dtype == LINATTN_ABSENT) {
      if (!rules[i].optional)
        refuse("'" + rules[i].name + "' is a result, got no memory for it");
      continue;
    }
    checkLayout(rules[i], results[i]);
    checkShape(rules[i], results[i]);
    checkStrides(rules[i], results[i], /*written=*/true);
  }
  checkMemory();
}

//===----------------------------------------------------------------------===//
// Memory that operands share
//===----------------------------------------------------------------------===//

/// "0x1000 to 0x10ff"
static std::string toString(const Extent &extent, const void *data) {
  auto base = reinterpret_cast<uint64_t>(data);
  return text("0x", std::hex, base + extent.low, " to 0x",
              base + extent.high - 1);
}

std::vector<Binding::Memory> Binding::listMemory() const {
  std::vector<Memory> all;
  auto add = [&](const TensorDescription &rule, const linattn_tensor &given,
                 bool written) {
    if (given.dtype != LINATTN_ABSENT && given.data && !isEmpty(given))
      all.push_back({rule.name, given, *extentOf(given), written});
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    add(description.arguments[i], arguments[i],
        description.arguments[i].written);
  for (size_t i = 0; i < results.size(); ++i)
    if (description.results[i].inPlace < 0)
      add(description.results[i], results[i], /*written=*/true);
  return all;
}

void Binding::checkMemory() const {
  std::vector<Memory> all = listMemory();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Memory &a = all[all[i].written ? i : j];
      const Memory &b = all[all[i].written ? j : i];
      if (!a.written || !a.meets(b))
        continue;
      std::optional<bool> shared = shareMemory(a.tensor, b.tensor);
      if (shared && !*shared)
        continue;
      std::string got =
          text("'", b.name, "' (", ::toString(a.extent, a.tensor.data), " and ",
               ::toString(b.extent, b.tensor.data), ")");
      refuse(text(
          "'", a.name, "' is written, so it has memory of its own, got ",
          shared ? "that of " : "strides that do not say so beside ", got));
    }
}

void Binding::checkWorkspace(const linattn_workspace &given,
                             size_t bytes) const {
  auto address = reinterpret_cast<uint64_t>(given.data);
  if (given.bytes < bytes)
    refuse(text("the workspace has at least ", bytes, " bytes, got ",
                given.bytes));
  if (bytes == 0)
    return;
  if (!address || address % 256 != 0)
    refuse(text("the workspace begins at a multiple of 256 bytes, got 0x",
                std::hex, address));
  auto size = int64_t(bytes);
  linattn_tensor tensor =
      linattn_make_tensor(given.data, LINATTN_U8, /*rank=*/1, &size);
  Memory scratch = {"the workspace", tensor, {0, size}, /*written=*/true};
  for (const Memory &each : listMemory())
    if (scratch.meets(each) &&
        shareMemory(scratch.tensor, each.tensor).value_or(true))
      refuse(text("the workspace is written, so it has memory of its own, got "
                  "that of '",
                  each.name, "' (", ::toString(scratch.extent, given.data),
                  " and ", ::toString(each.extent, each.tensor.data), ")"));
}

void Binding::checkPointers() const {
  auto check = [&](const TensorDescription &rule, const linattn_tensor &given) {
    if (given.dtype != LINATTN_ABSENT && !given.data && !isEmpty(given))
      refuse("'" + rule.name + "' lies in device memory, got a null pointer");
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    check(description.arguments[i], arguments[i]);
  for (size_t i = 0; i < results.size(); ++i)
    if (description.results[i].inPlace < 0)
      check(description.results[i], results[i]);
}

size_t Binding::layOutWorkspace() {
  offsets.clear();
  unsigned __int128 end = 0;
  for (const WorkspaceBuffer &buffer : description.workspace) {
    offsets.push_back(size_t(end));
    unsigned __int128 bytes = linattn_dtype_bytes(buffer.dtype);
    for (const Expr &dim : buffer.shape) {
      int64_t size = evaluate(dim);
      if (size < 0)
        refuse(text("a dimension of the workspace's '", buffer.name,
                    "' is at least 0, got ", size));
      bytes *= uint64_t(size);
      if (bytes >> 62)
        refuse("the workspace's '" + buffer.name +
               "' has less than 2^62 bytes, got more");
    }
    end = (end + bytes + 255) / 256 * 256;
  }
  return size_t(end);
}
