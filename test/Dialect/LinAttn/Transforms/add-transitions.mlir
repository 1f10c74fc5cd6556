// RUN: linattn-opt %s --linattn-add-transitions --split-input-file | FileCheck %s

// A write that reads its state: a matrix, from the identity, with the same decays,
// reads and writes and no constant part.
// CHECK-LABEL: func @delta
// CHECK:         %[[M0:.*]] = tensor.generate
// CHECK:           arith.cmpi eq
// CHECK:         : tensor<?x2x8x8xf32>
// CHECK:         %[[R:.*]]:3 = linattn.recurrence
// CHECK-SAME:      state(%{{.*}} : tensor<?x2x8x4xf32>, %[[M0]] : tensor<?x2x8x8xf32>)
// CHECK-SAME:      linattn.transitions = array<i64: 1, -1>
// CHECK-SAME:      -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x8xf32>)
// CHECK:         ^bb0(%[[K:.*]]: vector<8xf32>, %{{.*}}: vector<4xf32>, %{{.*}}: f32, %[[G:.*]]: f32, %{{.*}}: !linattn.state<8x4xf32>, %[[M:.*]]: !linattn.state<8x8xf32>):
// CHECK:         %[[M1:.*]] = linattn.decay %[[M]], %[[G]]
// CHECK-NEXT:    %[[RM:.*]] = linattn.read %[[M1]], %[[K]]
// CHECK-NEXT:    %[[B:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK-NEXT:    %[[UM:.*]] = arith.mulf %[[B]], %[[RM]]
// CHECK-NEXT:    %[[M2:.*]] = linattn.write %[[M1]], %[[K]], %[[UM]]
// CHECK-NEXT:    linattn.yield %{{.*}}, %{{.*}}, %[[M2]]
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @delta(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %g: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>, %g : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %gt: f32, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, f32
    %ot = linattn.read %s2, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// Writes without reads: diagonals, of K numbers for a decay over K and of one for
// a number; packed sequences; snapshots of both are there and have no user.
// CHECK-LABEL: func @free
// CHECK:         %[[DIM:.*]] = tensor.dim %{{.*}} : tensor<?xi32>
// CHECK:         %[[N:.*]] = arith.subi %[[DIM]]
// CHECK:         %[[A0:.*]] = linalg.fill {{.*}} -> tensor<?x2x8x1xf32>
// CHECK:         %[[B0:.*]] = linalg.fill {{.*}} -> tensor<?x2x1x1xf32>
// CHECK:         %[[R:.*]]:8 = linattn.recurrence
// CHECK-SAME:      %[[A0]] : tensor<?x2x8x1xf32>, %[[B0]] : tensor<?x2x1x1xf32>)
// CHECK-SAME:      linattn.transitions = array<i64: 2, 3, -1, -1>
// CHECK:         ^bb0(%{{.*}}: vector<8xf32>, %[[GV:.*]]: vector<8xf32>, %[[G:.*]]: f32, %{{.*}}: !linattn.state<8x4xf32>, %{{.*}}: !linattn.state<8x1xf32>, %[[A:.*]]: !linattn.state<8x1xf32>, %[[B:.*]]: !linattn.state<1x1xf32>):
// CHECK:         %[[A1:.*]] = linattn.decay %[[A]], %[[GV]]
// CHECK-NEXT:    %[[B1:.*]] = linattn.decay %[[B]], %[[G]]
// CHECK-NEXT:    linattn.yield %{{.*}}, %{{.*}}, %[[A1]], %[[B1]]
// CHECK:         return %[[R]]#0, %[[R]]#1, %[[R]]#4
func.func @free(%k: tensor<?x2x8xf32>, %gv: tensor<?x2x8xf32>, %g: tensor<?x2xf32>, %s0: tensor<?x2x8x4xf32>, %z0: tensor<?x2x8x1xf32>, %cu: tensor<?xi32>)
    -> (tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>, tensor<?x2x8x4xf32>) {
  %sT, %zT, %sn, %zn = linattn.recurrence
      tokens(%k : tensor<?x2x8xf32>, %gv : tensor<?x2x8xf32>, %g : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>, %z0 : tensor<?x2x8x1xf32>)
      seqlens(%cu : tensor<?xi32>) snapshots(every = 64)
      -> (tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>) {
  ^step(%kt: vector<8xf32>, %gvt: vector<8xf32>, %gt: f32, %s: !linattn.state<8x4xf32>, %z: !linattn.state<8x1xf32>):
    %v = arith.constant dense<2.0> : vector<4xf32>
    %one = arith.constant dense<1.0> : vector<1xf32>
    %s1 = linattn.decay %s, %gvt : !linattn.state<8x4xf32>, vector<8xf32>
    %s2 = linattn.write %s1, %kt, %v : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %z1 = linattn.decay %z, %gt : !linattn.state<8x1xf32>, f32
    %z2 = linattn.write %z1, %kt, %one : !linattn.state<8x1xf32>, vector<8xf32>, vector<1xf32>
    linattn.yield %s2, %z2 : !linattn.state<8x4xf32>, !linattn.state<8x1xf32>
  }
  return %sT, %zT, %sn : tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>, tensor<?x2x8x4xf32>
}
