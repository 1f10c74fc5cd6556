//===- Passes.td - passes over the tile dialect ------------*- tablegen -*-===//
//
// Part of linattn. Each IR before and after is that of the test with the same
// name in test/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_PASSES
#define LINATTN_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

/// Works on each gpu.func in the operation that it runs on.
class Tile_KernelPass<string name> : Pass<name>;

/// How many bytes of shared memory a block may have.
class Tile_SharedOptions {
  list<Option> options = [
    Option<"sharedBytes", "shared-bytes", "int64_t", "0",
        "Bytes of shared memory that a block may have; 0: what the chip has">,
    Option<"chip", "chip", "std::string", "\"sm_90a\"", "The GPU, such as sm_80">
  ];
}
def Tile_Shared : Tile_SharedOptions;

def PipelineLoadsPass : Tile_KernelPass<"tile-pipeline-loads"> {
  let summary = "loads of later steps run while a step is computed";
  let description = [{
    A loop over chunks that loads its tiles, waits, and computes leaves the tensor
    cores idle while memory answers. This pass moves the loads of channels
    `stages - 1` steps ahead. Of a loop of step 1 it takes the operations from
    `channel.acquire %c[%i]` to `channel.commit %c[%i]`, with the arithmetic that
    their operands need, and puts them

    * before the loop for the first stages - 1 steps,
    * in the loop for step i + stages - 1, right after the waits of step i that
      the body begins with: the stage that they fill is the one read in step
      i - 1, so that one barrier serves both.

    Loads of steps that do not exist are left out, their commits are not: every
    step commits once per channel, so that the number of commits behind a wait is a
    constant, its `pending`. The channel gets `stages` stages; 0 chooses the most
    of 2 to 4 with which the kernel's tiles fit (1 where not even 2 do).

    Vectors (`tile.load` of rank 1: gates, rates) and scalars (`memref.load`) that
    depend on the loop's variable alone are loaded one step ahead into registers.
    A bound of 0 and a variable that stays in the loop's range keep the last step
    from reading beyond the end.

    A loop that cannot be pipelined stays as it is, and a remark says why.

    Before (`pipeline-loads.mlir`):

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.channel.acquire %ch[%i] : ..
      tile.load_async %k[%row, %c0] .. into %a
      tile.channel.commit %ch[%i]
      %s = tile.channel.wait %ch[%i]
      ..
      tile.channel.release %ch[%i]
    }
    ```

    After (`stages=2`):

    ```mlir
    %a0 = tile.channel.acquire %ch[%c0]
    scf.if %notEmpty { tile.load_async .. into %a0 }
    tile.channel.commit %ch[%c0]
    scf.for %i = %c0 to %n step %c1 {
      %s = tile.channel.wait %ch[%i]
      %i1 = arith.addi %i, %c1
      %a = tile.channel.acquire %ch[%i1]
      scf.if %exists { tile.load_async .. into %a }
      tile.channel.commit %ch[%i1]
      ..
      tile.channel.release %ch[%i]
    }
    ```
  }];
  let options = !listconcat([
    Option<"stages", "stages", "int64_t", "0",
        "Stages of each channel, 1 to 16; 0: chosen by the memory">,
    Option<"branchFree", "branch-free", "bool", "false",
        "A step that does not exist loads nothing by its bounds, not by a branch">
  ], Tile_Shared.options);
  let statistics = [
    Statistic<"numPipelined", "num-pipelined", "Channels filled ahead">,
    Statistic<"numPrefetched", "num-prefetched", "Vectors and scalars loaded a step ahead">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def RaiseStoresPass : Tile_KernelPass<"tile-raise-stores"> {
  let summary = "stores to shared memory as early in a step as their values are there";
  let description = [{
    A `local_store` of 16-bit elements in a loop goes up, with its tile and the elementwise operations
    that nothing else uses, behind the last operation that these need: a state that
    the step begins with to its front. So stores stand together and one barrier
    covers them, where each would need its own between products; and what is rounded
    need not stay in registers. A store that no product stands before, or whose tile
    is used before, stays. Only kernels change whose tiles share no bytes (`spread` of
    `tile-plan-shared-memory`): elsewhere a longer life is more memory.

    Before (`raise-stores.mlir`):

    ```mlir
    scf.for .. iter_args(%s = %s0) {
      %a = tile.channel.wait %ch[%i]
      %p = tile.mma %a, %a, %zero
      %b = arith.truncf %s
      %t = tile.alloc
      tile.local_store %b, %t
    ```

    After:

    ```mlir
    scf.for .. iter_args(%s = %s0) {
      %b = arith.truncf %s
      %t = tile.alloc
      tile.local_store %b, %t
      %a = tile.channel.wait %ch[%i]
      %p = tile.mma %a, %a, %zero
    ```
  }];
  let statistics = [
    Statistic<"numRaised", "num-raised", "Stores moved before a product">
  ];
  let options = Tile_Shared.options;
}

def PlanSharedMemoryPass : Tile_KernelPass<"tile-plan-shared-memory"> {
  let summary = "places every tile of shared memory in one arena";
  let description = [{
    Gives each `alloc` and `channel.create` its `offset` in the kernel's dynamic
    shared memory. A tile lives from its first use to its last; what is made
    outside of a loop and used in it lives through the loop; what is made in the
    body of a loop holds nothing over its end. Tiles whose lives do not meet may
    share bytes. The largest is placed first, each at the lowest place that is
    free. Tiles with a swizzle begin at multiples of 1024 bytes, others at multiples
    of 128.

    Tiles that share bytes need barriers between them. With `spread` kernels of 8 and
    more warps, of which a multiprocessor holds one block for want of registers,
    share none while everything fits.

    `tile.shared_bytes` on the function is the size of the arena. A kernel that
    needs more than the device has is refused, with both numbers and the tiles that
    live where most is needed.

    Before (`plan-shared-memory.mlir`):

    ```mlir
    %a = tile.alloc : !tile.smem<64x64xbf16, swizzle = 128>
    tile.local_store %x, %a
    %y = tile.local_load %a
    %b = tile.alloc : !tile.smem<64x64xbf16, swizzle = 128>
    tile.local_store %y, %b
    ```

    After:

    ```mlir
    %a = tile.alloc {offset = 0 : i64} : !tile.smem<64x64xbf16, swizzle = 128>
    tile.local_store %x, %a
    %y = tile.local_load %a
    %b = tile.alloc {offset = 0 : i64} : !tile.smem<64x64xbf16, swizzle = 128>
    tile.local_store %y, %b
    ```
  }];
  let options = !listconcat([
    Option<"spread", "spread", "bool", "false",
        "Tiles of kernels with 8 warps and more share bytes only where memory is short">
  ], Tile_Shared.options);
  let statistics = [
    Statistic<"numTiles", "num-tiles", "Tiles and channels placed">,
    Statistic<"numBytes", "num-bytes", "Bytes of the arenas">
  ];
}

def InsertBarriersPass : Tile_KernelPass<"tile-insert-barriers"> {
  let summary = "barriers where threads read or overwrite what others wrote or read";
  let description = [{
    An operation that reads bytes of shared memory written since the last barrier,
    or writes bytes read or written since, needs a `tile.barrier` before it. This
    pass follows each tile (slices by their rows and columns, channels by their
    stages, tiles that share bytes by their place in the arena) through loops and
    branches:

    * `load_async` writes its tile; the tile is read after its `wait`, which counts
      as a write of the stage: it makes what a thread copied visible to that thread
      alone;
    * scratch is read and written;
    * steps i + a and i + b of a channel are one stage if a and b are equal modulo
      the stages, also over the loop's back edge, where i grows by 1.

    A barrier stands as late as it can: before the operation that needs it, or
    before the loop or branch around it where the conflict comes from outside.
    Barriers that later ones made superfluous are removed again, one by one. Where
    the kernel has barriers already, they count.

    Before (`insert-barriers.mlir`):

    ```mlir
    tile.local_store %x, %s
    %y = tile.local_load %s
    ```

    After:

    ```mlir
    tile.local_store %x, %s
    tile.barrier
    %y = tile.local_load %s
    ```
  }];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers inserted">
  ];
}

def RemoveConversionsPass : Tile_KernelPass<"tile-remove-conversions"> {
  let summary = "fewer layout conversions, of fewer elements";
  let description = [{
    A conversion between layouts is shuffles. Where canonicalization has folded what
    it can, this pass

    * makes splats and constants in the layout that is asked for;
    * does arithmetic on converted values before the conversion, where a lane holds
      fewer elements there (a vector of 64 in `strided` has 2 in a lane, in `col` 16),
      or where several conversions become one;
    * converts 16-bit values before they are widened, and after they are rounded.

    Before (`remove-conversions.mlir`):

    ```mlir
    %a = tile.convert %x : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
    %b = tile.convert %y : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
    %c = arith.mulf %a, %b : tensor<64xf32, #tile.col>
    ```

    After:

    ```mlir
    %p = arith.mulf %x, %y : tensor<64xf32, #lanes>
    %c = tile.convert %p : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
    ```
  }];
  let statistics = [
    Statistic<"numRemoved", "num-removed", "Conversions less than before">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif
