//===- InstrTable.cpp - PTX names beside their functions ------------------===//

#include "InstrTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {

InstrTable::InstrTable() {
  registerInteger(*this);
  registerFloat(*this);
  registerDirectedRounding(*this);
  registerHalf(*this);
  registerConvert(*this);
  registerMove(*this);
  registerCompare(*this);
  registerBulkCopy(*this); // st.async, red.async: before st.*, red.*
  registerMemory(*this);
  registerAtomic(*this);
  registerWarp(*this);
  registerBarrier(*this);
  registerControl(*this);
  registerMbarrier(*this);
  registerMatrix(*this);
  registerMma(*this);
  registerWgmma(*this);
  registerAsyncCopy(*this);
  registerTensorCopy(*this);
  registerCluster(*this);
}

const InstrTable &InstrTable::get() {
  static const InstrTable table;
  return table;
}

void InstrTable::add(StringRef pattern, StringRef operands, ExecFn fn,
                     InstrKind kind, uint32_t traits, DecodeFn decode) {
  size_t end = pattern.find_first_of(".[<*");
  byName[pattern.take_front(end)].push_back(
      {pattern.str(), operands.str(), fn, kind, traits, decode});
}

/// The alternatives in front of `close`, which is removed as well.
static SmallVector<StringRef> alternatives(StringRef &pattern, char close) {
  auto [inside, rest] = pattern.split(close);
  pattern = rest;
  SmallVector<StringRef> result;
  inside.split(result, '|');
  for (StringRef &word : result)
    word.consume_front(".");
  return result;
}

static bool matches(StringRef pattern, ArrayRef<StringRef> words) {
  while (true) {
    pattern.consume_front(".");
    if (pattern == "*")
      return true;
    if (pattern.empty())
      return words.empty();
    if (pattern.consume_front("[")) {
      SmallVector<StringRef> options = alternatives(pattern, ']');
      if (!words.empty() && is_contained(options, words.front()) &&
          matches(pattern, words.drop_front()))
        return true;
      continue;
    }
    if (words.empty())
      return false;
    if (pattern.consume_front("<")) {
      SmallVector<StringRef> options = alternatives(pattern, '>');
      if (!is_contained(options, words.front()))
        return false;
    } else {
      size_t end = pattern.find_first_of(".[<*");
      if (pattern.take_front(end) != words.front())
        return false;
      pattern = pattern.drop_front(std::min(end, pattern.size()));
    }
    words = words.drop_front();
  }
}

const InstrDef *InstrTable::find(const Words &words) const {
  auto it = byName.find(words.front());
  if (it == byName.end())
    return nullptr;
  for (const InstrDef &def : it->second)
    if (matches(def.pattern, words))
      return &def;
  return nullptr;
}

StringRef instrKindName(InstrKind kind) {
  static constexpr StringLiteral names[] = {"integer",
                                            "fp32",
                                            "fp64",
                                            "fp16",
                                            "special function",
                                            "convert",
                                            "move",
                                            "predicate",
                                            "global memory",
                                            "shared memory",
                                            "local memory",
                                            "param memory",
                                            "generic memory",
                                            "atomic",
                                            "warp communication",
                                            "barrier",
                                            "control",
                                            "fence",
                                            "asynchronous",
                                            "tensor core",
                                            "other"};
  return names[size_t(kind)];
}

} // namespace linattn::sim
