//===- linattn-run.cpp - runs a function and checks it --------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Compile/ReadModule.h"
#include "linattn/Runner/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace linattn::runner;

static constexpr int kWrongResult = 1, kBadInput = 2;

static int fail(llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [](const llvm::ErrorInfoBase &info) {
    llvm::errs() << "linattn-run: error: " << info.message() << "\n";
  });
  return kBadInput;
}

static llvm::Error writeJSON(const Report &report, llvm::StringRef path) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return usageError("--json " + path +
                      ": cannot be written: " + code.message());
  os << llvm::formatv("{0:2}\n", report.toJSON());
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<RunOptions> options = parseCommandLine(argc, argv);
  if (!options)
    return kBadInput;

  mlir::DialectRegistry registry;
  linattn::registerCompileDialects(registry);
  mlir::MLIRContext context(registry);

  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = linattn::readModule(options->file, sources, context);
  if (!module)
    return kBadInput;
  llvm::Expected<Report> report = run(*module, *options);
  if (!report)
    return fail(report.takeError());
  if (!options->json.empty())
    if (llvm::Error error = writeJSON(*report, options->json))
      return fail(std::move(error));
  if (options->json != "-")
    report->print(llvm::outs());
  return report->ok() ? 0 : kWrongResult;
}
