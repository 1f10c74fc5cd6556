// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// delta_update_c1
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %v: vector<8xf32>, %b: f32) {
  // expected-error@+1 {{'linattn.delta_update' op (delta_update_c1) the key has K = 4 elements, got 8}}
  %0 = linattn.delta_update %s, %v, %v, %b : !linattn.state<4x8xf32>, vector<8xf32>, vector<8xf32>, f32
  return
}

// -----

// delta_update_c2
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %v: vector<8xf32>, %b: f32) {
  // expected-error@+1 {{'linattn.delta_update' op (delta_update_c2) the value has V = 8 elements, got 4}}
  %0 = linattn.delta_update %s, %k, %k, %b : !linattn.state<4x8xf32>, vector<4xf32>, vector<4xf32>, f32
  return
}

// -----

// delta_update_c3: a rate over K
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %v: vector<8xf32>, %b: vector<4xf32>) {
  // expected-error@+1 {{'linattn.delta_update' op (delta_update_c3) the rate is a scalar or has V = 8 elements, got 4}}
  %0 = linattn.delta_update %s, %k, %v, %b : !linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>, vector<4xf32>
  return
}

// -----

// delta_update: an integer rate
func.func @f(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>, %v: vector<8xf32>, %b: index) {
  // expected-error@+1 {{'linattn.delta_update' op operand #3 must be a float or a vector of rank 1 of floats, but got 'index'}}
  %0 = linattn.delta_update %s, %k, %v, %b : !linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>, index
  return
}

// -----

// sigmoid: an integer
func.func @f(%x: i32) {
  // expected-error@+1 {{'linattn.sigmoid' op operand #0 must be a float or a vector of rank 1 of floats, but got 'i32'}}
  %0 = linattn.sigmoid %x : i32
  return
}

// -----

// sigmoid: a tensor
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.sigmoid' op operand #0 must be a float or a vector of rank 1 of floats, but got 'tensor<4xf32>'}}
  %0 = linattn.sigmoid %x : tensor<4xf32>
  return
}

// -----

// sigmoid: another result type
func.func @f(%x: vector<4xbf16>) {
  // expected-error@+1 {{'linattn.sigmoid' op requires the same type for all operands and results}}
  %0 = "linattn.sigmoid"(%x) : (vector<4xbf16>) -> vector<4xf32>
  return
}

// -----

// sigmoid: a scalable vector
func.func @f(%x: vector<[4]xf32>) {
  // expected-error@+1 {{'linattn.sigmoid' op operand #0 must be a float or a vector of rank 1 of floats, but got 'vector<[4]xf32>'}}
  %0 = linattn.sigmoid %x : vector<[4]xf32>
  return
}

// -----

// softplus: an integer
func.func @f(%x: i32) {
  // expected-error@+1 {{'linattn.softplus' op operand #0 must be a float or a vector of rank 1 of floats, but got 'i32'}}
  %0 = linattn.softplus %x : i32
  return
}

// -----

// softplus: a tensor
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.softplus' op operand #0 must be a float or a vector of rank 1 of floats, but got 'tensor<4xf32>'}}
  %0 = linattn.softplus %x : tensor<4xf32>
  return
}

// -----

// softplus: another result type
func.func @f(%x: vector<4xbf16>) {
  // expected-error@+1 {{'linattn.softplus' op requires the same type for all operands and results}}
  %0 = "linattn.softplus"(%x) : (vector<4xbf16>) -> vector<4xf32>
  return
}

// -----

// softplus: a scalable vector
func.func @f(%x: vector<[4]xf32>) {
  // expected-error@+1 {{'linattn.softplus' op operand #0 must be a float or a vector of rank 1 of floats, but got 'vector<[4]xf32>'}}
  %0 = linattn.softplus %x : vector<[4]xf32>
  return
}

// -----

// silu: an integer
func.func @f(%x: i32) {
  // expected-error@+1 {{'linattn.silu' op operand #0 must be a float or a vector of rank 1 of floats, but got 'i32'}}
  %0 = linattn.silu %x : i32
  return
}

// -----

// silu: a tensor
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.silu' op operand #0 must be a float or a vector of rank 1 of floats, but got 'tensor<4xf32>'}}
  %0 = linattn.silu %x : tensor<4xf32>
  return
}

// -----

// silu: another result type
func.func @f(%x: vector<4xbf16>) {
  // expected-error@+1 {{'linattn.silu' op requires the same type for all operands and results}}
  %0 = "linattn.silu"(%x) : (vector<4xbf16>) -> vector<4xf32>
  return
}

// -----

// silu: a scalable vector
func.func @f(%x: vector<[4]xf32>) {
  // expected-error@+1 {{'linattn.silu' op operand #0 must be a float or a vector of rank 1 of floats, but got 'vector<[4]xf32>'}}
  %0 = linattn.silu %x : vector<[4]xf32>
  return
}

// -----

// l2norm_c1: the result of 16-bit operands is f32
func.func @f(%x: vector<4xbf16>) {
  // expected-error@+1 {{'linattn.l2norm' op (l2norm_c1) the result is 'vector<4xf32>', got 'vector<4xbf16>'}}
  %0 = linattn.l2norm %x : vector<4xbf16> -> vector<4xbf16>
  return
}

// -----

// l2norm_c1
func.func @f(%x: vector<4xf64>) {
  // expected-error@+1 {{'linattn.l2norm' op (l2norm_c1) the result is 'vector<4xf64>', got 'vector<4xf32>'}}
  %0 = linattn.l2norm %x : vector<4xf64> -> vector<4xf32>
  return
}

// -----

// l2norm_c1
func.func @f(%x: vector<4xf32>) {
  // expected-error@+1 {{'linattn.l2norm' op (l2norm_c1) the result is 'vector<4xf32>', got 'vector<5xf32>'}}
  %0 = linattn.l2norm %x : vector<4xf32> -> vector<5xf32>
  return
}

// -----

// l2norm_c2
func.func @f(%x: vector<4xf32>) {
  // expected-error@+1 {{'linattn.l2norm' op (l2norm_c2) eps is finite and not negative, got -1.000000e+00}}
  %0 = linattn.l2norm %x eps -1.0 : vector<4xf32> -> vector<4xf32>
  return
}

// -----

// l2norm_c2
func.func @f(%x: vector<4xf32>) {
  // expected-error@+1 {{'linattn.l2norm' op (l2norm_c2) eps is finite and not negative, got nan}}
  %0 = linattn.l2norm %x eps 0x7FF8000000000000 : vector<4xf32> -> vector<4xf32>
  return
}

// -----

// l2norm: a scalar
func.func @f(%x: f32) {
  // expected-error@+1 {{custom op 'linattn.l2norm' invalid kind of type specified: expected builtin.vector, but found 'f32'}}
  %0 = linattn.l2norm %x : f32 -> f32
  return
}
