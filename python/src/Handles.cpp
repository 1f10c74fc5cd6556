//===- Handles.cpp - what Python holds of MLIR ----------------------------===//

#include "Handles.h"

#include "linattn-c/Dialects.h"

#include <atomic>

using namespace linattn::python;

Context::Context() : context(linattnContextCreate()) {}
Context::~Context() { mlirContextDestroy(context); }

Tree::~Tree() {
  if (ownsRoot())
    mlirOperationDestroy(root);
}

static std::atomic<uint64_t> clockOfTrees{1};
uint64_t linattn::python::now() { return clockOfTrees.load(); }
uint64_t linattn::python::tick() { return ++clockOfTrees; }

Diagnostics::Diagnostics(const ContextPtr &context)
    : context(context), id(mlirContextAttachDiagnosticHandler(
                            context->get(), handle, this, nullptr)) {}

Diagnostics::~Diagnostics() {
  mlirContextDetachDiagnosticHandler(context->get(), id);
}

MlirLogicalResult Diagnostics::handle(MlirDiagnostic diagnostic, void *self) {
  static_cast<Diagnostics *>(self)->add(diagnostic);
  return mlirLogicalResultSuccess();
}

void Diagnostics::add(MlirDiagnostic diagnostic) {
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  if (!text.empty())
    text += "\n";
  if (mlirLocationIsAFileLineColRange(location))
    text +=
        str(mlirIdentifierStr(
            mlirLocationFileLineColRangeGetFilename(location))) +
        ":" +
        std::to_string(mlirLocationFileLineColRangeGetStartLine(location)) +
        ":" +
        std::to_string(mlirLocationFileLineColRangeGetStartColumn(location)) +
        ": ";
  switch (mlirDiagnosticGetSeverity(diagnostic)) {
  case MlirDiagnosticError:
    text += "error: ";
    break;
  case MlirDiagnosticWarning:
    text += "warning: ";
    break;
  case MlirDiagnosticNote:
    text += "note: ";
    break;
  case MlirDiagnosticRemark:
    text += "remark: ";
    break;
  }
  mlirDiagnosticPrint(diagnostic, append, &text);
  for (intptr_t i = 0, n = mlirDiagnosticGetNumNotes(diagnostic); i < n; ++i)
    add(mlirDiagnosticGetNote(diagnostic, i));
}

void Diagnostics::raise(const std::string &otherwise) const {
  throw CompileError(text.empty() ? otherwise : text);
}
