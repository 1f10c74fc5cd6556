//===- NVVM.cpp - pipelines to NVIDIA GPUs --------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace linattn;

/// What every gpu.module goes through: functions of the math library as
/// arithmetic, then the LLVM dialect. Not MLIR's own pipeline to NVVM, which
/// links a library of the CUDA toolkit.
static void addKernelsToLLVM(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createExpandMath());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
}

static void attachTarget(OpPassManager &pm,
                         const NVVMPipelineOptions &options) {
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(target));
}

void linattn::buildSerialNVVMPipeline(OpPassManager &pm,
                                      const NVVMPipelineOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createRecurrenceToSIMT());
  attachTarget(pm, options);
  addKernelsToLLVM(pm);
}

void linattn::buildTileToNVVMPipeline(OpPassManager &pm,
                                      const NVVMPipelineOptions &options) {
  ConvertTileToNVVMOptions conversion;
  conversion.chip = options.chip;
  pm.nest<gpu::GPUModuleOp>().addPass(createConvertTileToNVVM(conversion));
  attachTarget(pm, options);
  addKernelsToLLVM(pm);
}
