// RUN: linattn-opt %s --linattn-tile-attention="query-tile=16 key-tile=32" --cse | FileCheck %s
// RUN: linattn-opt %s --linattn-tile-attention --linattn-tile-attention --verify-roundtrip -o /dev/null
// RUN: not linattn-opt %s --linattn-tile-attention=key-tile=48 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: key-tile is a power of 2 from 4 to 256, got 48
// RUN: not linattn-opt %s --linattn-tile-attention=mma=f8 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: error: mma is f32, tf32x3, bf16, f16 or bf16x2, got 'f8'
// RUN: not linattn-opt %s --linattn-tile-attention=slack=9 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: slack lies in [0, 8], got 9
// RUN: linattn-opt %s --linattn-tile-attention=slack=5.5 --cse | FileCheck %s --check-prefix=SLACK
// A maximum that grows by 5.5 at most stays.
// SLACK-LABEL: func @softmax
// SLACK:       ^bb0({{.*}}, %[[M:.*]]: tensor<64xf32>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<64x4xf32>):
// SLACK:         %[[SEEN:.*]] = linalg.reduce {{.*}} outs(%[[M]] : tensor<64xf32>)
// SLACK:         %[[BY:.*]] = arith.subf %[[SEEN]], %[[M]]
// SLACK:         %[[GROWN:.*]] = arith.cmpf ugt, %[[BY]], %{{.*}}
// SLACK:         %[[M1:.*]] = arith.select %[[GROWN]], %[[SEEN]], %[[M]]
// SLACK:         linattn.yield %[[M1]]

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[GROUP:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-DAG: #[[KEY1:.*]] = affine_map<(d0) -> ((d0 floordiv 2) * 2)>
// CHECK-DAG: #[[KEY2:.*]] = affine_map<(d0) -> ((d0 floordiv 2) * 2 + 1)>

// bf16 operands meet as they are; the weights are rounded, the sum is not.
// CHECK-LABEL: func @softmax
// CHECK:       linattn.attention_tiles heads = 4 query_tile = 16 key_tile = 32 causal
// CHECK-SAME:    queries(%{{.*}}) query_heads = [#[[ID]]]
// CHECK-SAME:    keys(%{{.*}}) key_heads = [#[[GROUP]], #[[GROUP]]]
// CHECK-SAME:    init = [0xFFF0000000000000 : f64, 0.000000e+00, 0.000000e+00] step {
// CHECK:       ^bb0({{.*}}, %[[ALLOWED:allowed]]: tensor<16x32xi1>, %[[Q:.*]]: tensor<16x8xbf16>, %[[K:.*]]: tensor<32x8xbf16>, %[[V:.*]]: tensor<32x4xbf16>, %[[M:.*]]: tensor<16xf32>, %[[L:.*]]: tensor<16xf32>, %[[ACC:.*]]: tensor<16x4xf32>):
// CHECK:         %[[KT:.*]] = linalg.transpose ins(%[[K]]
// CHECK:         linalg.matmul ins(%[[Q]], %[[KT]] : tensor<16x8xbf16>, tensor<8x32xbf16>)
// CHECK:         %[[S:.*]] = arith.select %[[ALLOWED]]
// CHECK:         %[[M1:.*]] = linalg.reduce ins(%[[S]] : tensor<16x32xf32>) outs(%[[M]] : tensor<16xf32>)
// CHECK:         %[[P:.*]] = math.exp %{{.*}} : tensor<16x32xf32>
// CHECK:         %[[A:.*]] = math.exp %{{.*}} : tensor<16xf32>
// CHECK:         %[[AL:.*]] = arith.mulf %[[A]], %[[L]]
// CHECK:         %[[L1:.*]] = linalg.reduce ins(%[[P]] : tensor<16x32xf32>) outs(%[[AL]] : tensor<16xf32>)
// CHECK:         %[[PR:.*]] = arith.truncf %[[P]]
// CHECK:         %[[ACC1:.*]] = linalg.matmul ins(%[[PR]], %[[V]] : tensor<16x32xbf16>, tensor<32x4xbf16>)
// CHECK:         linattn.yield %[[M1]], %[[L1]], %[[ACC1]]
// CHECK:       } finish {
// CHECK:         arith.divf
// CHECK:         math.log
// CHECK:         linattn.yield %{{.*}}, %{{.*}} : tensor<16x4xbf16>, tensor<16xf32>
func.func @softmax(%q: tensor<?x?x4x8xbf16>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x4xbf16>)
    -> (tensor<?x?x4x4xbf16>, tensor<?x?x4xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x4x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x4xbf16>) -> (tensor<?x?x4x4xbf16>, tensor<?x?x4xf32>)
  return %o, %lse : tensor<?x?x4x4xbf16>, tensor<?x?x4xf32>
}

// Where a pair is not allowed the table is read at place 0.
// CHECK-LABEL: func @score
// CHECK:       linalg.generic
// CHECK:       ^bb0(%{{.*}}: f32, %[[IN:.*]]: i1, %{{.*}}: f32):
// CHECK:         %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : index
// CHECK:         tensor.extract %{{.*}}[%[[AT]]]
func.func @score(%q: tensor<?x?x2x8xf32>, %bias: tensor<9xf32>) -> tensor<?x?x2x8xf32> {
  %o = linattn.softmax_attention %q, %q, %q score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %d = arith.subi %t, %j : index
    %x = tensor.extract %bias[%d] : tensor<9xf32>
    linattn.yield %x : f32
  } : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// Two maps over one pass of the values.
// CHECK-LABEL: func @diff
// CHECK:       linattn.attention_tiles heads = 2
// CHECK-SAME:    query_heads = [#[[FIRST]], #[[SECOND]]]
// CHECK-SAME:    key_heads = [#[[KEY1]], #[[KEY2]], #[[GROUP]]]
// CHECK-COUNT-4: linalg.matmul
// CHECK:       } finish {
// CHECK-NOT:   linalg.matmul
func.func @diff(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x1x8xf32>, %lam: tensor<2xf32>)
    -> tensor<?x?x2x8xf32> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<2xf32>) -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}
