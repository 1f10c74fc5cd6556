// RUN: not linattn-opt %s --linattn-to-tile 2>&1 | FileCheck %s

// Two coupled writes per token whose rates differ between value columns have one
// system per column, of the events of all tokens.
// CHECK: refuse-column-rates.mlir:[[#@LINE+3]]:{{.*}}: error: 'linattn.unit_lower_solve' op has no form on tiles yet: several writes of a token that depend on reads, at rates that differ between value columns (the token-serial kernel runs it)
func.func @two_updates(%k: tensor<?x?x1x2x16xf32>, %v: tensor<?x?x1x16xf32>, %b: tensor<?x?x1x16xf32>,
                       %s0: tensor<?x1x16x16xf32>) -> tensor<?x1x16x16xf32> {
  %sT = linattn.recurrence tokens(%k : tensor<?x?x1x2x16xf32>, %v : tensor<?x?x1x16xf32>, %b : tensor<?x?x1x16xf32>)
      state(%s0 : tensor<?x1x16x16xf32>) -> (tensor<?x1x16x16xf32>) {
  ^step(%kt: vector<2x16xf32>, %vt: vector<16xf32>, %bt: vector<16xf32>, %s: !linattn.state<16x16xf32>):
    %k1 = vector.extract %kt[0] : vector<16xf32> from vector<2x16xf32>
    %k2 = vector.extract %kt[1] : vector<16xf32> from vector<2x16xf32>
    %s1 = linattn.delta_update %s, %k1, %vt, %bt : !linattn.state<16x16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    %s2 = linattn.delta_update %s1, %k2, %vt, %bt : !linattn.state<16x16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    linattn.yield %s2 : !linattn.state<16x16xf32>
  }
  return %sT : tensor<?x1x16x16xf32>
}
