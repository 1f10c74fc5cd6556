// A position out of range folds to poison; the SIMT lowering took it for a number.
// RUN: not linattn-opt %s --canonicalize --linattn-recurrence-to-simt 2>&1 | FileCheck %s

// CHECK: error: 'ub.poison' op is not lowered to a SIMT kernel: a constant is a number or a vector of numbers (the CPU runs it)
func.func @poisoned(%k: tensor<?x?x1x2x8xf32>, %s0: tensor<?x1x8x8xf32>) -> tensor<?x1x8x8xf32> {
  %s = linattn.recurrence tokens(%k : tensor<?x?x1x2x8xf32>)
      state(%s0 : tensor<?x1x8x8xf32>) -> (tensor<?x1x8x8xf32>) {
  ^step(%kt: vector<2x8xf32>, %st: !linattn.state<8x8xf32>):
    %x = vector.extract %kt[-1] : vector<8xf32> from vector<2x8xf32>
    %s1 = linattn.write %st, %x, %x : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %s : tensor<?x1x8x8xf32>
}
