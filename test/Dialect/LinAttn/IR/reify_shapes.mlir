// The sizes of every result follow from the operands'.
// RUN: linattn-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -cse -split-input-file | FileCheck %s

// B and T from the tokens, N from the state, ceil(T / 64) chunks.
// CHECK-DAG: #[[CEIL:.+]] = affine_map<()[s0] -> (s0 ceildiv 64)>
// CHECK-LABEL: func.func @recurrence(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x?x2x4xf32>, %[[S:[^:]+]]: tensor<?x2x4x8xf32>
func.func @recurrence(%q: tensor<?x?x2x4xf32>, %s: tensor<?x2x4x8xf32>)
    -> (index, index, index, index, index, index, index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
  // CHECK-DAG: %[[C8:.+]] = arith.constant 8 : index
  // CHECK-DAG: %[[B:.+]] = tensor.dim %[[Q]], %[[C0]]
  // CHECK-DAG: %[[T:.+]] = tensor.dim %[[Q]], %[[C1]]
  // CHECK-DAG: %[[N:.+]] = tensor.dim %[[S]], %[[C0]]
  // CHECK-DAG: %[[M:.+]] = affine.apply #[[CEIL]]()[%[[T]]]
  // CHECK: return %[[B]], %[[T]], %[[C8]], %[[N]], %[[C4]], %[[B]], %[[M]], %[[C2]]
  %o, %sT, %all = linattn.recurrence tokens(%q : tensor<?x?x2x4xf32>) state(%s : tensor<?x2x4x8xf32>)
      snapshots(every = 64) -> (tensor<?x?x2x8xf32>, tensor<?x2x4x8xf32>, tensor<?x?x2x4x8xf32>) {
  ^step(%qt: vector<4xf32>, %st: !linattn.state<4x8xf32>):
    %r = linattn.read %st, %qt : !linattn.state<4x8xf32>, vector<4xf32>
    linattn.yield %r, %st : vector<8xf32>, !linattn.state<4x8xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %o, %c0 : tensor<?x?x2x8xf32>
  %1 = tensor.dim %o, %c1 : tensor<?x?x2x8xf32>
  %2 = tensor.dim %o, %c3 : tensor<?x?x2x8xf32>
  %3 = tensor.dim %sT, %c0 : tensor<?x2x4x8xf32>
  %4 = tensor.dim %sT, %c2 : tensor<?x2x4x8xf32>
  %5 = tensor.dim %all, %c0 : tensor<?x?x2x4x8xf32>
  %6 = tensor.dim %all, %c1 : tensor<?x?x2x4x8xf32>
  %7 = tensor.dim %all, %c2 : tensor<?x?x2x4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : index, index, index, index, index, index, index, index
}

// -----

// Packed: T / 64 + N chunks for N = offsets - 1 sequences.
// CHECK-DAG: #[[ROWS:.+]] = affine_map<()[s0, s1] -> (s1 + s0 floordiv 64 - 1)>
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x2x4xf32>, %[[S:[^:]+]]: tensor<?x2x4x8xf32>, %[[CU:[^:]+]]: tensor<?xi32>
func.func @packed(%q: tensor<?x2x4xf32>, %s: tensor<?x2x4x8xf32>, %cu: tensor<?xi32>) -> (index, index, index) {
  // CHECK-DAG: %[[T:.+]] = tensor.dim %[[Q]], %{{.+}} : tensor<?x2x4xf32>
  // CHECK-DAG: %[[OFFSETS:.+]] = tensor.dim %[[CU]], %{{.+}} : tensor<?xi32>
  // CHECK-DAG: %[[N:.+]] = tensor.dim %[[S]], %{{.+}} : tensor<?x2x4x8xf32>
  // CHECK-DAG: %[[M:.+]] = affine.apply #[[ROWS]]()[%[[T]], %[[OFFSETS]]]
  // CHECK: return %[[T]], %[[N]], %[[M]]
  %o, %sT, %all = linattn.recurrence tokens(%q : tensor<?x2x4xf32>) state(%s : tensor<?x2x4x8xf32>)
      seqlens(%cu : tensor<?xi32>) snapshots(every = 64)
      -> (tensor<?x2x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>) {
  ^step(%qt: vector<4xf32>, %st: !linattn.state<4x8xf32>):
    %r = linattn.read %st, %qt : !linattn.state<4x8xf32>, vector<4xf32>
    linattn.yield %r, %st : vector<8xf32>, !linattn.state<4x8xf32>
  }
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %o, %c0 : tensor<?x2x8xf32>
  %1 = tensor.dim %sT, %c0 : tensor<?x2x4x8xf32>
  %2 = tensor.dim %all, %c0 : tensor<?x2x4x8xf32>
  return %0, %1, %2 : index, index, index
}

// -----

// Packed, after each token: T snapshots.
// CHECK-LABEL: func.func @packed_each(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x2x4xf32>
func.func @packed_each(%q: tensor<?x2x4xf32>, %s: tensor<?x2x4x8xf32>, %cu: tensor<?xi32>) -> index {
  // CHECK: %[[T:.+]] = tensor.dim %[[Q]], %{{.+}} : tensor<?x2x4xf32>
  // CHECK: return %[[T]]
  %sT, %all = linattn.recurrence tokens(%q : tensor<?x2x4xf32>) state(%s : tensor<?x2x4x8xf32>)
      seqlens(%cu : tensor<?xi32>) snapshots(every = 1) -> (tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>) {
  ^step(%qt: vector<4xf32>, %st: !linattn.state<4x8xf32>):
    linattn.yield %st : !linattn.state<4x8xf32>
  }
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %all, %c0 : tensor<?x2x4x8xf32>
  return %0 : index
}

// -----

// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x?x4x8xf32>, %[[K:[^:]+]]: tensor<?x?x2x8xf32>, %[[V:[^:]+]]: tensor<?x?x1x16xf32>
func.func @attention(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x1x16xf32>, %l: tensor<2xf32>)
    -> (index, index, index, index, index) {
  // CHECK-DAG: %[[T:.+]] = tensor.dim %[[Q]], %{{.+}}
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[C8:.+]] = arith.constant 8 : index
  // CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
  // CHECK: return %[[T]], %[[C8]], %[[T]], %[[C2]], %[[C16]]
  %o, %lse = linattn.softmax_attention %q, %k, %k
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x?x4xf32>)
  %d = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x1x16xf32>, tensor<2xf32>) -> tensor<?x?x2x16xf32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %o, %c1 : tensor<?x?x4x8xf32>
  %1 = tensor.dim %o, %c3 : tensor<?x?x4x8xf32>
  %2 = tensor.dim %lse, %c1 : tensor<?x?x4xf32>
  %3 = tensor.dim %d, %c2 : tensor<?x?x2x16xf32>
  %4 = tensor.dim %d, %c3 : tensor<?x?x2x16xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

// -----

// CHECK-LABEL: func.func @short_conv(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?x8xf32>, %{{[^:]+}}: tensor<8x4xf32>, %[[W:[^:]+]]: tensor<?x8x3xf32>
func.func @short_conv(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %win: tensor<?x8x3xf32>) -> (index, index) {
  // CHECK-DAG: %[[T:.+]] = tensor.dim %[[X]], %{{.+}}
  // CHECK-DAG: %[[N:.+]] = tensor.dim %[[W]], %{{.+}}
  // CHECK: return %[[T]], %[[N]]
  %y, %w1 = linattn.short_conv %x, %w window(%win : tensor<?x8x3xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x3xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %y, %c1 : tensor<?x?x8xf32>
  %1 = tensor.dim %w1, %c0 : tensor<?x8x3xf32>
  return %0, %1 : index, index
}
