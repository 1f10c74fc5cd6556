//===- Errors.cpp - diagnostics as text for C -----------------------------===//

#include "Errors.h"
#include "linattn-c/Compiler.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace linattn;

/// The first place in a file that a location knows of.
static FileLineColLoc findFile(Location location) {
  FileLineColLoc found;
  location->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

static StringRef nameOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

ErrorText::ErrorText(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        add(diagnostic);
        return success();
      }) {}

void ErrorText::add(Diagnostic &diagnostic) {
  llvm::raw_string_ostream os(text);
  if (!text.empty())
    os << "\n";
  if (FileLineColLoc file = findFile(diagnostic.getLocation()))
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn() << ": ";
  os << nameOf(diagnostic.getSeverity()) << ": " << diagnostic;
  for (Diagnostic &note : diagnostic.getNotes())
    add(note);
}

void ErrorText::add(llvm::Error error) {
  text += (text.empty() ? "error: " : "\nerror: ") +
          llvm::toString(std::move(error));
}

void ErrorText::give(char **error) const {
  if (error)
    *error = copyText(text);
}

char *linattn::copyText(StringRef text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy) {
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
  }
  return copy;
}

void linattnStringFree(char *text) { std::free(text); }
