// A key that meets an f64 state and one that computes in f32 needs a copy in each
// type: the copy made for the first state was used for the second.
// RUN: linattn-opt %s --linattn-to-cpu-serial -o /dev/null
// RUN: linattn-opt %s --linattn-recurrence-to-loops | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-DAG: memref.alloc() : memref<4xf64>
// CHECK-DAG: memref.alloc() : memref<4xf32>
func.func @f(%k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x1xf32>, %s: tensor<?x1x4x1xf64>, %z: tensor<?x1x4x1xbf16>)
    -> (tensor<?x?x1x1xf64>, tensor<?x?x1x1xf32>, tensor<?x1x4x1xf64>, tensor<?x1x4x1xbf16>) {
  %o, %p, %sT, %zT = linattn.recurrence tokens(%k : tensor<?x?x1x4xf32>, %v : tensor<?x?x1x1xf32>)
      state(%s : tensor<?x1x4x1xf64>, %z : tensor<?x1x4x1xbf16>)
      -> (tensor<?x?x1x1xf64>, tensor<?x?x1x1xf32>, tensor<?x1x4x1xf64>, tensor<?x1x4x1xbf16>) {
  ^step(%kt: vector<4xf32>, %vt: vector<1xf32>, %st: !linattn.state<4x1xf64>, %zt: !linattn.state<4x1xbf16>):
    %s1 = linattn.write %st, %kt, %vt : !linattn.state<4x1xf64>, vector<4xf32>, vector<1xf32>
    %z1 = linattn.write %zt, %kt, %vt : !linattn.state<4x1xbf16>, vector<4xf32>, vector<1xf32>
    %ot = linattn.read %s1, %kt : !linattn.state<4x1xf64>, vector<4xf32>
    %pt = linattn.read %z1, %kt : !linattn.state<4x1xbf16>, vector<4xf32>
    linattn.yield %ot, %pt, %s1, %z1
        : vector<1xf64>, vector<1xf32>, !linattn.state<4x1xf64>, !linattn.state<4x1xbf16>
  }
  return %o, %p, %sT, %zT
      : tensor<?x?x1x1xf64>, tensor<?x?x1x1xf32>, tensor<?x1x4x1xf64>, tensor<?x1x4x1xbf16>
}
