// The chunk form as loops: sequences and heads in parallel, one loop over chunks
// whose body serves whole chunks and the rest of a sequence.
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 --lower-chunked-to-loops | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 --lower-chunked-to-loops=keep-rounding | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 --lower-chunked-to-loops | FileCheck %s --check-prefix=GONE
// All memory of a chunk is outside its loop.
// RUN: linattn-opt %s --linattn-to-cpu=chunk=16 --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: linattn-opt %s --linattn-to-cpu="chunk=16 keep-rounding" --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: linattn-opt %s --linattn-to-cpu=chunk=64 --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY64

// CHECK-LABEL: func.func @gated_delta(
// CHECK-NOT: linattn.chunked
// CHECK: scf.parallel
// CHECK: scf.for %[[AT:.+]] = %{{.+}} to %[[END:.+]] step %c16
// CHECK: %[[LEFT:.+]] = arith.subi %[[END]], %[[AT]]
// CHECK: %[[ROWS:.+]] = arith.minui %[[LEFT]], %c16
// The tokens that exist are copied, zeros follow them.
// CHECK: memref.subview %{{.+}}[%{{.+}}, %[[AT]], %{{.+}}, 0] [1, %[[ROWS]], 1, 16] [1, 1, 1, 1] : memref<?x?x1x16xbf16, {{.+}}> to memref<?x16xbf16, {{.+}}>
// CHECK: memref.copy
// CHECK: %[[MISSING:.+]] = arith.subi %c16{{.*}}, %[[ROWS]]
// CHECK: %[[REST:.+]] = memref.subview %{{.+}}[%[[ROWS]], 0] [%[[MISSING]], 16]
// CHECK: linalg.fill ins(%{{.+}}) outs(%[[REST]]

// What is 0 behind the end since the tokens are is not masked again.
// FULL-NOT: arith.select
// Nothing is rounded but the output, and there is one body.
// FULL-NOT: arith.truncf
// FULL: linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<16x16xf32>, tensor<16x12xf32>)
// FULL-NOT: arith.truncf
// FULL: arith.truncf %{{.+}} : tensor<16x12xf32> to tensor<16x12xbf16>
// FULL-NOT: arith.truncf
// FULL-NOT: scf.if
// FULL: return

// The state, T and its right-hand side, P and U are rounded before their products.
// KEEP: arith.truncf %{{.+}} : tensor<16x12xf32> to tensor<16x12xbf16>
// KEEP: linalg.matmul ins(%{{.+}}, %{{.+}}
// KEEP: arith.truncf %{{.+}} : tensor<16x16xf32> to tensor<16x16xbf16>
// KEEP: arith.truncf %{{.+}} : tensor<16x12xf32> to tensor<16x12xbf16>
// KEEP: linalg.matmul
// KEEP: arith.truncf %{{.+}} : tensor<16x16xf32> to tensor<16x16xbf16>
// KEEP: arith.truncf %{{.+}} : tensor<16x12xf32> to tensor<16x12xbf16>
// KEEP: linalg.matmul
// KEEP: return

// No operation of a chunk is left.
// GONE-NOT: linattn.

// MEMORY-LABEL: func.func @gated_delta(
// MEMORY: scf.parallel
// MEMORY: memref.alloc
// MEMORY: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c16
// MEMORY-NOT: memref.alloc(
// MEMORY: scf.reduce
// MEMORY64-LABEL: func.func @gated_delta(
// MEMORY64: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c64
// MEMORY64-NOT: memref.alloc(
// MEMORY64: scf.reduce
func.func @gated_delta(%q: tensor<?x?x1x16xbf16>, %k: tensor<?x?x1x16xbf16>, %v: tensor<?x?x2x12xbf16>,
    %g: tensor<?x?x2xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x16x12xf32>)
    -> (tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xbf16>, %k : tensor<?x?x1x16xbf16>, %v : tensor<?x?x2x12xbf16>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x16x12xf32>)
      -> (tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>) {
  ^step(%qt: vector<16xbf16>, %kt: vector<16xbf16>, %vt: vector<12xbf16>, %gt: f32, %bt: f32, %s: !linattn.state<16x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<16x12xf32>, vector<16xbf16>, vector<12xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<16x12xf32>, vector<16xbf16>
    %ob = arith.truncf %ot : vector<12xf32> to vector<12xbf16>
    linattn.yield %ob, %s2 : vector<12xbf16>, !linattn.state<16x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>
}
