// RUN: linattn-opt %s -canonicalize -split-input-file | FileCheck %s

// A log decay of 0 (of either sign) and a factor of 1 change nothing.
// CHECK-LABEL: func.func @no_decay(
// CHECK-SAME: %[[S:.+]]: !linattn.state<4x8xf32>, %[[K:.+]]: vector<4xf32>)
func.func @no_decay(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) -> vector<8xf32> {
  // CHECK-NOT: linattn.decay
  // CHECK: linattn.read %[[S]], %[[K]]
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant dense<-0.0> : vector<4xf32>
  %one = arith.constant dense<1.0> : vector<4xbf16>
  %s1 = linattn.decay %s, %zero : !linattn.state<4x8xf32>, f32
  %s2 = linattn.decay %s1, %minus : !linattn.state<4x8xf32>, vector<4xf32>
  %s3 = linattn.decay %s2, %one linear : !linattn.state<4x8xf32>, vector<4xbf16>
  %r = linattn.read %s3, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r : vector<8xf32>
}

// -----

// A factor of 0, a log decay of 1 and a vector that is 0 in part do.
// CHECK-LABEL: func.func @some_decay(
func.func @some_decay(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) -> vector<8xf32> {
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.0
  // CHECK-DAG: %[[ONE:.+]] = arith.constant 1.0
  // CHECK-DAG: %[[PART:.+]] = arith.constant dense<[0.0{{.*}}, 0.0{{.*}}, 0.0{{.*}}, -1.0{{.*}}]>
  // CHECK: linattn.decay %{{.+}}, %[[ONE]] : <4x8xf32>, f32
  // CHECK: linattn.decay %{{.+}}, %[[ZERO]] linear : <4x8xf32>, f32
  // CHECK: linattn.decay %{{.+}}, %[[PART]] : <4x8xf32>, vector<4xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %part = arith.constant dense<[0.0, 0.0, 0.0, -1.0]> : vector<4xf32>
  %s1 = linattn.decay %s, %one : !linattn.state<4x8xf32>, f32
  %s2 = linattn.decay %s1, %zero linear : !linattn.state<4x8xf32>, f32
  %s3 = linattn.decay %s2, %part : !linattn.state<4x8xf32>, vector<4xf32>
  %r = linattn.read %s3, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r : vector<8xf32>
}

// -----

// e^h e^g S = e^{g + h} S.
// CHECK-LABEL: func.func @combine_log(
// CHECK-SAME: %[[S:.+]]: !linattn.state<4x8xf32>, %[[G:.+]]: f32, %[[H:.+]]: f32
func.func @combine_log(%s: !linattn.state<4x8xf32>, %g: f32, %h: f32, %k: vector<4xf32>) -> vector<8xf32> {
  // CHECK: %[[SUM:.+]] = arith.addf %[[G]], %[[H]] : f32
  // CHECK: %[[D:.+]] = linattn.decay %[[S]], %[[SUM]] : <4x8xf32>, f32
  // CHECK: linattn.read %[[D]]
  %s1 = linattn.decay %s, %g : !linattn.state<4x8xf32>, f32
  %s2 = linattn.decay %s1, %h : !linattn.state<4x8xf32>, f32
  %r = linattn.read %s2, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r : vector<8xf32>
}

// -----

// Factors multiply; three of them end as one.
// CHECK-LABEL: func.func @combine_linear(
// CHECK-SAME: %[[S:.+]]: !linattn.state<4x8xf64>, %[[F:.+]]: vector<4xf64>
func.func @combine_linear(%s: !linattn.state<4x8xf64>, %f: vector<4xf64>, %k: vector<4xf32>) -> vector<8xf64> {
  // CHECK: %[[P:.+]] = arith.mulf %[[F]], %[[F]] : vector<4xf64>
  // CHECK: %[[Q:.+]] = arith.mulf %[[P]], %[[F]] : vector<4xf64>
  // CHECK: linattn.decay %[[S]], %[[Q]] linear : <4x8xf64>, vector<4xf64>
  // CHECK-NOT: linattn.decay
  %s1 = linattn.decay %s, %f linear : !linattn.state<4x8xf64>, vector<4xf64>
  %s2 = linattn.decay %s1, %f linear : !linattn.state<4x8xf64>, vector<4xf64>
  %s3 = linattn.decay %s2, %f linear : !linattn.state<4x8xf64>, vector<4xf64>
  %r = linattn.read %s3, %k : !linattn.state<4x8xf64>, vector<4xf32>
  return %r : vector<8xf64>
}

// -----

// The state between is read: combining would make a decay more.
// CHECK-LABEL: func.func @keep_used(
func.func @keep_used(%s: !linattn.state<4x8xf32>, %g: f32, %k: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>) {
  // CHECK: %[[S1:.+]] = linattn.decay
  // CHECK: linattn.decay %[[S1]]
  %s1 = linattn.decay %s, %g : !linattn.state<4x8xf32>, f32
  %s2 = linattn.decay %s1, %g : !linattn.state<4x8xf32>, f32
  %r1 = linattn.read %s1, %k : !linattn.state<4x8xf32>, vector<4xf32>
  %r2 = linattn.read %s2, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r1, %r2 : vector<8xf32>, vector<8xf32>
}

// -----

