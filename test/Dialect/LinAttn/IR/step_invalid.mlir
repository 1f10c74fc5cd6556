// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// decay_c1
func.func @f(%s: !linattn.state<4x8xf32>, %g: vector<8xf32>) {
  // expected-error@+1 {{'linattn.decay' op (decay_c1) the gate has K = 4 elements, got 8}}
  %0 = linattn.decay %s, %g : !linattn.state<4x8xf32>, vector<8xf32>
  return
}

// -----

// decay_c1
func.func @f(%s: !linattn.state<4x8xf32>, %g: vector<5xbf16>) {
  // expected-error@+1 {{'linattn.decay' op (decay_c1) the gate has K = 4 elements, got 5}}
  %0 = linattn.decay %s, %g linear : !linattn.state<4x8xf32>, vector<5xbf16>
  return
}

// -----

// decay: a gate of rank 2
func.func @f(%s: !linattn.state<4x8xf32>, %g: vector<2x2xf32>) {
  // expected-error@+1 {{'linattn.decay' op operand #1 must be a float or a vector of rank 1 of floats, but got 'vector<2x2xf32>'}}
  %0 = linattn.decay %s, %g : !linattn.state<4x8xf32>, vector<2x2xf32>
  return
}

// -----

// decay: an integer gate
func.func @f(%s: !linattn.state<4x8xf32>, %g: i32) {
  // expected-error@+1 {{'linattn.decay' op operand #1 must be a float or a vector of rank 1 of floats, but got 'i32'}}
  %0 = linattn.decay %s, %g : !linattn.state<4x8xf32>, i32
  return
}

// -----

// decay: a scalable gate
func.func @f(%s: !linattn.state<4x8xf32>, %g: vector<[4]xf32>) {
  // expected-error@+1 {{'linattn.decay' op operand #1 must be a float or a vector of rank 1 of floats, but got 'vector<[4]xf32>'}}
  %0 = linattn.decay %s, %g : !linattn.state<4x8xf32>, vector<[4]xf32>
  return
}

// -----

// decay: a gate of 8 bits
func.func @f(%s: !linattn.state<4x8xf32>, %g: vector<4xf8E5M2>) {
  // expected-error@+1 {{'linattn.decay' op operand #1 must be a float or a vector of rank 1 of floats, but got 'vector<4xf8E5M2>'}}
  %0 = linattn.decay %s, %g : !linattn.state<4x8xf32>, vector<4xf8E5M2>
  return
}

// -----

// decay: another state type
func.func @f(%s: !linattn.state<4x8xf32>, %g: f32) {
  // expected-error@+1 {{'linattn.decay' op failed to verify that all of {state, result} have same type}}
  %0 = "linattn.decay"(%s, %g) : (!linattn.state<4x8xf32>, f32) -> !linattn.state<4x4xf32>
  return
}

// -----

// decay: not a state
func.func @f(%s: !linattn.state<4x8xf32>, %g: f32) {
  // expected-error@+1 {{expected '<'}}
  %0 = linattn.decay %g, %g : f32, f32
  return
}

// -----

// read_c1
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<8xf32>) {
  // expected-error@+1 {{'linattn.read' op (read_c1) the key has K = 4 elements, got 8}}
  %0 = linattn.read %s, %k : !linattn.state<4x8xf32>, vector<8xf32>
  return
}

// -----

// read_c2
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) {
  // expected-error@+1 {{'linattn.read' op (read_c2) the scale is finite in f32, got 0x7FF0000000000000 : f64}}
  %0 = linattn.read %s, %k scale 0x7FF0000000000000 : !linattn.state<4x8xf32>, vector<4xf32>
  return
}

// -----

// read: a scalar key
func.func @f(%s: !linattn.state<4x8xf32>, %k: f32) {
  // expected-error@+1 {{custom op 'linattn.read' invalid kind of type specified: expected builtin.vector, but found 'f32'}}
  %0 = linattn.read %s, %k : !linattn.state<4x8xf32>, f32
  return
}

// -----

