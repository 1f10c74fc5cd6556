//===- CommandLine.cpp - what LLVM's command line lets pass ---------------===//

#include "linattn/Support/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

using namespace linattn;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

/// Where an option stands with a value, or without one.
using Values = llvm::SmallVector<std::optional<StringRef>>;

/// What counts occurrences in LLVM counts the elements of lists too.
static llvm::StringMap<Values> findValues(int argc, const char *const *argv) {
  auto &options = cl::getRegisteredOptions();
  llvm::StringMap<Values> values;
  for (int i = 1; i < argc; ++i) {
    StringRef word = argv[i];
    if (word == "--")
      break;
    if (!word.consume_front("--") && !word.consume_front("-"))
      continue;
    auto [name, value] = word.split('=');
    auto option = options.find(name);
    if (option == options.end())
      continue;
    bool isAlone = name.size() == word.size();
    bool takesNext =
        option->second->getValueExpectedFlag() == cl::ValueRequired;
    if (!isAlone)
      values[name].push_back(value);
    else if (takesNext && i + 1 < argc)
      values[name].push_back(StringRef(argv[++i]));
    else
      values[name].push_back(std::nullopt);
  }
  return values;
}

llvm::Error linattn::checkGivenOnce(int argc, const char *const *argv,
                                    const cl::OptionCategory &category,
                                    llvm::ArrayRef<StringRef> repeatable) {
  auto &options = cl::getRegisteredOptions();
  for (const auto &[name, values] : findValues(argc, argv)) {
    if (values.size() < 2 || llvm::is_contained(repeatable, name) ||
        !llvm::is_contained(options[name]->Categories, &category))
      continue;
    std::string got;
    for (std::optional<StringRef> value : values)
      got += (got.empty() ? "" : " and ") +
             (value ? "'" + *value + "'" : Twine("no value")).str();
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "--" + name + " is given once, got " + got);
  }
  return llvm::Error::success();
}
