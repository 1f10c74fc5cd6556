// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// chunked_c1
func.func @chunk_power(%g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c1) the chunk is a power of 2 from 4 to 128, got 48}}
  %o = linattn.chunked chunk = 48 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<48xi1>, %gt: tensor<48xf32>):
    linattn.yield %gt : tensor<48xf32>
  }
  return
}

// -----

// chunked_c1
func.func @chunk_large(%g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c1) the chunk is a power of 2 from 4 to 128, got 256}}
  %o = linattn.chunked chunk = 256 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<256xi1>, %gt: tensor<256xf32>):
    linattn.yield %gt : tensor<256xf32>
  }
  return
}

// -----

// chunked_c1
func.func @chunk_negative(%g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c1) the chunk is a power of 2 from 4 to 128, got -9223372036854775808}}
  %o = linattn.chunked chunk = -9223372036854775808 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @no_tokens(%s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) there is at least one token operand}}
  %s1 = "linattn.chunked"(%s0) <{chunk = 4 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>}> ({
  ^chunk(%valid: tensor<4xi1>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }) : (tensor<?x1x2x2xf32>) -> tensor<?x1x2x2xf32>
  return
}

// -----

// chunked_c2
func.func @token_rank(%g: tensor<?x?xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) a token operand has rank 3 to 5 and static, positive sizes from dimension 2 on, got 'tensor<?x?xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @packed_token_rank(%g: tensor<?x1x2x3x4xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) a token operand has rank 2 to 4 and static, positive sizes from dimension 1 on, got 'tensor<?x1x2x3x4xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x1x2x3x4xf32>) seqlens(%cu : tensor<?xi32>) -> (tensor<?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @dynamic_width(%k: tensor<?x?x1x?xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) a token operand has rank 3 to 5 and static, positive sizes from dimension 2 on, got 'tensor<?x?x1x?xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x1x?xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4xf32>):
    linattn.yield %kt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @no_heads(%p: tensor<0xf32>, %g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) a parameter has rank 1 to 3 and static, positive sizes from dimension 0 on, got 'tensor<0xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) params(%p : tensor<0xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %pt: tensor<f32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @state_rank(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) a state operand has rank 4 to 4 and static, positive sizes from dimension 1 on, got 'tensor<?x1x2xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2xf32>) -> (tensor<?x1x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2xf32>):
    linattn.yield %s : tensor<2xf32>
  }
  return
}

// -----

// chunked_c2
func.func @token_heads(%g: tensor<?x?x2xf32>, %h: tensor<?x?x3xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) the head count of a token operand fits the largest, 3, got 2}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x2xf32>, %h : tensor<?x?x3xf32>) -> (tensor<?x?x3xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %ht: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// A state belongs to one head.
// chunked_c2
func.func @state_heads(%g: tensor<?x?x2xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) the head count of a state operand fits the largest, 2, got 1}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x2xf32>) state(%s0 : tensor<?x1x2x2xf32>) -> (tensor<?x1x2x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c2
func.func @seqlens_rank(%g: tensor<?x1xf32>, %cu: tensor<?x?xi32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) seqlens and slots have rank 1}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x1xf32>) seqlens(%cu : tensor<?x?xi32>) -> (tensor<?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c2
func.func @slots_rank(%g: tensor<?x?x1xf32>, %sl: tensor<i32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c2) seqlens and slots have rank 1}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) slots(%sl : tensor<i32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// No `valid`.
// chunked_c3
func.func @arguments(%g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c3) the region takes ('tensor<4xi1>', 'tensor<4xf32>'), got ('tensor<4xf32>')}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// The state is carried in the type of arithmetic, not of memory.
// chunked_c3
func.func @state_argument(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xbf16>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c3) the region takes ('tensor<4xi1>', 'tensor<4xf32>', 'tensor<2x2xf32>'), got ('tensor<4xi1>', 'tensor<4xf32>', 'tensor<2x2xbf16>')}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xbf16>) -> (tensor<?x1x2x2xbf16>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2x2xbf16>):
    linattn.yield %s : tensor<2x2xbf16>
  }
  return
}

// -----

