//===- Passes.td - conversions between levels --------------*- tablegen -*-===//

#ifndef LINATTN_CONVERSION_PASSES
#define LINATTN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ResultsToArguments : Pass<"linattn-results-to-arguments", "::mlir::ModuleOp"> {
  let summary = "turns tensor results of functions into destinations that the caller gives";
  let description = [{
    Memory of results belongs to the caller: a compiled function allocates
    nothing that outlives it. Each tensor result of a function with a body
    becomes a trailing memref argument with free strides (an inner vector
    dimension stays contiguous). A result that is a pool of states updated in
    place (`slots`) gets no argument: it is the argument that holds the pool.

    Before:

    ```mlir
    func.func @f(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
      %y = math.exp %x : tensor<?x4x8xf32>
      return %y : tensor<?x4x8xf32>
    }
    ```

    After:

    ```mlir
    func.func @f(%x: tensor<?x4x8xf32>, %out: memref<?x4x8xf32, strided<[?, ?, ?], offset: ?>>) {
      %y = math.exp %x : tensor<?x4x8xf32>
      bufferization.materialize_in_destination %y in restrict writable %out : ..
      return
    }
    ```

    A companion `f_result_shapes` takes the same inputs and writes the sizes of
    all results, one after another, to a `memref<?xindex>`.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numDestinations", "destinations", "results that became arguments">,
    Statistic<"numInPlace", "in-place", "results that an argument already holds">];
}

def Widen : Pass<"linattn-widen", "::mlir::ModuleOp"> {
  let summary = "turns every float of a module into f64: the oracle";
  let description = [{
    What the equations say, without the roundings of a device: every float type
    becomes f64 (signatures too), `extf` and `truncf` vanish, and what runs is
    the token loop in double precision. The caller gives inputs that are rounded
    to their own types already.
  }];
  let dependentDialects = ["::linattn::LinAttnDialect"];
  let statistics = [Statistic<"numCasts", "casts", "extf and truncf that vanished">];
}