// A sum in 16 bits would be rounded; a factor and a logarithm, a scalar and a
// vector do not add.
// CHECK-LABEL: func.func @keep_kinds(
func.func @keep_kinds(%s: !linattn.state<4x8xf32>, %g: bf16, %f: f32, %v: vector<4xf32>, %k: vector<4xf32>) -> vector<8xf32> {
  // CHECK-COUNT-5: linattn.decay
  // CHECK-NOT: arith
  %s1 = linattn.decay %s, %g : !linattn.state<4x8xf32>, bf16
  %s2 = linattn.decay %s1, %g : !linattn.state<4x8xf32>, bf16
  %s3 = linattn.decay %s2, %f linear : !linattn.state<4x8xf32>, f32
  %s4 = linattn.decay %s3, %f : !linattn.state<4x8xf32>, f32
  %s5 = linattn.decay %s4, %v : !linattn.state<4x8xf32>, vector<4xf32>
  %r = linattn.read %s5, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r : vector<8xf32>
}

// -----

// Elements that no token uses are neither read nor carried along, whether token
// operands or parameters.
// CHECK-LABEL: func.func @unused_operands(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x?x2x4xf32>, %[[K:[^:]+]]: tensor<?x?x2x4xf32>, %[[V:[^:]+]]: tensor<?x?x4x8xf32>
func.func @unused_operands(%q: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x4x8xf32>, %p: tensor<4xf32>,
                           %r: tensor<2xf32>, %s: tensor<?x4x4x8xf32>) -> tensor<?x4x4x8xf32> {
  // CHECK: linattn.recurrence tokens(%[[K]] : tensor<?x?x2x4xf32>, %[[V]] : tensor<?x?x4x8xf32>) state(
  // CHECK-NOT: params
  // CHECK-NEXT: ^bb0(%[[KT:.+]]: vector<4xf32>, %[[VT:.+]]: vector<8xf32>, %[[ST:.+]]: !linattn.state<4x8xf32>):
  // CHECK-NEXT: linattn.write %[[ST]], %[[KT]], %[[VT]]
  %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x4xf32>, %k : tensor<?x?x2x4xf32>, %v : tensor<?x?x4x8xf32>)
      params(%p : tensor<4xf32>, %r : tensor<2xf32>)
      state(%s : tensor<?x4x4x8xf32>) -> (tensor<?x4x4x8xf32>) {
  ^step(%qt: vector<4xf32>, %kt: vector<4xf32>, %vt: vector<8xf32>, %pt: f32, %rt: f32, %st: !linattn.state<4x8xf32>):
    %s1 = linattn.write %st, %kt, %vt : !linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<4x8xf32>
  }
  return %sT : tensor<?x4x4x8xf32>
}

// -----

// The last token operand carries B and T.
// CHECK-LABEL: func.func @last_token(
func.func @last_token(%q: tensor<?x?x2xf32>, %k: tensor<?x?x2xf32>, %s: tensor<?x2x4x8xf32>) -> tensor<?x2x4x8xf32> {
  // CHECK: linattn.recurrence tokens(%{{[^,]+}} : tensor<?x?x2xf32>) state(
  %sT = linattn.recurrence tokens(%q : tensor<?x?x2xf32>, %k : tensor<?x?x2xf32>)
      state(%s : tensor<?x2x4x8xf32>) -> (tensor<?x2x4x8xf32>) {
  ^step(%qt: f32, %kt: f32, %st: !linattn.state<4x8xf32>):
    %g = arith.constant -1.0 : f32
    %s1 = linattn.decay %st, %g : !linattn.state<4x8xf32>, f32
    linattn.yield %s1 : !linattn.state<4x8xf32>
  }
  return %sT : tensor<?x2x4x8xf32>
}

// -----

// Without a state the operand with most heads says how many there are.
// CHECK-LABEL: func.func @head_count(
func.func @head_count(%q: tensor<?x?x2xf32>, %v: tensor<?x?x8xf32>, %p: tensor<2xf32>) -> tensor<?x?x8xf32> {
  // CHECK: linattn.recurrence tokens(%{{.+}} : tensor<?x?x2xf32>, %{{.+}} : tensor<?x?x8xf32>) ->
  %o = linattn.recurrence tokens(%q : tensor<?x?x2xf32>, %v : tensor<?x?x8xf32>) params(%p : tensor<2xf32>)
      -> (tensor<?x?x8xf32>) {
  ^step(%qt: f32, %vt: f32, %pt: f32):
    linattn.yield %qt : f32
  }
  return %o : tensor<?x?x8xf32>
}

// -----

// The score region may use constants from outside.
// CHECK-LABEL: func.func @score(
func.func @score(%q: tensor<?x?x1x4xf32>) -> tensor<?x?x1x4xf32> {
  // CHECK: %[[CAP:.+]] = arith.constant 2.000000e+01 : f32
  // CHECK: linattn.softmax_attention
  // CHECK: ^bb0(%[[S:.+]]: f32, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index):
  // CHECK: arith.addf %[[S]], %[[CAP]]
  %o = linattn.softmax_attention %q, %q, %q score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %cap = arith.constant 20.0 : f32
    %y = arith.addf %s, %cap : f32
    linattn.yield %y : f32
  } : (tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>)
  return %o : tensor<?x?x1x4xf32>
}
