//===- Errors.h - diagnostics as text for C ---------------------*- C++ -*-===//

#ifndef LINATTN_LIB_CAPI_ERRORS_H
#define LINATTN_LIB_CAPI_ERRORS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <string>

namespace linattn {

/// Collects the diagnostics of a context while it lives, a line each:
/// FILE:LINE:COLUMN: error: MESSAGE.
class ErrorText {
public:
  explicit ErrorText(mlir::MLIRContext *context);

  void add(llvm::Error error);
  /// Hands the text to a caller in C, if there is one who wants it.
  void give(char **error) const;

private:
  void add(mlir::Diagnostic &diagnostic);

  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// A copy for C of a text.
char *copyText(llvm::StringRef text);

} // namespace linattn

#endif // LINATTN_LIB_CAPI_ERRORS_H