// read: the result is over V
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) {
  // expected-error@+2 {{'linattn.read' op inferred type(s) 'vector<8xf32>' are incompatible with return type(s) of operation 'vector<4xf32>'}}
  // expected-error@+1 {{'linattn.read' op failed to infer returned types}}
  %0 = "linattn.read"(%s, %k) : (!linattn.state<4x8xf32>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

// read: the result has the arithmetic type of the state
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xbf16>) {
  // expected-error@+2 {{'linattn.read' op inferred type(s) 'vector<8xf32>' are incompatible with return type(s) of operation 'vector<8xbf16>'}}
  // expected-error@+1 {{'linattn.read' op failed to infer returned types}}
  %0 = "linattn.read"(%s, %k) : (!linattn.state<4x8xf32>, vector<4xbf16>) -> vector<8xbf16>
  return
}

// -----

// read: the scale is a 64-bit float
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) {
  // expected-error@+1 {{'linattn.read' op attribute 'scale' failed to satisfy constraint: 64-bit float attribute}}
  %0 = "linattn.read"(%s, %k) <{scale = 1.0 : f32}> : (!linattn.state<4x8xf32>, vector<4xf32>) -> vector<8xf32>
  return
}

// -----

// read: a missing operand
func.func @f(%s: !linattn.state<4x8xf32>) {
  // expected-error@+1 {{'linattn.read' op expected 2 operands, but found 1}}
  %0 = "linattn.read"(%s) : (!linattn.state<4x8xf32>) -> vector<8xf32>
  return
}

// -----

// write_c1
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<8xf32>, %u: vector<8xf32>) {
  // expected-error@+1 {{'linattn.write' op (write_c1) the key has K = 4 elements, got 8}}
  %0 = linattn.write %s, %k, %u : !linattn.state<4x8xf32>, vector<8xf32>, vector<8xf32>
  return
}

// -----

// write_c2
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %u: vector<4xf32>) {
  // expected-error@+1 {{'linattn.write' op (write_c2) the value has V = 8 elements, got 4}}
  %0 = linattn.write %s, %k, %u : !linattn.state<4x8xf32>, vector<4xf32>, vector<4xf32>
  return
}

// -----

// write: a tensor value
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %u: tensor<8xf32>) {
  // expected-error@+1 {{custom op 'linattn.write' invalid kind of type specified: expected builtin.vector, but found 'tensor<8xf32>'}}
  %0 = linattn.write %s, %k, %u : !linattn.state<4x8xf32>, vector<4xf32>, tensor<8xf32>
  return
}

// -----

// write: another state type
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %u: vector<8xf32>) {
  // expected-error@+1 {{'linattn.write' op result #0 must be the state of one head inside a step, [K, V], but got 'f32'}}
  %0 = "linattn.write"(%s, %k, %u) : (!linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>) -> f32
  return
}

// -----

// yield: in a function
func.func @f() {
  // expected-error@+1 {{'linattn.yield' op expects parent op to be one of 'linattn.recurrence, linattn.chunked, linattn.softmax_attention, linattn.diff_attention, linattn.attention_tiles'}}
  linattn.yield
  return
}

// -----

// yield: at the top
// expected-error@+1 {{'linattn.yield' op expects parent op to be one of 'linattn.recurrence, linattn.chunked, linattn.softmax_attention, linattn.diff_attention, linattn.attention_tiles'}}
linattn.yield

// -----

// yield: in a loop
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{'linattn.yield' op expects parent op to be one of 'linattn.recurrence, linattn.chunked, linattn.softmax_attention, linattn.diff_attention, linattn.attention_tiles'}}
    linattn.yield
  }
  return
}

// -----

// yield: in the middle
func.func @f(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'linattn.yield' op must be the last operation in the parent block}}
    linattn.yield %qt : f32
    linattn.yield %qt : f32
  }
  return
}

// -----

// yield: more types than values
func.func @f(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{custom op 'linattn.yield' number of operands and types do not match: got 1 operands and 2 types}}
    linattn.yield %qt : f32, f32
  }
  return
}
