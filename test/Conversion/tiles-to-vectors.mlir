// Tiles as vector code, where the CPU pipeline makes it: products in register
// blocks, transpositions in blocks of 8x8, no named operation left.
// (Printed where the tiles' memory has been taken out of the loop over chunks.)
// RUN: linattn-opt %s --linattn-to-cpu=chunk=16 --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHECK
// RUN: linattn-opt %s --linattn-to-cpu="chunk=16 keep-rounding" --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHECK
// RUN: linattn-opt %s --linattn-to-cpu=chunk=16 --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefixes=LEFT,FULL --implicit-check-not=linalg.
// RUN: linattn-opt %s --linattn-to-cpu="chunk=16 keep-rounding" --mlir-disable-threading --mlir-print-ir-after=buffer-loop-hoisting -o /dev/null 2>&1 | FileCheck %s --check-prefixes=LEFT,KEEP --implicit-check-not=linalg.

// LEFT-LABEL: func.func @gated_delta(
// LEFT: scf.parallel


// The panel of columns, then 6 rows of sums that stay in registers along K.
// CHECK-LABEL: func.func @gated_delta(
// CHECK: scf.parallel
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c16
// CHECK-NOT: memref.alloc(
// The tokens are copied by vectors of their last dimension.
// CHECK: vector.load %{{.+}} : memref<?x16xbf16, {{.+}}>, vector<16xbf16>
// CHECK-NEXT: vector.store
// CHECK: vector.store %{{.+}}, %[[PANEL:.+]][%{{.+}}, %{{.+}}] : memref<16x16xf32{{.*}}>, vector<12xf32>
// CHECK-NOT: memref.alloc(
// What adds to zeros starts with them.
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c6
// CHECK-NOT: vector.load
// CHECK: %{{.+}}:6 = scf.for {{.+}} iter_args(%{{.+}} = %cst{{.*}}, %{{.+}} = %cst
// CHECK: vector.load %[[PANEL]][
// CHECK-COUNT-6: arith.mulf %{{.+}}, %{{.+}} fastmath<contract> : vector<12xf32>
// CHECK: vector.transpose %{{.+}}, [1, 0] : vector<8x8x{{b?}}f{{16|32}}> to vector<8x8x{{b?}}f{{16|32}}>
// What adds to something loads it.
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c6
// CHECK-COUNT-6: vector.load %{{.+}} : memref<16x12xf32{{.*}}>, vector<12xf32>
// CHECK-NOT: memref.alloc(
// CHECK: scf.reduce

// The output alone is rounded; keep-rounding keeps six operands of products too.
// FULL-NOT: arith.truncf
// FULL: scf.for
// FULL: arith.truncf
// FULL-NOT: arith.truncf
// KEEP-COUNT-7: arith.truncf
// KEEP-NOT: arith.truncf
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