def RecurrenceToLoops : Pass<"linattn-recurrence-to-loops", "::mlir::func::FuncOp"> {
  let summary = "lowers recurrences to token loops for the CPU";
  let description = [{
    The token-serial form of any recurrence: a parallel loop over sequences and
    heads, a loop over tokens, and the state in memory, in the destination
    itself. Consecutive operations on a state become one sweep over its rows:

    ```
    for i < K:  S[i,:] *= f[i];  S[i,:] += k[i] u;  r += x[i] S[i,:]
    ```

    so that a delta rule passes over the state twice a token and not four times.
    A state is copied only where the step reads a version after the update that
    ends it and no other order exists.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"numSweeps", "sweeps", "passes over a state per token">,
    Statistic<"numCopies", "copies", "states copied per token">];
}

def ShortConvToLoops : Pass<"linattn-short-conv-to-loops", "::mlir::func::FuncOp"> {
  let summary = "lowers short convolutions to loops for the CPU";
  let description = [{
    Parallel over sequences and blocks of channels; the last W - 1 inputs of a
    block are carried in registers, so that each input is read once.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "short convolutions lowered">];
}

def AttentionToLoops : Pass<"linattn-attention-to-loops", "::mlir::func::FuncOp"> {
  let summary = "lowers softmax and differential attention to loops for the CPU";
  let description = [{
    The plain form, as the equation says: per query the scores of its allowed
    keys, their maximum, the exponentials and their sum, the weighted values. It
    is the oracle of the tiled forms and takes memory of one row of scores.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "attention operations lowered">];
}

def RecurrenceToSIMT : Pass<"linattn-recurrence-to-simt", "::mlir::ModuleOp"> {
  let summary = "lowers recurrences to token-serial GPU kernels in f32";
  let description = [{
    Every function of the module is one recurrence between its arguments and its
    results, and becomes one kernel in a `gpu.module` of its name; initial states
    may also be filled with one number. Runs any step, also one that has no chunk
    form, and is what decoding uses.

    Decoding (a state with `slots`) is bound by memory. There a thread has 2 (f32)
    or 4 (bf16, f16) adjacent columns, which it loads at once where rows lie beside
    each other and begin at a multiple of 8 bytes, and element by element elsewhere;
    an odd V leaves it one. The lanes of a column stand in different warps, so that
    a warp moves 256 bytes of a row, and sums go through shared memory. What the
    step computes of its token alone (keys, decays, rates, values) each warp does for
    tokens of its own, 8 in all, before the loop: their loads go before those of the
    states, and no token's turn has an exp, or a barrier but for sums. Scalar decays
    wait: reads are multiplied by their product, values of writes divided by it, and
    the state is multiplied once at the end, or when the product leaves
    [2^-30, 2^30].

    A block owns one (sequence, head) and a slice of the value columns; L
    adjacent threads share a column and hold K / L of its rows of every state in
    registers, in groups of 4 rows. Per token:

    ```
    publish   keys and vector decays (e^g) to shared memory; one barrier
    load      the next token's elements
    decay     S[i] *= f[i]
    read      r = sum_i S[i] x[i], by fma, then over the L lanes by shuffles
    write     S[i] += k[i] u
    output    one lane of each column
    ```

    A value of the step is computed where it is needed: for the thread's column,
    or for the elements that it publishes. Values of other columns (a norm of an
    output, a read along what another read returned) go through shared memory
    with a barrier more, and keep all columns in one block.

    The kernel takes, for every tensor of the function that is used, a pointer and
    a stride in elements per dimension (a contiguous inner dimension has none),
    arguments first, then results; then T and N. Its attribute `linattn.kernel`
    says all that a launcher needs. A pool of states (`slots`) is updated in
    place and is one parameter.

    Before:

    ```mlir
    func.func @f(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %s0: tensor<?x2x8x4xf32>)
        -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
      %o, %sT = linattn.recurrence tokens(%k : .., %v : ..) state(%s0 : ..) -> (..) {
      ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %s: !linattn.state<8x4xf32>):
        %s1 = linattn.write %s, %kt, %vt : ..
        %ot = linattn.read %s1, %kt : ..
        linattn.yield %ot, %s1 : ..
      }
      return %o, %sT : ..
    }
    ```

    After, shortened:

    ```mlir
    gpu.module @f {
      llvm.mlir.global internal @f_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x f32>
      llvm.func @f(%k: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %k_b: i64, %k_t: i64, %k_h: i64, ..)
          attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, linattn.kernel = {..}} {
        ..
        scf.for %t = %begin to %end step %c1 iter_args(%row0 = .., %row7 = .., %k_next = .., %v_next = ..) {
          scf.if %publishes { llvm.store %k_next, .. }
          nvvm.barrier
          ..
          %row0_new = math.fma %k0, %u, %row0 : f32
          ..
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def ShortConvToSIMT : Pass<"linattn-short-conv-to-simt", "::mlir::ModuleOp"> {
  let summary = "lowers short convolutions to GPU kernels";
  let description = [{
    A function that is one short convolution between its arguments and its results
    becomes a kernel in a `gpu.module` of its name; other functions stay. The
    window may also be filled with one number.

    The kernel moves every input once, so that memory bounds it: a thread owns 8
    bytes of adjacent channels in a run of 32 tokens, keeps the last W - 1 inputs
    and the weights in registers, and has the loads of eight tokens under way
    together. What was before its run it reads again (3 tokens for 32, from the
    second-level cache). Runs of all sequences stand beside each other in one
    grid, packed ones are found by bisection of the offsets. The run that holds
    the end of a sequence writes the window that remains.

    Channels are contiguous in the input and the result; where the addresses or
    strides of a call are no multiples of 8 bytes the kernel takes another branch
    with single elements. Weights, bias and windows have free strides.

    The kernel takes what those of `linattn-recurrence-to-simt` take: pointers and
    strides of arguments and results, T and N.

    Before:

    ```mlir
    func.func @f(%x: tensor<?x?x64xbf16>, %w: tensor<64x4xf32>) -> tensor<?x?x64xbf16> {
      %y = linattn.short_conv %x, %w activation silu : (..) -> (tensor<?x?x64xbf16>)
      return %y : tensor<?x?x64xbf16>
    }
    ```

    After, shortened:

    ```mlir
    gpu.module @f {
      llvm.func @f(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %x_b: i64, %x_t: i64, ..)
          attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, linattn.kernel = {..}} {
        ..
        scf.for %t = %first to %middle step %c8 iter_args(%x0_1 = .., %x0_2 = .., %x0_3 = .., ..) {
          %x = llvm.load .. {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
          ..
          %sum = math.fma %w0_3, %x0, ..
          ..
          llvm.store %y, .. {alignment = 8 : i64} : vector<4xbf16>, !llvm.ptr<1>
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def ExpandMath : Pass<"linattn-expand-math"> {
  let summary = "expands math functions on f32 in arithmetic";
  let description = [{
    GPUs have no library of functions unless a toolkit is at hand, and their fast
    instructions err with a preferred sign: e^g by `ex2.approx` drifts over
    thousands of tokens. `exp` and `exp2` are expanded by an own polynomial (less
    than one ulp, unbiased; -inf gives 0, NaN stays NaN, results below the normal
    range are rounded right), `rsqrt` as 1 / sqrt(x), the others by MLIR's
    polynomials. What has an instruction stays; what has neither is refused by
    name.

    Before:

    ```mlir
    %y = math.rsqrt %x : f32
    ```

    After:

    ```mlir
    %one = arith.constant 1.0 : f32
    %root = math.sqrt %x : f32
    %y = arith.divf %one, %root : f32
    ```
  }];
  let options = [Option<"keepOthers", "keep-others", "bool", "false",
    "leave functions without an expansion, and f64, to the C library">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numExpanded", "expanded", "math operations expanded">];
}

def MathCalls : Pass<"linattn-math-calls", "::mlir::ModuleOp"> {
  let summary = "calls the C library for functions that LLVM has no intrinsic for";
  let description = [{
    `log1p`, `expm1`, `erf`, `cbrt` and inverse hyperbolic functions. The upstream
    pass would turn every function into scalar calls, fused multiply-adds too;
    what has an intrinsic stays a vector.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::vector::VectorDialect"];
}

def ChunkedToLoops : Pass<"lower-chunked-to-loops", "::mlir::func::FuncOp"> {
  let summary = "lowers the chunk form to loops of tensor code for the CPU";
  let description = [{
    A parallel loop over sequences and heads, and one loop over chunks. Its body
    works on copies of the chunk's tokens, behind which zeros stand for what the
    last chunk of a sequence lacks; outputs of tokens that exist are copied back.
    So one body serves every chunk, its tiles are contiguous, and masks of what is
    0 behind the end anyway vanish. The state of a head stays in its destination;
    the state after a chunk is made in scratch memory and copied there last, which
    keeps bufferization in place whatever was fused (--linattn-tiles-to-vectors
    removes the copy). Rows of the next chunk are prefetched, and products with a
    decay product leave out what lies after a token.

    Roundings of the operands of products are dropped, since a CPU multiplies in
    f32 anyway; `keep-rounding` keeps them and shows what a GPU will err.
  }];
  let options = [Option<"keepRounding", "keep-rounding", "bool", "false",
    "round the operands of products as the region says">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "chunked operations lowered">];
}

def AttentionTilesToLoops : Pass<"lower-attention-tiles-to-loops", "::mlir::func::FuncOp"> {
  let summary = "lowers attention on tiles to loops of tensor code for the CPU";
  let description = [{
    A parallel loop over sequences and heads, a loop over query tiles, and one
    over the key tiles in which some pair is allowed: tiles that are masked as a
    whole are not visited. Tiles are copied, with zeros behind the last row; the
    carried values lie in scratch memory of the head and are made anew per query
    tile. Memory does not grow with the length.

    Roundings of the operands of products are dropped, since a CPU multiplies in
    f32 anyway; `keep-rounding` keeps them and shows what a GPU will err.
  }];
  let options = [Option<"keepRounding", "keep-rounding", "bool", "false",
    "round the operands of products as the regions say">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "tiled attention operations lowered">];
}

def ChunkedToTile : Pass<"chunked-to-tile", "::mlir::ModuleOp"> {
  let summary = "lowers the chunk form to a GPU kernel on tiles";
  let description = [{
    Every function of the module is one `chunked` between its arguments and its
    results, and becomes one kernel of the tile dialect in a `gpu.module` of its
    name, under plan *single*: a block owns one (sequence, head) and a slice of the
    value columns, and walks over the chunks with the state in registers.

    Matrices of value columns are held transposed. State^T [V, K] has its rows over
    the warps, so that in the chain

    ```
    R^T = S^T X^T     U^T = (c + B R)^T T^T     O^T = .. + U^T P^T     S^T = e^G S^T + U^T Y
    ```

    every product takes its left operand from registers and each warp works on its
    own columns, without a barrier. What does not depend on the state (P, T, their
    decays) is made by all warps together, token rows over warps, and goes through
    shared memory to the chain.

    With `segments = n` a sequence is cut into n pieces of whole chunks (plan
    *segmented*, docs/Plans.md): kernels for the end of every piece from state 0 and
    from the identity, one that makes the starts of them, and the kernel above for
    every piece from its start.

    Columns are cut only if no operation combines them (`DimClasses`); otherwise one
    block has all. What combines columns of outputs alone, such as a norm, becomes a
    kernel of its own where that gives slices (`outputs`, docs/Plans.md). Sizes are padded inside the block; what is padded is never read
    or written in memory.

    Before:

    ```mlir
    %o, %sT = linattn.chunked chunk = 64 tokens(%q : tensor<?x?x2x64xbf16>, ..) state(%s0 : ..) -> (..) { .. }
    ```

    After, shortened:

    ```mlir
    gpu.func @f(%q: memref<?x?x2x64xbf16, strided<[?, ?, ?, 1]>>, .., %T: index, %N: index) kernel {
      %s0t = tile.load %s0[%n, %h, %c0, %c0] dims = [3, 2] .. -> tensor<64x64xf32, #tile.acc<warps = 4>>
      %c = tile.channel.create : !tile.channel<1, !tile.smem<64x64xbf16, swizzle = 128>, ..>
      scf.for %i = %c0 to %chunks step %c1 iter_args(%st = %s0t) {
        %kt, %qt, %vt = tile.channel.wait %c[%i] ..
        %p = tile.mma %qt, %kT, %zero ..
        ..
      }
    }
    ```
  }];
  let options = [
    Option<"warps", "warps", "int64_t", "0", "warps of a block; 0 chooses">,
    Option<"split", "split", "int64_t", "-1",
           "1: what does not depend on the state in a kernel of its own; 0: in one "
           "kernel; -1 chooses">,
    Option<"columnParts", "column-parts", "int64_t", "0",
           "parts of the columns of matrices in registers, each of other warps; 0 "
           "chooses">,
    Option<"slice", "slice", "int64_t", "0",
           "value columns of a block; 0 chooses">,
    Option<"outputs", "outputs", "int64_t", "-1",
           "1: what of outputs mixes value columns in a kernel of its own; 0: where "
           "the states are; -1 chooses">,
    Option<"segments", "segments", "int64_t", "1",
           "pieces of a sequence that run beside each other; of chunk forms with "
           "transitions (--linattn-add-transitions)">];
  let dependentDialects = ["::linattn::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def AttentionTilesToTile : Pass<"linattn-attention-tiles-to-tile", "::mlir::ModuleOp"> {
  let summary = "lowers attention on tiles to a GPU kernel on tiles";
  let description = [{
    Every function of the module is one `attention_tiles` between its arguments and
    its results, and becomes one kernel of the tile dialect in a `gpu.module` of its
    name. A block owns a query tile of one sequence and head; carried values are in
    its registers, keys and values come through a channel.

    A score's scale goes where it costs nothing: maxima are taken of what is not
    scaled, and e^(c s - m) is 2^(c' s - m'), one multiply-add and one instruction
    of the hardware per element. Only key tiles at a border of what is allowed
    select. Products with the same right operand are made together: both maps of
    differential attention read each tile of keys or values once.

    Tiles of one head follow each other in the grid, the longest of causal ones
    first. Key tiles without an allowed pair are not visited.

    Tables that the score region reads are tiles of memory; an index that combines
    query and key is refused by name, as is what computes on keys before a product.

    What a number per head is made of before the operation is computed by the rows
    that read it: lambda of a differential attention of its four vectors, two sums
    over the columns of a tile. Sums are over the last dimension of arguments, or
    have at most 64 terms; other arithmetic before the operation is refused.

    Values that do not fit the registers are shared out. Blocks take parts of the
    value columns where the regions go column by column. Else carried values that need
    none of the others, as either map of a differential attention, go over the keys
    one after another: those that are done wait in shared memory, and `finish` has
    whole rows, of which it makes 64 columns at a time.

    With `split-keys = n` there are two kernels, for few queries and many keys
    (decoding with a cache). A block of the first owns a query tile and about n of
    its sequence's keys, and writes the running maximum m, sum l and weighted values
    acc of this part; the second combines the parts of a query tile in their order,

    ```
    m' = max(m, m_j)   l' = e^(m - m') l + e^(m_j - m') l_j   acc' = e^(m - m') acc + e^(m_j - m') acc_j
    ```

    and runs `finish`. The query heads that share a head of keys are rows of one
    query tile, so that the cache is read once; where the regions ask for the head
    or the place of a query, each head has tiles of its own. The parts of a sequence are equally long,
    in whole key tiles; one of several query tiles has fewer parts.

    Before:

    ```mlir
    %o = linattn.attention_tiles heads = 2 query_tile = 64 key_tile = 64 causal queries(..) .. step { .. } finish { .. } -> (..)
    ```

    After, shortened:

    ```mlir
    gpu.func @f(%q: memref<?x?x2x64xbf16, strided<[?, ?, ?, 1]>>, .., %T: index, %N: index, %S: index) kernel {
      %cq = tile.channel.create : !tile.channel<1, !tile.smem<64x64xbf16, swizzle = 128>>
      %ck = tile.channel.create : !tile.channel<1, !tile.smem<64x64xbf16, swizzle = 128>, ..>
      scf.for %i = %first to %last step %c1 iter_args(%m = .., %l = .., %acc = ..) {
        %k, %v = tile.channel.wait %ck[%i] ..
        %s = tile.mma %q, %kT, %zero ..
        ..
        %p = math.exp2 %x fastmath<afn> ..
        %next = tile.mma %p16, %v, %scaled ..
      }
    }
    ```
  }];
  let options = [
    Option<"warps", "warps", "int64_t", "0", "warps of a block; 0 chooses">,
    Option<"splitKeys", "split-keys", "int64_t", "0",
           "keys of a part, which are combined by a second kernel; 0: no parts">];
  let dependentDialects = ["::linattn::tile::TileDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def TilesToVectors : Pass<"linattn-tiles-to-vectors", "::mlir::func::FuncOp"> {
  let summary = "lowers linalg on tiles in memory to register-blocked vector code";
  let description = [{
    Inside parallel loops, after bufferization. A matrix product becomes loops
    over blocks of 6 rows and 16 columns whose sums stay in registers (16 vector
    registers of an AVX2 machine: 12 sums, 2 columns, 1 row element); the columns
    are packed first, so that the innermost loop reads them in order; a product
    that adds to a fill with zeros starts from zeros in registers. A transposition
    goes by blocks of 8x8. Tiles whose lives do not meet share memory, and a state
    that would be made in scratch memory and copied home is made there, if nothing
    reads the old one any more. Elementwise operations, copies and reductions of the
    last dimension become loops over vectors of it, the rest plain loops.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::affine::AffineDialect"];
  let statistics = [
    Statistic<"numProducts", "products", "matrix products lowered">,
    Statistic<"numTransposes", "transposes", "transpositions lowered">];
}

def ConvertTileToNVVM : Pass<"convert-tile-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels on tiles to what one lane does: scalars, llvm and nvvm";
  let description = [{
    Each `gpu.func` with `tile.warps` becomes an `llvm.func`. A tensor in registers
    becomes one scalar per element that a lane holds (a 16-bit matrix in `acc`: a
    vector of two neighbours, which is a register of an mma), also where loops
    carry it; `arith` and `math` on tensors are repeated per register. A tile of
    shared memory becomes addresses in one external array of which the launch
    gives the size; offsets of tiles, of rows and of panels are constants, so that
    few registers hold what differs by lane.

    Products are `mma.sync` with `ldmatrix`; loads in the background `cp.async`;
    vectors move between lanes by `shfl`. `stmatrix` is used from sm_90 on.

    Before:

    ```mlir
    gpu.func @k(%out: memref<?x8xf32, strided<[8, 1]>>) kernel attributes {tile.warps = 1 : i64} {
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0> : tensor<16x8xf32, #tile.acc<warps = 1>>
      tile.store %one, %out[%c0, %c0] dims = [0, 1]
          : tensor<16x8xf32, #tile.acc<warps = 1>>, memref<?x8xf32, strided<[8, 1]>>
      gpu.return
    }
    ```

    After:

    ```mlir
    llvm.func @k(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
      %one = arith.constant 1.0 : f32
      ..
      llvm.store %one, %p : f32, !llvm.ptr<1>
      llvm.return
    }
    ```

    A kernel that counts on many registers says so (`tile.registers`, an estimate):
    what its loops use once a step is then not made before them.

    A memref argument becomes a pointer and one i64 for each stride that is not
    known. `linattn.kernel` gets the threads of a block and the bytes of the arena.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_90a\"",
    "the GPU, such as sm_80">];
  let statistics = [Statistic<"numKernels", "kernels", "kernels translated">];
}

#endif