// chunked_c4
func.func @few_results(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c4) has at least 2 result(s) for 1 state(s), got 1}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      snapshots(every = 4) -> (tensor<?x1x2x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c4
func.func @yield_count(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c4) the region yields 1 output(s) and 1 state(s)}}
  %o:2 = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      -> (tensor<?x?x1xf32>, tensor<?x1x2x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c4
func.func @output_rank(%g: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c4) result 0 is [B, T, H, ..], got 'tensor<?x?xf32>'}}
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c4
func.func @output_type(%g: tensor<?x?x1xf32>) {
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    // expected-error@+1 {{'linattn.yield' op (chunked_c4) output 0 is 'tensor<4x2xf32>', got 'tensor<4xf32>'}}
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// chunked_c4
func.func @state_yield(%g: tensor<?x?x1x2xf32>, %s0: tensor<?x1x2x2xf32>) {
  %sT = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1x2xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      -> (tensor<?x1x2x2xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4x2xf32>, %s: tensor<2x2xf32>):
    // expected-error@+1 {{'linattn.yield' op (chunked_c4) state 0 is 'tensor<2x2xf32>', got 'tensor<4x2xf32>'}}
    linattn.yield %gt : tensor<4x2xf32>
  }
  return
}

// -----

// chunked_c4
func.func @state_result(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c4) result 0 has the state operand's type 'tensor<?x1x2x2xf32>', got 'tensor<?x1x2x2xbf16>'}}
  %sT = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      -> (tensor<?x1x2x2xbf16>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c5
func.func @snapshots(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c5) the period of snapshots is a multiple of the chunk, 16, got 24}}
  %s:2 = linattn.chunked chunk = 16 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      snapshots(every = 24) -> (tensor<?x1x2x2xf32>, tensor<?x?x1x2x2xf32>) {
  ^chunk(%valid: tensor<16xi1>, %gt: tensor<16xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c5
func.func @snapshots_zero(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) {
  // expected-error@+1 {{'linattn.chunked' op (chunked_c5) the period of snapshots is a multiple of the chunk, 16, got 0}}
  %s:2 = linattn.chunked chunk = 16 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      snapshots(every = 0) -> (tensor<?x1x2x2xf32>, tensor<?x?x1x2x2xf32>) {
  ^chunk(%valid: tensor<16xi1>, %gt: tensor<16xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return
}

// -----

// chunked_c6
func.func private @effect() -> ()
func.func @pure(%g: tensor<?x?x1xf32>) {
  %o = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    // expected-error@+1 {{'func.call' op (chunked_c6) is not allowed in a chunk: its operations are pure}}
    func.call @effect() : () -> ()
    linattn.yield %gt : tensor<4xf32>
  }
  return
}

// -----

// IsolatedFromAbove
func.func @isolated(%g: tensor<?x?x1xf32>, %o: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %r = linattn.chunked chunk = 4 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<4xi1>, %gt: tensor<4xf32>):
    // expected-error@+1 {{'linattn.yield' op using value defined outside the region}}
    linattn.yield %o : tensor<4xf32>
  }
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<4xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<4xf32>' and 'tensor<4x8xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x9xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x9xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<?x8xf32>' and 'tensor<4x8xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<4x8xbf16>, %y: tensor<4x8xbf16>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<4x8xbf16>' and 'tensor<4x8xbf16>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf64>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<4x8xf32>' and 'tensor<4x8xf64>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf64> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c1
func.func @f(%x: tensor<0x8xf32>, %y: tensor<0x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c1) x and y are [rows, K], static, with one K and one element type, f32 or f64, got 'tensor<0x8xf32>' and 'tensor<0x8xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<0x8xf32>, tensor<0x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c2
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c2) positions and orders are as many and divide the rows into one number of tokens, got 2 events for 4 rows of x and 1 for 4 rows of y}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0, 1] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c2
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c2) positions and orders are as many and divide the rows into one number of tokens, got 3 events for 4 rows of x and 1 for 4 rows of y}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0, 0, 0] x_order = [1, 1, 1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c2
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c2) positions and orders are as many and divide the rows into one number of tokens, got 2 events for 4 rows of x and 1 for 4 rows of y}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0, 0] x_order = [1, 1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c2
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c2) positions and orders are as many and divide the rows into one number of tokens, got 1 events for 4 rows of x and 0 for 4 rows of y}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [] y_order = []
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<6xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c3) the gate is [C nd] or [C nd, K] of 'f32' with C = 4, K = 8, got 'tensor<6xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<6xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4x7xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c3) the gate is [C nd] or [C nd, K] of 'f32' with C = 4, K = 8, got 'tensor<4x7xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4x7xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf64>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c3) the gate is [C nd] or [C nd, K] of 'f32' with C = 4, K = 8, got 'tensor<4xf64>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf64>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<f32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c3) the gate is [C nd] or [C nd, K] of 'f32' with C = 4, K = 8, got 'tensor<f32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<f32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<0xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c3) the gate is [C nd] or [C nd, K] of 'f32' with C = 4, K = 8, got 'tensor<0xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<0xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c4
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c4) positions lie in [0, 1], got 2}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [2] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c4
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c4) positions lie in [0, 1], got -1}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [-1] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c4
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c4) a y before an x is not at a later position, got 1 and 0}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [1] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c5
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x8xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c5) outs and the result are 'tensor<4x4xf32>', got 'tensor<4x8xf32>' and 'tensor<4x4xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x8xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// decay_product_c5
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c5) outs and the result are 'tensor<4x4xf32>', got 'tensor<4x4xf32>' and 'tensor<4x8xf32>'}}
  %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>) x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// Without a gate there is no decay to stand behind.
