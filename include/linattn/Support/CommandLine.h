//===- CommandLine.h - what LLVM's command line lets pass -------*- C++ -*-===//

#ifndef LINATTN_SUPPORT_COMMANDLINE_H
#define LINATTN_SUPPORT_COMMANDLINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm::cl {
class OptionCategory;
}

namespace linattn {

/// After parsing: an error for an option of the category that stands more than
/// once, with its values; LLVM takes the last one, or joins lists. But for
/// those that are `repeatable`.
llvm::Error checkGivenOnce(int argc, const char *const *argv,
                           const llvm::cl::OptionCategory &category,
                           llvm::ArrayRef<llvm::StringRef> repeatable);

} // namespace linattn

#endif // LINATTN_SUPPORT_COMMANDLINE_H
