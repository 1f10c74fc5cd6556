// RUN: linattn-opt %s --linattn-chunkwise="separate-events" --split-input-file | FileCheck %s

// Two updates of one token: what each sees of each, two systems of [C, C], and the
// four blocks of the inverse. Nothing is interleaved.

// CHECK-LABEL: func.func @two_updates
// CHECK-NOT: tensor.insert_slice
// CHECK-NOT: tensor<128x128xf32>
// The first update's system.
// CHECK: %[[M:.*]] = linattn.decay_product {{.*}} x_order = [1] {{.*}} y_order = [2]
// Of the first by the second, which comes later in its token; of the second by the
// first; the second's own.
// CHECK: linattn.decay_product {{.*}} x_order = [1] {{.*}} y_order = [4]
// CHECK: linattn.decay_product {{.*}} x_order = [3] {{.*}} y_order = [2]
// CHECK: linattn.decay_product {{.*}} x_order = [3] {{.*}} y_order = [4]
// CHECK: linattn.unit_lower_solve {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
// What enters the other system keeps f32; blocks of the inverse are rounded.
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linattn.unit_lower_solve {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
// The read: of both writes.
// CHECK: linattn.decay_product {{.*}} x_order = [5] {{.*}} y_order = [2]
// CHECK: linattn.decay_product {{.*}} x_order = [5] {{.*}} y_order = [4]
// CHECK-NOT: tensor.insert_slice
func.func @two_updates(%q: tensor<?x?x1x16xbf16>, %k: tensor<?x?x1x2x16xbf16>, %v: tensor<?x?x1x2x16xbf16>,
                       %g: tensor<?x?x1xf32>, %s0: tensor<?x1x16x16xf32>) -> (tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xbf16>, %k : tensor<?x?x1x2x16xbf16>, %v : tensor<?x?x1x2x16xbf16>, %g : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x16x16xf32>) -> (tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>) {
  ^step(%qt: vector<16xbf16>, %kt: vector<2x16xbf16>, %vt: vector<2x16xbf16>, %gt: f32, %s: !linattn.state<16x16xf32>):
    %one = arith.constant 1.0 : f32
    %k1 = vector.extract %kt[0] : vector<16xbf16> from vector<2x16xbf16>
    %k2 = vector.extract %kt[1] : vector<16xbf16> from vector<2x16xbf16>
    %v1 = vector.extract %vt[0] : vector<16xbf16> from vector<2x16xbf16>
    %v2 = vector.extract %vt[1] : vector<16xbf16> from vector<2x16xbf16>
    %s1 = linattn.decay %s, %gt : !linattn.state<16x16xf32>, f32
    %s2 = linattn.delta_update %s1, %k1, %v1, %one : !linattn.state<16x16xf32>, vector<16xbf16>, vector<16xbf16>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %one : !linattn.state<16x16xf32>, vector<16xbf16>, vector<16xbf16>, f32
    %ot = linattn.read %s3, %qt : !linattn.state<16x16xf32>, vector<16xbf16>
    linattn.yield %ot, %s3 : vector<16xf32>, !linattn.state<16x16xf32>
  }
  return %o, %sT : tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>
}

// -----

// Two decays over K: one gate per token, and the write between them takes the
// decay that comes after it.

// CHECK-LABEL: func.func @between
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<64x16xf32>
// CHECK: %[[LATER:.*]] = math.exp %{{.*}} : tensor<64x16xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[LATER]], %{{.*}} : tensor<64x16xf32>
// CHECK: linattn.decay_product %{{.*}}, %[[Y]] decay(%[[SUM]] : tensor<64x16xf32>) x_positions = [1] x_order = [3] y_positions = [1] y_order = [1]
// CHECK: linattn.decay_scan event_to_end %[[SUM]] positions = [1]
func.func @between(%q: tensor<?x?x1x16xf32>, %k: tensor<?x?x1x16xf32>, %v: tensor<?x?x1x16xf32>,
                   %g: tensor<?x?x1x16xf32>, %h: tensor<?x?x1x16xf32>, %s0: tensor<?x1x16x16xf32>)
    -> (tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xf32>, %k : tensor<?x?x1x16xf32>, %v : tensor<?x?x1x16xf32>,
             %g : tensor<?x?x1x16xf32>, %h : tensor<?x?x1x16xf32>)
      state(%s0 : tensor<?x1x16x16xf32>) -> (tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>) {
  ^step(%qt: vector<16xf32>, %kt: vector<16xf32>, %vt: vector<16xf32>, %gt: vector<16xf32>, %ht: vector<16xf32>,
        %s: !linattn.state<16x16xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x16xf32>, vector<16xf32>
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<16x16xf32>, vector<16xf32>, vector<16xf32>
    %s3 = linattn.decay %s2, %ht : !linattn.state<16x16xf32>, vector<16xf32>
    %ot = linattn.read %s3, %qt : !linattn.state<16x16xf32>, vector<16xf32>
    linattn.yield %ot, %s3 : vector<16xf32>, !linattn.state<16x16xf32>
  }
  return %o, %sT : tensor<?x?x1x16xf32>, tensor<?x1x16x16xf32>
}
