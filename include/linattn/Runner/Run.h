//===- Run.h - linattn-run --------------------------------------*- C++ -*-===//

#ifndef LINATTN_RUNNER_RUN_H
#define LINATTN_RUNNER_RUN_H

#include "linattn/Runner/Inputs.h"
#include "linattn/Runner/Report.h"

namespace linattn {
namespace runner {

struct RunOptions {
  std::string file;
  std::string function;
  InputOptions inputs;
  Target target;
  bool verify = false;
  /// With `verify`: the rounding model runs also where no result asks for it.
  bool roundingModel = false;
  bool time = false;
  unsigned repeat = 5;
  /// A file, "-" for stdout, or "".
  std::string json;
  /// A folder for all arrays, or "".
  std::string save;
};

/// Does what the options ask for. Errors are of usage or input; a wrong result
/// is in the report.
llvm::Expected<Report> run(mlir::ModuleOp module, const RunOptions &options);

llvm::StringRef nameOf(GateDistribution distribution);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_RUN_H
