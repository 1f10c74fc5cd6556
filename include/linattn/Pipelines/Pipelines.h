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

struct ChunkwiseCPUOptions : mlir::PassPipelineOptions<ChunkwiseCPUOptions> {
  Option<int64_t> chunk{*this, "chunk", llvm::cl::desc("tokens per chunk"),
                        llvm::cl::init(64)};
  Option<std::string> mma{
      *this, "mma",
      llvm::cl::desc("what products round to, instead of what the inputs say")};
  Option<bool> keepRounding{
      *this, "keep-rounding",
      llvm::cl::desc("round operands of products as a GPU would"),
      llvm::cl::init(false)};
  Option<bool> hoist{
      *this, "hoist",
      llvm::cl::desc("one product less on the chain from state to state"),
      llvm::cl::init(false)};
};

/// Level 0 to the LLVM dialect for the CPU in chunks, attention in tiles;
/// functions as in buildSerialCPUPipeline. Short convolutions go token by
/// token.
void buildChunkwiseCPUPipeline(mlir::OpPassManager &pm,
                               const ChunkwiseCPUOptions &options);

struct NVVMPipelineOptions : mlir::PassPipelineOptions<NVVMPipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU, such as sm_90a"),
                           llvm::cl::init("sm_90a")};
};

/// Level 0 to the LLVM dialect with NVVM: each function, one recurrence,
/// becomes a token-serial kernel in a gpu.module of its name.
void buildSerialNVVMPipeline(mlir::OpPassManager &pm,
                             const NVVMPipelineOptions &options);

/// Level 2, kernels on tiles with their shared memory planned and their
/// barriers placed, to the LLVM dialect with NVVM.
void buildTileToNVVMPipeline(mlir::OpPassManager &pm,
                             const NVVMPipelineOptions &options);

struct ChunkwiseNVVMOptions : mlir::PassPipelineOptions<ChunkwiseNVVMOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU, such as sm_90a"),
                           llvm::cl::init("sm_90a")};
  Option<int64_t> chunk{*this, "chunk", llvm::cl::desc("tokens per chunk"),
                        llvm::cl::init(64)};
  Option<std::string> mma{
      *this, "mma",
      llvm::cl::desc("what products round to, instead of what the inputs say")};
  Option<bool> hoist{
      *this, "hoist",
      llvm::cl::desc("take one product off the chain from state to state "
                     "(--linattn-hoist-chunk)"),
      llvm::cl::init(false)};
  Option<int64_t> slice{*this, "slice",
                        llvm::cl::desc("value columns of a block; 0 chooses"),
                        llvm::cl::init(0)};
  Option<int64_t> split{
      *this, "split",
      llvm::cl::desc("1: what does not depend on the state in a kernel of its "
                     "own; 0: in one kernel; -1 chooses"),
      llvm::cl::init(-1)};
  Option<int64_t> outputs{
      *this, "outputs",
      llvm::cl::desc(
          "1: what of outputs mixes value columns in a kernel of its "
          "own; 0: where the states are; -1 chooses"),
      llvm::cl::init(-1)};
  Option<int64_t> segments{
      *this, "segments",
      llvm::cl::desc(
          "pieces of a sequence that run beside each other, for long "
          "sequences and few heads (--linattn-add-transitions)"),
      llvm::cl::init(1)};
  Option<int64_t> columnParts{
      *this, "column-parts",
      llvm::cl::desc("parts of the columns of matrices in registers, each of "
                     "other warps; 0 chooses"),
      llvm::cl::init(0)};
  Option<int64_t> stages{
      *this, "stages",
      llvm::cl::desc("chunks in shared memory at once: 2 leave room for two "
                     "blocks of a multiprocessor; 0 takes as many as fit"),
      llvm::cl::init(2)};
};

/// Level 0 to level 2: each function, one recurrence, becomes a kernel on tiles
/// in a gpu.module of its name, planned and with its barriers.
void buildChunkwiseToTilePipeline(mlir::OpPassManager &pm,
                                  const ChunkwiseNVVMOptions &options);

/// Level 0 to the LLVM dialect with NVVM in chunks.
void buildChunkwiseNVVMPipeline(mlir::OpPassManager &pm,
                                const ChunkwiseNVVMOptions &options);

struct AttentionNVVMOptions : mlir::PassPipelineOptions<AttentionNVVMOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU, such as sm_90a"),
                           llvm::cl::init("sm_90a")};
  Option<int64_t> queryTile{*this, "query-tile",
                            llvm::cl::desc("queries of a block"),
                            llvm::cl::init(64)};
  Option<int64_t> keyTile{*this, "key-tile", llvm::cl::desc("keys of a step"),
                          llvm::cl::init(64)};
  Option<std::string> mma{
      *this, "mma",
      llvm::cl::desc("what products round to, instead of what the inputs say")};
  Option<int64_t> warps{*this, "warps",
                        llvm::cl::desc("warps of a block; 0 chooses"),
                        llvm::cl::init(0)};
  Option<int64_t> stages{
      *this, "stages",
      llvm::cl::desc("key tiles in shared memory at once; 0 takes as many as "
                     "fit"),
      llvm::cl::init(2)};
  Option<int64_t> splitKeys{
      *this, "split-keys",
      llvm::cl::desc("keys of a part, for few queries: parts are blocks, and a "
                     "second kernel combines them; 0: no parts"),
      llvm::cl::init(0)};
  Option<double> slack{
      *this, "slack",
      llvm::cl::desc("by how much a running maximum may be behind"),
      llvm::cl::init(5.5)};
};

/// Level 0 to level 2: each function, one attention, becomes a kernel on tiles
/// in a gpu.module of its name, planned and with its barriers.
void buildAttentionToTilePipeline(mlir::OpPassManager &pm,
                                  const AttentionNVVMOptions &options);

/// Level 0 to the LLVM dialect with NVVM for attention.
void buildAttentionNVVMPipeline(mlir::OpPassManager &pm,
                                const AttentionNVVMOptions &options);

/// Registers the pipelines for linattn-opt.
void registerLinAttnPipelines();

} // namespace linattn

#endif // LINATTN_PIPELINES_PIPELINES_H
