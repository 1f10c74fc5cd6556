//===- Plan.cpp - what a plan may say -------------------------------------===//
//
// A plan is made of options of the pipeline linattn-to-tile, and these are
// checked here once, with their ranges: the pipeline's own parser names neither
// and would take the options that are not the plan's. One is not the
// pipeline's: fuse-conv says what of a function becomes a kernel of its own.
//
//===----------------------------------------------------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace linattn;

namespace {
/// What has the option.
enum class Of { Recurrence, Attention, Both };

struct PlanOption {
  StringLiteral name;
  StringLiteral rule;
  bool (*holds)(StringRef value);
  Of of = Of::Recurrence;
};
} // namespace

static std::optional<int64_t> number(StringRef text) {
  int64_t value;
  if (text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

/// As many as there are multiprocessors, and no more: each has scratch states.
static bool isSegments(StringRef text) {
  std::optional<int64_t> value = number(text);
  return value && *value >= 1 && *value <= 256;
}

static bool isStages(StringRef text) {
  std::optional<int64_t> value = number(text);
  return value && *value >= 0 && *value <= 16;
}

static bool isSplitKeys(StringRef text) {
  std::optional<int64_t> value = number(text);
  return value && *value >= 0 && *value <= (1 << 20) && *value % 16 == 0;
}

template <int64_t... values> static bool isOneOf(StringRef text) {
  std::optional<int64_t> value = number(text);
  return value && ((*value == values) || ...);
}

static bool isMma(StringRef text) {
  return symbolizeMmaPrecision(text).has_value();
}

/// A flag that stands alone is set.
static bool isFlag(StringRef text) {
  return llvm::is_contained({"", "0", "1", "true", "false"}, text);
}

static constexpr PlanOption kOptions[] = {
    {"slice", "0 (chosen), 16, 32, 64, 128 or 256",
     isOneOf<0, 16, 32, 64, 128, 256>},
    {"column-parts", "0 (chosen), 1, 2 or 4", isOneOf<0, 1, 2, 4>},
    {"split", "-1 (chosen), 0 or 1", isOneOf<-1, 0, 1>},
    {"stages", "from 0 (as many as fit) to 16", isStages, Of::Both},
    {"chunk", "16, 32, 64 or 128", isOneOf<16, 32, 64, 128>},
    {"mma", "f32, tf32x3, bf16, f16 or bf16x2", isMma, Of::Both},
    {"hoist", "0 or 1", isFlag},
    {"segments", "from 1 (whole sequences) to 256", isSegments},
    {"outputs", "-1 (chosen), 0 or 1", isOneOf<-1, 0, 1>},
    {"fuse-conv", "-1 (chosen), 0 (none), 1 (all) or 2 (value columns)",
     isOneOf<-1, 0, 1, 2>},
    {"query-tile", "16, 32, 64, 128 or 256", isOneOf<16, 32, 64, 128, 256>,
     Of::Attention},
    {"key-tile", "16, 32, 64 or 128", isOneOf<16, 32, 64, 128>, Of::Attention},
    {"split-keys", "a multiple of 16 from 0 (no parts) to 1048576", isSplitKeys,
     Of::Attention}};

/// The names of the options that attention, or recurrences, have.
static std::string listOptions(bool attention) {
  Of other = attention ? Of::Recurrence : Of::Attention;
  SmallVector<StringRef> names;
  for (const PlanOption &option : kOptions)
    if (option.of != other)
      names.push_back(option.name);
  return llvm::join(names, ", ");
}

llvm::Error linattn::checkPlanKind(StringRef plan, bool attention) {
  SmallVector<StringRef> words;
  llvm::SplitString(plan, words);
  for (StringRef word : words) {
    StringRef name = word.split('=').first;
    for (const PlanOption &option : kOptions)
      if (option.name == name &&
          option.of == (attention ? Of::Recurrence : Of::Attention))
        return llvm::createStringError(
            llvm::inconvertibleErrorCode(),
            "plan: '" + name + "' is of " +
                (attention ? "recurrences; attention takes "
                           : "attention; recurrences take ") +
                listOptions(attention));
  }
  return llvm::Error::success();
}

llvm::Error linattn::checkPlan(StringRef plan) {
  auto refuse = [](const Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "plan: " + message);
  };
  if (plan.contains(','))
    return refuse("options are separated by blanks, as in 'slice=32 stages=2', "
                  "got '" +
                  plan + "'");
  SmallVector<StringRef> words;
  llvm::SplitString(plan, words);
  llvm::StringMap<StringRef> given;
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    if (auto [first, isNew] = given.try_emplace(name, word); !isNew)
      return refuse("an option is given once, got '" + first->second +
                    "' and '" + word + "'");
    const auto *option =
        llvm::find_if(kOptions, [name = name](const PlanOption &o) {
          return o.name == name;
        });
    if (option == std::end(kOptions))
      return refuse("'" + name + "' is none of " +
                    llvm::join(llvm::map_range(kOptions,
                                               [](const auto &o) {
                                                 return StringRef(o.name);
                                               }),
                               ", "));
    if (!option->holds(value))
      return refuse(name + " is " + option->rule + ", got '" + value + "'");
  }
  return llvm::Error::success();
}

std::optional<FuseConv> linattn::takeFuseConv(std::string &plan) {
  SmallVector<StringRef> words, others;
  llvm::SplitString(plan, words);
  std::optional<FuseConv> fuse;
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    if (name != "fuse-conv")
      others.push_back(word);
    else if (value != "-1")
      fuse = FuseConv(number(value).value_or(0));
  }
  plan = llvm::join(others, " ");
  return fuse;
}

std::optional<StringRef> linattn::getPlanOption(StringRef plan,
                                                StringRef name) {
  SmallVector<StringRef> words;
  llvm::SplitString(plan, words);
  for (StringRef word : words)
    if (auto [key, value] = word.split('='); key == name)
      return value;
  return std::nullopt;
}

llvm::Error linattn::setSize(CallSizes &sizes, StringRef text) {
  auto [name, value] = text.split('=');
  std::optional<int64_t> size = number(value);
  if (name != "B" && name != "N" && name != "T")
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "size: B or N (sequences) or T (tokens of each), got '" + name + "'");
  if (!size || *size < 1)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "size: " + name + " is a positive number, got '" + value + "'");
  int64_t &known = name == "T" ? sizes.tokens : sizes.sequences;
  if (known && known != *size)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        (name == "T" ? "size: T is given once, got "
                     : "size: B (or N) is given once, got ") +
            Twine(known) + " and " + Twine(*size));
  known = *size;
  return llvm::Error::success();
}
