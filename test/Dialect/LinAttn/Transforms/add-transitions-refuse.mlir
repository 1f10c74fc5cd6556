// RUN: linattn-opt %s --linattn-add-transitions --split-input-file --verify-diagnostics

// One rate per value column: each column would have a transition of its own.
func.func @per_column(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2x4xf32>, %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %sT = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: vector<4xf32>, %s: !linattn.state<8x4xf32>):
    // expected-error @below {{'linattn.write' op cannot run in segments: the rate of what it reads differs between value columns}}
    %s1 = linattn.delta_update %s, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, vector<4xf32>
    linattn.yield %s1 : !linattn.state<8x4xf32>
  }
  return %sT : tensor<?x2x8x4xf32>
}

// -----

// What is written to one state is read from another.
func.func @coupled(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %a0: tensor<?x2x8x4xf32>, %b0: tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  %aT, %bT = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%a0 : tensor<?x2x8x4xf32>, %b0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %a: !linattn.state<8x4xf32>, %b: !linattn.state<8x4xf32>):
    // expected-note @below {{the read}}
    %r = linattn.read %b, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'linattn.write' op cannot run in segments: it writes state 0 and reads state 1, and a transition maps one state}}
    %a1 = linattn.write %a, %kt, %r : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %b1 = linattn.write %b, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    linattn.yield %a1, %b1 : !linattn.state<8x4xf32>, !linattn.state<8x4xf32>
  }
  return %aT, %bT : tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// No state, no end of a segment.
func.func @no_state(%x: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.recurrence' op cannot run in segments: it has no state}}
  %y = linattn.recurrence tokens(%x : tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>) {
  ^step(%xt: vector<8xf32>):
    linattn.yield %xt : vector<8xf32>
  }
  return %y : tensor<?x?x2x8xf32>
}

// -----

func.func @f64(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf64>) -> tensor<?x2x8x8xf64> {
  // expected-error @below {{'linattn.recurrence' op cannot run in segments: state 0 computes in f64}}
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf64>) -> (tensor<?x2x8x8xf64>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf64>):
    %u = arith.extf %kt : vector<8xf32> to vector<8xf64>
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x8xf64>, vector<8xf32>, vector<8xf64>
    linattn.yield %s1 : !linattn.state<8x8xf64>
  }
  return %sT : tensor<?x2x8x8xf64>
}

// -----

// A step without a normal form has no transition either.
func.func @not_affine(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    // expected-note @below {{through this read}}
    %r = linattn.read %s, %kt : !linattn.state<8x8xf32>, vector<8xf32>
    // expected-error @below {{(normal_form_c4)}}
    %s1 = linattn.write %s, %r, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %sT : tensor<?x2x8x8xf32>
}
