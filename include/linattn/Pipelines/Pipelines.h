//===- Pipelines.h - from a level to code -----------------------*- C++ -*-===//

#ifndef LINATTN_PIPELINES_PIPELINES_H
#define LINATTN_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
}

namespace linattn {

/// Level 0 to the LLVM dialect for the CPU by token-serial loops. Functions get
/// C wrappers `_mlir_ciface_NAME` that take pointers to memref descriptors:
/// inputs first, then results (see --linattn-results-to-arguments).
/// Precede it by --linattn-widen for the fp64 oracle.
void buildSerialCPUPipeline(mlir::OpPassManager &pm);

/// What every lowering to loops shares: bufferization, vectors, OpenMP, LLVM.
void buildLoopsToLLVMPipeline(mlir::OpPassManager &pm);

struct NVVMPipelineOptions : mlir::PassPipelineOptions<NVVMPipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU, such as sm_90a"),
                           llvm::cl::init("sm_90a")};
};

/// Level 0 to the LLVM dialect with NVVM: each function, one recurrence,
/// becomes a token-serial kernel in a gpu.module of its name.
void buildSerialNVVMPipeline(mlir::OpPassManager &pm,
                             const NVVMPipelineOptions &options);

/// Registers the pipelines for linattn-opt.
void registerLinAttnPipelines();

} // namespace linattn

#endif // LINATTN_PIPELINES_PIPELINES_H
