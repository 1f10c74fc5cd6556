// Recurrences that have no chunk form: refused by name with the reason, while the
// token loop runs them.
// REQUIRES: linattn-run
// DEFINE: %{serial} = linattn-run %s --size B=2 --size T=40 --verify
// DEFINE: %{chunkwise} = not linattn-run %s --size B=2 --size T=40 --lowering=chunkwise
// RUN: %{serial} --function=key_of_state
// RUN: %{chunkwise} --function=key_of_state 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: %{serial} --function=nonlinear_write
// RUN: %{chunkwise} --function=nonlinear_write 2>&1 | FileCheck %s --check-prefix=NONLINEAR
// RUN: %{serial} --function=gate_of_state
// RUN: %{chunkwise} --function=gate_of_state 2>&1 | FileCheck %s --check-prefix=GATE

// The key is what the state answers, of length 1: S += l2norm(S^T x) v^T.
// KEY: error: 'linattn.write' op (normal_form_c4) the key of the write depends on the state
// KEY: note: through this read
func.func @key_of_state(%x: tensor<?x?x2x8xf32> {linattn.sample = "unit_key"},
    %v: tensor<?x?x2x8xf32> {linattn.sample = "value"}, %g: tensor<?x?x2xf32> {linattn.sample = "log_gate"},
    %s0: tensor<?x2x8x8xf32> {linattn.sample = "state"}) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%x : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>, %g : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^step(%xt: vector<8xf32>, %vt: vector<8xf32>, %gt: f32, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x8xf32>, f32
    %y = linattn.read %s1, %xt : !linattn.state<8x8xf32>, vector<8xf32>
    %k = linattn.l2norm %y eps 1.0e-2 : vector<8xf32> -> vector<8xf32>
    %s2 = linattn.write %s1, %k, %vt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %y, %s2 : vector<8xf32>, !linattn.state<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}

// The error goes through tanh: S += k tanh(v - S^T k)^T.
// NONLINEAR: error: 'math.tanh' op (normal_form_c6) breaks the affine form of a write's value
// NONLINEAR: note: the write uses it
func.func @nonlinear_write(%k: tensor<?x?x2x8xf32> {linattn.sample = "unit_key"},
    %v: tensor<?x?x2x8xf32> {linattn.sample = "value"}, %g: tensor<?x?x2xf32> {linattn.sample = "log_gate"},
    %s0: tensor<?x2x8x8xf32> {linattn.sample = "state"}) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>, %g : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<8xf32>, %gt: f32, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x8xf32>, f32
    %y = linattn.read %s1, %kt : !linattn.state<8x8xf32>, vector<8xf32>
    %e = arith.subf %vt, %y : vector<8xf32>
    %u = math.tanh %e : vector<8xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %y, %s2 : vector<8xf32>, !linattn.state<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}

// The state forgets by what it answers: S <- e^{-softplus(y_0)} S, y = S^T k.
// GATE: error: 'linattn.decay' op (normal_form_c5)
// GATE: note: through this read
func.func @gate_of_state(%k: tensor<?x?x2x8xf32> {linattn.sample = "unit_key"},
    %v: tensor<?x?x2x8xf32> {linattn.sample = "value"},
    %s0: tensor<?x2x8x8xf32> {linattn.sample = "state"}) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>)
      state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %y = linattn.read %s, %kt : !linattn.state<8x8xf32>, vector<8xf32>
    %y0 = vector.extract %y[0] : f32 from vector<8xf32>
    %p = linattn.softplus %y0 : f32
    %g = arith.negf %p : f32
    %s1 = linattn.decay %s, %g : !linattn.state<8x8xf32>, f32
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %y, %s2 : vector<8xf32>, !linattn.state<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}