// decay_product_c4
func.func @f(%x: tensor<4x8xf32>, %e: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.decay_product' op (decay_product_c4) positions lie in [0, 0], got 1}}
  %p = linattn.decay_product %x, %x x_positions = [1] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<4xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<4x5xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x5xf32>) outs(%a : tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<?x?xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<?x?xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<0x0xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<0x0xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<0x0xf32>) outs(%a : tensor<0x0xf32>) -> tensor<0x0xf32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<4x4xbf16>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<4x4xbf16>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x4xbf16>) outs(%a : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<4x4xi32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<4x4xi32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x4xi32>) outs(%a : tensor<4x4xi32>) -> tensor<4x4xi32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<f32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<f32>) outs(%a : tensor<f32>) -> tensor<f32>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%r: tensor<4x2xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf64>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c1) matrices are square, static, of one type, f32 or f64, got 'tensor<4x4xf64>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf32>) matrices(%a : tensor<4x4xf32>, %b : tensor<4x4xf64>) rates(%r : tensor<4x2xf32>, %r : tensor<4x2xf32>) outs(%r : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c2) there is one matrix, or one per rate, 1, got 2}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x4xf32>, %a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%r: tensor<4x2xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c2) there is one matrix, or one per rate, 2, got 1}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf32>) matrices(%a : tensor<4x4xf32>) rates(%r : tensor<4x2xf32>, %r : tensor<4x2xf32>) outs(%r : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%r: tensor<2x4x3xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c2) there is one matrix, or one per rate, 4, got 2}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<2x4x3xf32>) matrices(%a : tensor<4x4xf32>, %a : tensor<4x4xf32>) rates(%r : tensor<2x4x3xf32>) outs(%r : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<2x4x3xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<2x4x3xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<2x4x3xf32>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<5x2xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<5x2xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<5x2xf32>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<5x2xf32>) -> tensor<5x2xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<4xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<4xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4xf32>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<4x?xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<4x?xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x?xf32>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<4x2xf64>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<4x2xf64>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf64>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<4x2xf64>) -> tensor<4x2xf64>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<4x0xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) the rhs is [n, V] of 'f32' with n = 4, got 'tensor<4x0xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x0xf32>) matrices(%a : tensor<4x4xf32>) outs(%r : tensor<4x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%r: tensor<4x2xf32>, %a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) a rate has the type of the rhs, got 'tensor<4x3xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf32>) matrices(%a : tensor<4x4xf32>) rates(%b : tensor<4x3xf32>) outs(%r : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c3) a rate has the type of the rhs, got 'tensor<4x4xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x4xf32>) rates(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// unit_lower_solve_c4
func.func @f(%r: tensor<4x2xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c4) outs and the result are 'tensor<4x2xf32>', got 'tensor<4x4xf32>' and 'tensor<4x2xf32>'}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf32>) matrices(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c4
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c4) outs and the result are 'tensor<4x4xf32>', got 'tensor<4x4xf32>' and 'tensor<4x2xf32>'}}
  %u = linattn.unit_lower_solve matrices(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c5
func.func @f(%r: tensor<4x2xf32>, %a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c5) transposed does not go with rates}}
  %u = linattn.unit_lower_solve rhs(%r : tensor<4x2xf32>) matrices(%a : tensor<4x4xf32>) rates(%r : tensor<4x2xf32>) transposed outs(%r : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{'linattn.unit_lower_solve' op (unit_lower_solve_c2) there is a matrix}}
  %u = "linattn.unit_lower_solve"(%a) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<f32>, %e: tensor<f32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<f32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<f32>) : tensor<f32> -> tensor<f32>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<4x8x1xf32>, %e: tensor<4x8x1xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<4x8x1xf32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<4x8x1xf32>) : tensor<4x8x1xf32> -> tensor<4x8x1xf32>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<?x8xf32>, %e: tensor<?x8xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<?x8xf32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<4xbf16>, %e: tensor<4xbf16>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<4xbf16>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<4xbf16>) : tensor<4xbf16> -> tensor<4xbf16>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<0xf32>, %e: tensor<0xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<0xf32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<0xf32>) : tensor<0xf32> -> tensor<0xf32>
  return
}

