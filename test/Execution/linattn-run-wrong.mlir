// A result that is not what the equation says, since f32 cancels here, is told
// from a right one: exit code 1 with --verify, and 0 in double precision.
//
// RUN: not linattn-run %s --size B=2,T=3 --verify | FileCheck %s
// RUN: linattn-run %s --size B=2,T=3 --verify --precision=fp64 | FileCheck %s --check-prefix=FP64
// RUN: linattn-run %s --size B=2,T=3 | FileCheck %s --check-prefix=BLIND
//
// CHECK: @cancels on cpu, serial lowering, fp32; gates usual, seed 0
// CHECK: inputs   x        f32   2x3x2x4            value
// CHECK: results  0        f32   2x3x2x4
// CHECK: verify   type  shape               rel. RMS     worst (sequence, head)    limit verdict
// CHECK: 0        f32   2x3x2x4             {{.*}} ({{[01], [01]}}) 1.0e-04 WRONG
//
// FP64: 0        f64   2x3x2x4 {{.*}} 1.0e-12 ok
//
// BLIND: compiled in
// BLIND-NOT: verdict
func.func @cancels(%x: tensor<?x?x2x4xf32> {linattn.name = "x"}) -> tensor<?x?x2x4xf32> {
  %o = linattn.recurrence tokens(%x : tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>) {
  ^step(%xt: vector<4xf32>):
    %large = arith.constant dense<1.0e6> : vector<4xf32>
    %up = arith.addf %xt, %large : vector<4xf32>
    %down = arith.subf %up, %large : vector<4xf32>
    linattn.yield %down : vector<4xf32>
  }
  return %o : tensor<?x?x2x4xf32>
}
