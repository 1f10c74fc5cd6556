// RUN: linattn-opt %s --linattn-chunkwise="chunk=16 separate-events" --cse | FileCheck %s --check-prefix=CHUNK
// RUN: linattn-opt %s --linattn-to-tile="chunk=16" | FileCheck %s

// Two coupled writes per token whose rates differ between value columns: a system
// for each column, of two unknowns per token. What either sees of either is a
// matrix of its own.
// CHUNK-COUNT-4: linattn.decay_product {{.*}} -> tensor<16x16xf32>
// CHUNK: %[[U:.*]] = linattn.unit_lower_solve rhs({{.*}} : tensor<2x16x16xf32>) matrices({{.*}}) rates(%{{.*}} : tensor<2x16x16xf32>)
// CHUNK: tensor.extract_slice %[[U]][0, 0, 0]
// CHUNK: tensor.extract_slice %[[U]][1, 0, 0]

// CHECK-LABEL: gpu.func @two_updates
// CHECK: tile.unit_lower_solve %[[A:.*]], %[[B:.*]] rates(
// CHECK-SAME: rows [0, 0, 1, 1] from [0, 1, 0, 1]
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
