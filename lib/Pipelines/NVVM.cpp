//===- NVVM.cpp - pipelines to NVIDIA GPUs --------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"
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

static void attachTarget(OpPassManager &pm, StringRef chip) {
  GpuNVVMAttachTargetOptions target;
  target.chip = chip.str();
  target.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(target));
}

void linattn::buildSerialNVVMPipeline(OpPassManager &pm,
                                      const NVVMPipelineOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createShortConvToSIMT());
  pm.addPass(createRecurrenceToSIMT());
  attachTarget(pm, options.chip);
  addKernelsToLLVM(pm);
}

static void addTilesToLLVM(OpPassManager &pm, StringRef chip) {
  ConvertTileToNVVMOptions conversion;
  conversion.chip = chip.str();
  pm.nest<gpu::GPUModuleOp>().addPass(createConvertTileToNVVM(conversion));
  attachTarget(pm, chip);
  addKernelsToLLVM(pm);
}

void linattn::buildTileToNVVMPipeline(OpPassManager &pm,
                                      const NVVMPipelineOptions &options) {
  addTilesToLLVM(pm, options.chip);
}

/// Loads ahead of their use, places in shared memory, barriers.
static void planTiles(OpPassManager &pm, StringRef chip, int64_t stages,
                      bool ofChunks, bool branchFree) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  tile::PipelineLoadsPassOptions loads;
  loads.stages = stages;
  loads.chip = chip.str();
  loads.branchFree = branchFree;
  kernels.addPass(tile::createPipelineLoadsPass(loads));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  if (ofChunks) {
    tile::RaiseStoresPassOptions stores;
    stores.chip = chip.str();
    kernels.addPass(tile::createRaiseStoresPass(stores));
  }
  tile::PlanSharedMemoryPassOptions memory;
  memory.chip = chip.str();
  memory.spread = ofChunks;
  kernels.addPass(tile::createPlanSharedMemoryPass(memory));
  kernels.addPass(tile::createInsertBarriersPass());
}

void linattn::buildChunkwiseToTilePipeline(
    OpPassManager &pm, const ChunkwiseNVVMOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  ChunkwisePassOptions chunkwise;
  chunkwise.chunk = options.chunk;
  chunkwise.mma = options.mma;
  // Tiles hold whole matrices: every other row of one is no tile.
  chunkwise.separateEvents = true;
  if (options.segments > 1)
    pm.addPass(createAddTransitionsPass());
  pm.addPass(createChunkwisePass(chunkwise));
  if (options.hoist)
    pm.addPass(createHoistChunkPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  ChunkedToTileOptions tiles;
  tiles.slice = options.slice;
  tiles.columnParts = options.columnParts;
  tiles.split = options.split;
  tiles.outputs = options.outputs;
  tiles.segments = options.segments;
  pm.addPass(createChunkedToTile(tiles));

  planTiles(pm, options.chip, options.stages, /*ofChunks=*/true,
            /*branchFree=*/false);
}

void linattn::buildChunkwiseNVVMPipeline(OpPassManager &pm,
                                         const ChunkwiseNVVMOptions &options) {
  buildChunkwiseToTilePipeline(pm, options);
  addTilesToLLVM(pm, options.chip);
}

void linattn::buildAttentionToTilePipeline(
    OpPassManager &pm, const AttentionNVVMOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  TileAttentionPassOptions attention;
  attention.queryTile = options.queryTile;
  attention.keyTile = options.keyTile;
  attention.mma = options.mma;
  attention.slack = options.slack;
  pm.addPass(createTileAttentionPass(attention));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  AttentionTilesToTileOptions tiles;
  tiles.warps = options.warps;
  tiles.splitKeys = options.splitKeys;
  pm.addPass(createAttentionTilesToTile(tiles));
  planTiles(pm, options.chip, options.stages, /*ofChunks=*/false,
            /*branchFree=*/true);
}

void linattn::buildAttentionNVVMPipeline(OpPassManager &pm,
                                         const AttentionNVVMOptions &options) {
  buildAttentionToTilePipeline(pm, options);
  addTilesToLLVM(pm, options.chip);
}
