// Keeps the smallest module that still holds a delta update.
// RUN: linattn-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-delta-update.sh' | FileCheck %s
// RUN: linattn-reduce --help | FileCheck %s --check-prefix=HELP

// HELP: reduction-tree

// CHECK: linattn.delta_update
// CHECK-NOT: @unused
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @kept(%k: tensor<1x1x1x4xf32>, %s0: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %s = linattn.recurrence tokens(%k : tensor<1x1x1x4xf32>)
      state(%s0 : tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>) {
  ^step(%kt: vector<4xf32>, %st: !linattn.state<4x4xf32>):
    %one = arith.constant 1.0 : f32
    %s1 = linattn.delta_update %st, %kt, %kt, %one
        : !linattn.state<4x4xf32>, vector<4xf32>, vector<4xf32>, f32
    linattn.yield %s1 : !linattn.state<4x4xf32>
  }
  return %s : tensor<1x1x4x4xf32>
}
