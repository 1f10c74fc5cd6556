// RUN: linattn-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect
// Text in the generic form that no builder makes: the verifier answers it.

// missing segments
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %o = "linattn.recurrence"(%q) ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// too few segments
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{invalid properties {operandSegmentSizes = array<i32: 1>} for op linattn.recurrence: size mismatch in attribute conversion: 1 vs 5}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1>}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// segments that count other operands than there are
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op operand count (1) does not match with the total size (5) specified in attribute 'operandSegmentSizes'}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// a negative segment
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 2, -1, 0, 0, 0>}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// a segment of two for an operand that may stand once
func.func @f(%q: tensor<?x1xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op operand group starting at #1 requires 0 or 1 element, but found 2}}
  %o = "linattn.recurrence"(%q, %cu, %cu) <{operandSegmentSizes = array<i32: 1, 0, 0, 2, 0>}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x1xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x1xf32>
  return
}

// -----

// no region
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op requires one region}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}>
      : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// no block
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op region #0 ('step') failed to verify constraint: region with 1 blocks}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// an empty block
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op expects a non-empty block}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: f32):
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// no terminator
func.func @f(%q: tensor<?x?x1xf32>) {
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: f32):
    // expected-error@+1 {{block with no terminator, has %1 = "arith.negf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32}}
    %0 = arith.negf %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// two blocks
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op expects region #0 to have 0 or 1 blocks}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: f32):
    cf.br ^next
  ^next:
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// two regions
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op requires one region}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }, {
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// a value from outside
func.func @f(%q: tensor<?x?x1xf32>, %x: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'linattn.yield' op using value defined outside the region}}
    linattn.yield %x : f32
  }
  return
}

// -----

// an operation that nobody registered
func.func @f(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'somebody.else' op (recurrence_c13) is not allowed in a step: its operations are pure and have no region}}
    %0 = "somebody.else"(%qt) : (f32) -> f32
    linattn.yield %0 : f32
  }
  return
}

// -----

// a terminator that nobody registered
func.func @f(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'somebody.else' op (recurrence_c13) is not allowed in a step: its operations are pure and have no region}}
    "somebody.else"(%qt) : (f32) -> ()
  }
  return
}

// -----

// an operation of the dialect that does not exist
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{unregistered operation 'linattn.recurrences' found in dialect ('linattn') that does not allow unknown operations}}
  "linattn.recurrences"(%q) : (tensor<?x?x1xf32>) -> ()
  return
}

// -----

// attributes of the wrong kind
func.func @f(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op attribute 'snapshots' failed to satisfy constraint: a 64-bit integer}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, snapshots = 1 : i32}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// an attention without its version
func.func @f(%q: tensor<?x?x2x4xf32>, %v: tensor<?x?x1x4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{'linattn.diff_attention' op requires attribute 'version'}}
  %o = "linattn.diff_attention"(%q, %q, %v, %l) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> ({})
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x1x4xf32>, tensor<f32>) -> tensor<?x?x1x4xf32>
  return
}

// -----

// an attention without key
func.func @f(%q: tensor<?x?x2x4xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op expected 3 or more operands, but found 2}}
  %o = "linattn.softmax_attention"(%q, %q) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({})
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  return
}

// -----

// an attention without result
func.func @f(%q: tensor<?x?x2x4xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op expected 1 or more results}}
  "linattn.softmax_attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> ({})
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> ()
  return
}

// -----

// a score region without terminator
func.func @f(%q: tensor<?x?x2x4xf32>) {
  %o = "linattn.softmax_attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> ({
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    // expected-error@+1 {{block with no terminator, has %1 = "arith.negf"(%arg1) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32}}
    %0 = arith.negf %s : f32
  }) : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  return
}

// -----

// a convolution without weight
func.func @f(%x: tensor<?x?x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op expected 2 or more operands, but found 1}}
  %o = "linattn.short_conv"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}>
      : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return
}
