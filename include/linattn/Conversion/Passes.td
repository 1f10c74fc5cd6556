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

#endif
