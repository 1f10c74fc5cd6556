// What has no normal form: the operation that breaks it, and why.
// RUN: linattn-opt --linattn-normalize --split-input-file --verify-diagnostics %s

func.func @exponential(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'math.exp' op (normal_form_c6) breaks the affine form of a write's value: it is no affine function of a value that depends on the state}}
    %e = math.exp %r : vector<4xf32>
    %u = arith.subf %vt, %e : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// The diagnostic names what was written, not its expansion.
func.func @shorthand(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'linattn.silu' op (normal_form_c6) breaks the affine form of a write's value: it is no affine function of a value that depends on the state}}
    %u = linattn.silu %r : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @product(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'arith.mulf' op (normal_form_c6) breaks the affine form of a write's value: it multiplies two values that depend on the state}}
    %u = arith.mulf %r, %r : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @product_in_fma(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'math.fma' op (normal_form_c6) breaks the affine form of a write's value: it multiplies two values that depend on the state}}
    %u = math.fma %r, %r, %vt : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// A quotient by the state is refused, one of the state is not.
func.func @quotient(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %half = arith.divf %r, %vt : vector<4xf32>
    // expected-error @below {{'arith.divf' op (normal_form_c6) breaks the affine form of a write's value: it divides by a value that depends on the state}}
    %u = arith.divf %vt, %half : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @condition(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'arith.cmpf' op (normal_form_c6) breaks the affine form of a write's value: it compares a value that depends on the state}}
    %p = arith.cmpf ogt, %r, %vt : vector<4xf32>
    %u = arith.select %p, %r, %vt : vector<4xi1>, vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// A norm of the read: sum over the value columns.
func.func @reduction(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'vector.reduction' op (normal_form_c6) breaks the affine form of a write's value: it couples value columns, and each column of a write may use only its own column of a read}}
    %n = vector.reduction <add>, %r : vector<4xf32> into f32
    %nv = vector.broadcast %n : f32 to vector<4xf32>
    %u = arith.subf %vt, %nv : vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @shuffle(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'vector.shuffle' op (normal_form_c6) breaks the affine form of a write's value: it moves value columns, and each column of a write may use only its own column of a read}}
    %u = vector.shuffle %r, %r [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @element(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'vector.extract' op (normal_form_c6) breaks the affine form of a write's value: it moves value columns, and each column of a write may use only its own column of a read}}
    %e = vector.extract %r[0] : f32 from vector<4xf32>
    %u = vector.broadcast %e : f32 to vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @unknown_operation(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'arith.bitcast' op (normal_form_c6) breaks the affine form of a write's value: it is no affine function of a value that depends on the state}}
    %i = arith.bitcast %r : vector<4xf32> to vector<4xi32>
    %u = arith.bitcast %i : vector<4xi32> to vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// Mesa, TTT and Titans are of this kind.
func.func @write_key(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    // expected-note @below {{through this read}}
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %kk = vector.shuffle %r, %r [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
    // expected-error @below {{'linattn.write' op (normal_form_c4) the key of the write depends on the state}}
    %s1 = linattn.write %s, %kk, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @read_key(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    // expected-note @below {{through this read}}
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %kk = vector.shuffle %r, %r [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    // expected-error @below {{'linattn.read' op (normal_form_c4) the key of the read depends on the state}}
    %o = linattn.read %s1, %kk : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

func.func @gate(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    // expected-note @below {{through this read}}
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %n = vector.reduction <maximumf>, %r : vector<4xf32> into f32
    // expected-error @below {{'linattn.decay' op (normal_form_c5) the decay depends on the state}}
    %s1 = linattn.decay %s, %n : !linattn.state<8x4xf32>, f32
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// Both branches are alive.
func.func @fork(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    // expected-note @below {{the same version ends here}}
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    // expected-error @below {{'linattn.decay' op (normal_form_c2) forks state 0: each version of it ends in one decay or write}}
    %t = linattn.decay %s, %bt : !linattn.state<8x4xf32>, f32
    %o = linattn.read %t, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// The last version is read but not yielded.
func.func @earlier_version(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    // expected-note @below {{the last version is made here}}
    %s1 = linattn.decay %s, %bt : !linattn.state<8x4xf32>, f32
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    // expected-error @below {{'linattn.yield' op (normal_form_c3) yields the last version of state 0, got an earlier one}}
    linattn.yield %o, %s : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// The states change places.
func.func @exchange(%k: tensor<?x?x2x8xf32>, %a0: tensor<?x2x8x4xf32>, %b0: tensor<?x2x8x4xf32>)
    -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>)
      state(%a0 : tensor<?x2x8x4xf32>, %b0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %a: !linattn.state<8x4xf32>, %b: !linattn.state<8x4xf32>):
    // expected-error @below {{'linattn.yield' op (normal_form_c3) yields the last version of state 0, got a value that is none of its versions}}
    linattn.yield %b, %a : !linattn.state<8x4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>
}

// -----

// A state of one value column cannot be written to every column of another.
func.func @spread(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x4xf32>, %z0: tensor<?x2x8x1xf32>)
    -> (tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>)
      state(%s0 : tensor<?x2x8x4xf32>, %z0 : tensor<?x2x8x1xf32>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x4xf32>, %z: !linattn.state<8x1xf32>):
    %r = linattn.read %z, %kt : !linattn.state<8x1xf32>, vector<8xf32>
    %e = vector.extract %r[0] : f32 from vector<1xf32>
    // expected-error @below {{'vector.broadcast' op (normal_form_c6) breaks the affine form of a write's value: it spreads a value that depends on the state over value columns}}
    %u = vector.broadcast %e : f32 to vector<4xf32>
    // expected-note @below {{the write uses it}}
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    linattn.yield %s1, %z : !linattn.state<8x4xf32>, !linattn.state<8x1xf32>
  }
  return %0#0, %0#1 : tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>
}
