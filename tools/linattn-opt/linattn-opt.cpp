//===- linattn-opt.cpp - runs passes over modules -------------------------===//

#include "linattn/Registration.h"
#include "linattn/Support/InputFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

static constexpr char kOverview[] =
    R"(linattn-opt: runs passes over modules of linear attention

The levels of a recurrence, one command each:

  linattn-opt --linattn-print-normal-form x.mlir -o /dev/null   to hold against a paper
  linattn-opt --linattn-normalize x.mlir          events in normal form
  linattn-opt --linattn-chunkwise=chunk=64 x.mlir one chunk as matrix products
  linattn-opt --linattn-to-cpu-serial x.mlir      token by token, to the LLVM dialect
  linattn-opt --linattn-to-cpu=chunk=64 x.mlir    in chunks, to the LLVM dialect
  linattn-opt --linattn-to-nvvm-serial=chip=sm_90a x.mlir   a kernel, with NVVM

All of MLIR's flags work: --mlir-print-ir-after-all shows each step,
--mlir-timing where time goes, --mlir-pass-pipeline-crash-reproducer=r.mlir
writes what repeats a failure. docs/Passes.md describes the passes.
)";

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  linattn::registerEverything(registry);
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, kOverview, registry);
  // MLIR's own main says it in other words than our tools, and with code 1.
  if (input != "-" && !linattn::openInput(input))
    return 2;
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
