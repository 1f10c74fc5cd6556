//===- CPU.cpp - pipelines to the CPU -------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace linattn;

/// 16-bit floats: arithmetic in f32, conversions of bf16 by integer operations
/// (older run-time libraries lack __truncsfbf2).
static void addFloatExpansion(OpPassManager &pm) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs.assign({"bf16", "f16"});
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addNestedPass<func::FuncOp>(math::createMathExtendToSupportedTypes());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
}

/// Tensors to memory of the caller and scratch memory.
static void addBufferization(OpPassManager &pm) {
  // Of operations between those of the dialect, which may stand on tensors.
  pm.addPass(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::FullyDynamicLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
}

/// From loops over memory to the LLVM dialect.
static void addLoopsToLLVM(OpPassManager &pm) {
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createCanonicalizerPass());
  addFloatExpansion(pm);
  // The C library has no rsqrt.
  math::MathExpandOpsPassOptions expand;
  expand.opMnemonics.assign({"rsqrt"});
  pm.addPass(math::createMathExpandOpsPass(expand));
  pm.addPass(createMathCalls());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createConvertSCFToOpenMPPass());
  // Removes the stack scopes that the conversion adds: they hold no stack
  // memory.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
}

/// What comes first in every pipeline.
static void addPreparation(OpPassManager &pm) {
  pm.addPass(createInlinerPass());
  pm.addPass(createResultsToArguments());
  // Before functions of the C library are declared: those need no wrappers.
  pm.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
}

void linattn::buildSerialCPUPipeline(OpPassManager &pm) {
  addPreparation(pm);
  pm.addNestedPass<func::FuncOp>(createRecurrenceToLoops());
  pm.addNestedPass<func::FuncOp>(createShortConvToLoops());
  pm.addNestedPass<func::FuncOp>(createAttentionToLoops());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  addBufferization(pm);
  addLoopsToLLVM(pm);
}

void linattn::buildChunkwiseCPUPipeline(OpPassManager &pm,
                                        const ChunkwiseCPUOptions &options) {
  addPreparation(pm);
  ChunkwisePassOptions chunkwise;
  chunkwise.chunk = options.chunk;
  chunkwise.mma = options.mma;
  pm.addPass(createChunkwisePass(chunkwise));
  if (options.hoist)
    pm.addPass(createHoistChunkPass());
  TileAttentionPassOptions tiles;
  tiles.mma = options.mma;
  pm.addPass(createTileAttentionPass(tiles));
  ChunkedToLoopsOptions loops;
  loops.keepRounding = options.keepRounding;
  pm.addNestedPass<func::FuncOp>(createChunkedToLoops(loops));
  pm.addNestedPass<func::FuncOp>(
      createAttentionTilesToLoops({options.keepRounding}));
  pm.addNestedPass<func::FuncOp>(createShortConvToLoops());
  // No common subexpressions from here on: fills and broadcasts are cheaper
  // made again where they are used than kept.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(
      bufferization::createEmptyTensorToAllocTensorPass());
  addBufferization(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createTilesToVectors());
  // No allocation in a loop: all chunks use the same tiles.
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferHoistingPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  ExpandMathOptions math;
  math.keepOthers = true;
  pm.addPass(createExpandMath(math));
  addLoopsToLLVM(pm);
}

void linattn::registerLinAttnPipelines() {
  PassPipelineRegistration<>(
      "linattn-to-cpu-serial",
      "Level 0 to the LLVM dialect for the CPU, token by token",
      buildSerialCPUPipeline);
  PassPipelineRegistration<ChunkwiseCPUOptions>(
      "linattn-to-cpu",
      "Level 0 to the LLVM dialect for the CPU, in chunks of tokens",
      buildChunkwiseCPUPipeline);
  PassPipelineRegistration<NVVMPipelineOptions>(
      "linattn-to-nvvm-serial",
      "Level 0 to token-serial kernels in the LLVM dialect for NVIDIA GPUs",
      buildSerialNVVMPipeline);
  PassPipelineRegistration<NVVMPipelineOptions>(
      "linattn-tile-to-nvvm",
      "Level 2, planned, to kernels in the LLVM dialect for NVIDIA GPUs",
      buildTileToNVVMPipeline);
  PassPipelineRegistration<ChunkwiseNVVMOptions>(
      "linattn-to-tile", "Level 0 to planned kernels on tiles",
      buildChunkwiseToTilePipeline);
  PassPipelineRegistration<ChunkwiseNVVMOptions>(
      "linattn-to-nvvm",
      "Level 0 to kernels in the LLVM dialect for NVIDIA GPUs, in chunks",
      buildChunkwiseNVVMPipeline);
  PassPipelineRegistration<AttentionNVVMOptions>(
      "linattn-attention-to-tile",
      "Level 0, softmax and differential attention, to planned kernels on "
      "tiles",
      buildAttentionToTilePipeline);
  PassPipelineRegistration<AttentionNVVMOptions>(
      "linattn-attention-to-nvvm",
      "Level 0, softmax and differential attention, to kernels in the LLVM "
      "dialect for NVIDIA GPUs",
      buildAttentionNVVMPipeline);
}
