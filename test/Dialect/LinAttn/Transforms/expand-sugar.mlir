// RUN: linattn-opt --linattn-expand-sugar --split-input-file %s | FileCheck %s

// The key is not widened: a read and a write take any float vector.
// CHECK-LABEL: func @delta_update
// CHECK: ^{{.*}}(%[[K:.*]]: vector<8xbf16>, %[[V:.*]]: vector<4xbf16>, %[[B:.*]]: f32, %[[S:.*]]: !linattn.state<8x4xf32>):
// CHECK-NEXT: %[[R:.*]] = linattn.read %[[S]], %[[K]] :
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[V]] : vector<4xbf16> to vector<4xf32>
// CHECK-NEXT: %[[E:.*]] = arith.subf %[[W]], %[[R]]
// CHECK-NEXT: %[[C:.*]] = vector.broadcast %[[B]] : f32 to vector<4xf32>
// CHECK-NEXT: %[[U:.*]] = arith.mulf %[[C]], %[[E]]
// CHECK-NEXT: linattn.write %[[S]], %[[K]], %[[U]] : {{.*}}, vector<8xbf16>, vector<4xf32>
// CHECK-NOT: linattn.delta_update
func.func @delta_update(%k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x4xbf16>, %b: tensor<?x?x2xf32>,
                        %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x4xbf16>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xbf16>, %vt: vector<4xbf16>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.delta_update %s, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>, f32
    linattn.yield %s2 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// -----

// A rate over V, of 16 bits; the arithmetic of an f64 state is f64.
// CHECK-LABEL: func @delta_update_vector_rate
// CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: arith.subf {{.*}} : vector<4xf64>
// CHECK: %[[B:.*]] = arith.extf %{{.*}} : vector<4xf16> to vector<4xf64>
// CHECK-NEXT: arith.mulf %[[B]], %{{.*}} : vector<4xf64>
func.func @delta_update_vector_rate(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2x4xf16>,
                                    %s0: tensor<?x2x8x4xf64>) -> tensor<?x2x8x4xf64> {
  %0 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2x4xf16>)
      state(%s0 : tensor<?x2x8x4xf64>) -> (tensor<?x2x8x4xf64>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: vector<4xf16>, %s: !linattn.state<8x4xf64>):
    %s1 = linattn.delta_update %s, %kt, %vt, %bt : !linattn.state<8x4xf64>, vector<8xf32>, vector<4xf32>, vector<4xf16>
    linattn.yield %s1 : !linattn.state<8x4xf64>
  }
  return %0 : tensor<?x2x8x4xf64>
}

// -----

// CHECK-LABEL: func @sigmoid(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>)
// CHECK: %[[A:.*]] = math.absf %[[X]]
// CHECK: %[[N:.*]] = arith.negf %[[A]]
// CHECK: %[[Z:.*]] = math.exp %[[N]]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[P:.*]] = arith.cmpf oge, %[[X]], %[[ZERO]]
// CHECK: %[[NUM:.*]] = arith.select %[[P]], %[[ONE]], %[[Z]]
// CHECK: %[[DEN:.*]] = arith.addf %[[ONE]], %[[Z]]
// CHECK: arith.divf %[[NUM]], %[[DEN]] : vector<4xf32>
func.func @sigmoid(%x: vector<4xf32>) -> vector<4xf32> {
  %y = linattn.sigmoid %x : vector<4xf32>
  return %y : vector<4xf32>
}

// -----

// CHECK-LABEL: func @softplus(
// CHECK-SAME: %[[X:.*]]: f64)
// CHECK: %[[Z:.*]] = math.exp
// CHECK: %[[M:.*]] = arith.maximumf %[[X]], %{{.*}} : f64
// CHECK: %[[L:.*]] = math.log1p %[[Z]] : f64
// CHECK: arith.addf %[[M]], %[[L]] : f64
func.func @softplus(%x: f64) -> f64 {
  %y = linattn.softplus %x : f64
  return %y : f64
}

// -----

// CHECK-LABEL: func @silu(
// CHECK-SAME: %[[X:.*]]: bf16)
// CHECK: %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: %[[F:.*]] = arith.maximumf %[[W]], %[[LOWEST]] : f32
// CHECK: %[[S:.*]] = arith.divf
// CHECK: %[[Y:.*]] = arith.mulf %[[F]], %[[S]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: return %[[R]]
func.func @silu(%x: bf16) -> bf16 {
  %y = linattn.silu %x : bf16
  return %y : bf16
}

// -----

// CHECK-LABEL: func @l2norm(
// CHECK-SAME: %[[X:.*]]: vector<8xf16>)
// CHECK: %[[W:.*]] = arith.extf %[[X]] : vector<8xf16> to vector<8xf32>
// CHECK: %[[Q:.*]] = arith.mulf %[[W]], %[[W]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>, %[[Q]] fastmath<reassoc> : vector<8xf32> into f32
// CHECK: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK: %[[E:.*]] = arith.addf %[[SUM]], %[[EPS]]
// CHECK: %[[I:.*]] = math.rsqrt %[[E]]
// CHECK: %[[B:.*]] = vector.broadcast %[[I]]
// CHECK: arith.mulf %[[W]], %[[B]] : vector<8xf32>
func.func @l2norm(%x: vector<8xf16>) -> vector<8xf32> {
  %y = linattn.l2norm %x eps 1.0e-5 : vector<8xf16> -> vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// No shorthand, no change.
// CHECK-LABEL: func @nothing(
// CHECK-NEXT: arith.addf
// CHECK-NEXT: return
func.func @nothing(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