// -----

// decay_scan_c1
func.func @f(%g: tensor<4xi32>, %e: tensor<4xi32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c1) the gate is [C nd] or [C nd, K], static, f32 or f64, got 'tensor<4xi32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<4xi32>) : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

// decay_scan_c2
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c2) decays is positive and divides the rows, 4, got 3}}
  %d = linattn.decay_scan start_to_event %g positions = [0] decays = 3 outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c2
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c2) decays is positive and divides the rows, 4, got 0}}
  %d = linattn.decay_scan start_to_event %g positions = [0] decays = 0 outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c2
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c2) decays is positive and divides the rows, 4, got -1}}
  %d = linattn.decay_scan start_to_event %g positions = [0] decays = -1 outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c3
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c3) there are positions unless the span is start_to_end}}
  %d = linattn.decay_scan start_to_event %g outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c3
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c3) there are positions unless the span is start_to_end}}
  %d = linattn.decay_scan event_to_end %g positions = [] outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c3
func.func @f(%g: tensor<4xf32>, %e: tensor<f32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c3) there are positions unless the span is start_to_end}}
  %d = linattn.decay_scan start_to_end %g positions = [0] outs(%e : tensor<f32>) : tensor<4xf32> -> tensor<f32>
  return
}

// -----

// decay_scan_c3
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c3) positions lie in [0, 1], got 2}}
  %d = linattn.decay_scan event_to_end %g positions = [2] outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c3
func.func @f(%g: tensor<4xf32>, %e: tensor<2xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c3) positions lie in [0, 2], got -1}}
  %d = linattn.decay_scan event_to_end %g positions = [-1] decays = 2 outs(%e : tensor<2xf32>) : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// decay_scan_c4
func.func @f(%g: tensor<4xf32>, %e: tensor<8xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c4) outs and the result are 'tensor<4xf32>', got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %d = linattn.decay_scan start_to_event %g positions = [0] outs(%e : tensor<8xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// decay_scan_c4
func.func @f(%g: tensor<4x8xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c4) outs and the result are 'tensor<2x8xf32>', got 'tensor<4xf32>' and 'tensor<4x8xf32>'}}
  %d = linattn.decay_scan event_to_end %g positions = [1] decays = 2 outs(%e : tensor<4xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// decay_scan_c4
func.func @f(%g: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.decay_scan' op (decay_scan_c4) outs and the result are 'tensor<f32>', got 'tensor<4xf32>' and 'tensor<4xf32>'}}
  %d = linattn.decay_scan start_to_end %g outs(%e : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @snapshot_type(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x2xf32>) -> (tensor<?x1x2x2xf32>, tensor<f32>) {
  // expected-error @+1 {{'linattn.chunked' op (chunked_c4) snapshot 0 is [B, n, H, K, V] with the last three sizes and the element type of 'tensor<?x1x2x2xf32>', got 'tensor<f32>'}}
  %s:2 = linattn.chunked chunk = 16 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x2xf32>)
      snapshots(every = 16) -> (tensor<?x1x2x2xf32>, tensor<f32>) {
  ^chunk(%valid: tensor<16xi1>, %gt: tensor<16xf32>, %s: tensor<2x2xf32>):
    linattn.yield %s : tensor<2x2xf32>
  }
  return %s#0, %s#1 : tensor<?x1x2x2xf32>, tensor<f32>
}
