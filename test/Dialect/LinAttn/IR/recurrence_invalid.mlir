// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// recurrence_c1
func.func @no_tokens(%s: tensor<2x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c1) there is at least one token operand}}
  %0 = "linattn.recurrence"(%s) <{operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>}> ({
  ^step(%st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }) : (tensor<2x1x4x4xf32>) -> tensor<2x1x4x4xf32>
  return
}

// -----

// recurrence_c2
func.func @token_rank(%q: tensor<?x?xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c2) token operand 0 has rank 3 to 5 without seqlens, got 'tensor<?x?xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c2
func.func @token_rank_packed(%q: tensor<?x2x2x2x4xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c2) token operand 0 has rank 2 to 4 with seqlens, got 'tensor<?x2x2x2x4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x2x2x2x4xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x4xf32>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c2
func.func @param_rank(%q: tensor<?x?x1x4xf32>, %p: tensor<f32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c2) parameter 0 has rank 1 to 3, [H, ..], got 'tensor<f32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x4xf32>) params(%p : tensor<f32>)
      -> (tensor<?x?x1x4xf32>) {
  ^step(%qt: vector<4xf32>, %pt: f32):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c3
func.func @dynamic_heads(%q: tensor<?x?x?x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) token operand 0 has static, positive head count and trailing dimensions, got 'tensor<?x?x?x4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x?x4xf32>) -> (tensor<?x?x?x4xf32>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c3
func.func @no_heads(%q: tensor<?x?x0x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) token operand 0 has static, positive head count and trailing dimensions, got 'tensor<?x?x0x4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x0x4xf32>) -> (tensor<?x?x0x4xf32>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c3
func.func @dynamic_keys(%q: tensor<?x?x2xf32>, %s: tensor<?x2x?x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) state operand 0 has static, positive head count and trailing dimensions, got 'tensor<?x2x?x4xf32>'}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x2xf32>) state(%s : tensor<?x2x?x4xf32>)
      -> (tensor<?x?x2xf32>, tensor<?x2x?x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c3
func.func @empty_param(%q: tensor<?x?x2xf32>, %p: tensor<2x0xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) parameter 0 has static, positive head count and trailing dimensions, got 'tensor<2x0xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x2xf32>) params(%p : tensor<2x0xf32>)
      -> (tensor<?x?x2xf32>) {
  ^step(%qt: f32, %pt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c3
func.func @huge_token(%q: tensor<?x?x1x4611686018427387904x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) token operand 0 has at most 65536 heads and 65536 elements per head, got 'tensor<?x?x1x4611686018427387904x4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x4611686018427387904x4xf32>)
      -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c3
func.func @many_heads(%q: tensor<?x?x65537xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c3) token operand 0 has at most 65536 heads and 65536 elements per head, got 'tensor<?x?x65537xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x65537xf32>) -> (tensor<?x?x65537xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c4
func.func @key_heads(%q: tensor<?x?x3x4xf32>, %v: tensor<?x?x8x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c4) the head count of token operand 0 divides the largest, 8, got 3}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x3x4xf32>, %v : tensor<?x?x8x4xf32>)
      -> (tensor<?x?x8x4xf32>) {
  ^step(%qt: vector<4xf32>, %vt: vector<4xf32>):
    linattn.yield %vt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c4
func.func @param_heads(%q: tensor<?x?x8x4xf32>, %p: tensor<5xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c4) the head count of parameter 0 divides the largest, 8, got 5}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x8x4xf32>) params(%p : tensor<5xf32>)
      -> (tensor<?x?x8x4xf32>) {
  ^step(%qt: vector<4xf32>, %pt: f32):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c5
func.func @batches(%q: tensor<2x?x1xf32>, %k: tensor<?x?x1xf32>, %v: tensor<3x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c5) token operand 2 has B = 2 like the others, got 3}}
  %o = linattn.recurrence
      tokens(%q : tensor<2x?x1xf32>, %k : tensor<?x?x1xf32>, %v : tensor<3x?x1xf32>)
      -> (tensor<2x?x1xf32>) {
  ^step(%qt: f32, %kt: f32, %vt: f32):
    linattn.yield %vt : f32
  }
  return
}

// -----

// recurrence_c5
func.func @times(%q: tensor<?x64x1xf32>, %k: tensor<?x65x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c5) token operand 1 has T = 64 like the others, got 65}}
  %o = linattn.recurrence tokens(%q : tensor<?x64x1xf32>, %k : tensor<?x65x1xf32>)
      -> (tensor<?x64x1xf32>) {
  ^step(%qt: f32, %kt: f32):
    linattn.yield %kt : f32
  }
  return
}

// -----

// recurrence_c6
func.func @state_rank(%q: tensor<?x?x1xf32>, %s: tensor<?x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c6) state operand 0 is [N, H, K, V], got 'tensor<?x4x4xf32>'}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x4x4xf32>)
      -> (tensor<?x?x1xf32>, tensor<?x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c6
func.func @state_heads(%q: tensor<?x?x4xf32>, %s: tensor<?x2x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c6) state operand 0 has the largest head count, H = 4, got 2}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x4xf32>) state(%s : tensor<?x2x4x4xf32>)
      -> (tensor<?x?x4xf32>, tensor<?x2x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c6
func.func @state_size(%q: tensor<?x?x1xf32>, %s: tensor<?x1x1025x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c6) state operand 0 has K and V from 1 to 1024, got 'tensor<?x1x1025x4xf32>'}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x1025x4xf32>)
      -> (tensor<?x?x1xf32>, tensor<?x1x1025x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c6
func.func @state_batch(%q: tensor<2x?x1xf32>, %s: tensor<3x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c6) state operand 0 has one state per sequence, N = 2, got 3}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<2x?x1xf32>) state(%s : tensor<3x1x4x4xf32>)
      -> (tensor<2x?x1xf32>, tensor<3x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c6
func.func @state_sequences(%q: tensor<?x1xf32>, %s: tensor<3x1x4x4xf32>, %cu: tensor<3xi64>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c6) state operand 0 has one state per sequence, N = 2, got 3}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x1xf32>) state(%s : tensor<3x1x4x4xf32>)
      seqlens(%cu : tensor<3xi64>) -> (tensor<?x1xf32>, tensor<3x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c7
func.func @argument_count(%q: tensor<?x?x1x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c7) the step takes 1 arguments (tokens, params, states), got 2}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>) {
  ^step(%qt: vector<4xf32>, %kt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c7
func.func @argument_type(%q: tensor<?x?x1x4xbf16>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c7) argument 0 of the step is 'vector<4xbf16>', got 'vector<4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x4xbf16>) -> (tensor<?x?x1x4xf32>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c7
func.func @scalable_argument(%q: tensor<?x?x1x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c7) argument 0 of the step is 'vector<4xf32>', got 'vector<[4]xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>) {
  ^step(%qt: vector<[4]xf32>):
    linattn.yield %qt : vector<[4]xf32>
  }
  return
}

// -----

// recurrence_c7
func.func @state_argument(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x8xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c7) argument 1 of the step is '!linattn.state<4x8xf32>', got '!linattn.state<8x4xf32>'}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x8xf32>)
      -> (tensor<?x?x1xf32>, tensor<?x1x4x8xf32>) {
  ^step(%qt: f32, %st: !linattn.state<8x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<8x4xf32>
  }
  return
}

// -----

// recurrence_c8
func.func @missing_state(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    // expected-error@+1 {{'linattn.yield' op (recurrence_c8) yields the outputs and then 1 state(s), got 0 value(s)}}
    linattn.yield
  }
  return
}

// -----

// recurrence_c8
func.func @state_first(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  %sT, %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      -> (tensor<?x1x4x4xf32>, tensor<?x?x1xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    // expected-error@+1 {{'linattn.yield' op (recurrence_c8) output 0 is a float or a vector of floats, got '!linattn.state<4x4xf32>'}}
    linattn.yield %st, %qt : !linattn.state<4x4xf32>, f32
  }
  return
}

// -----

// recurrence_c8
func.func @integer_output(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    %i = arith.fptosi %qt : f32 to i32
    // expected-error@+1 {{'linattn.yield' op (recurrence_c8) output 0 is a float or a vector of floats, got 'i32'}}
    linattn.yield %i : i32
  }
  return
}

// -----

// recurrence_c8
func.func @output_rank(%q: tensor<?x?x1x2x2xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1x2x2xf32>) -> (tensor<?x?x1x1x2x2xf32>) {
  ^step(%qt: vector<2x2xf32>):
    %r = vector.broadcast %qt : vector<2x2xf32> to vector<1x2x2xf32>
    // expected-error@+1 {{'linattn.yield' op (recurrence_c8) output 0 is a scalar or a vector of rank 1 or 2, got 'vector<1x2x2xf32>'}}
    linattn.yield %r : vector<1x2x2xf32>
  }
  return
}

// -----

// recurrence_c8
func.func @yielded_state(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>, %z: tensor<?x1x4x1xf32>) {
  %sT, %zT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>)
      state(%s : tensor<?x1x4x4xf32>, %z : tensor<?x1x4x1xf32>)
      -> (tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>, %zt: !linattn.state<4x1xf32>):
    // expected-error@+1 {{'linattn.yield' op (recurrence_c8) state 1 is '!linattn.state<4x1xf32>', got '!linattn.state<4x4xf32>'}}
    linattn.yield %st, %st : !linattn.state<4x4xf32>, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c8
func.func @other_terminator(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c8) the step ends with linattn.yield, got llvm.unreachable}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    llvm.unreachable
  }
  return
}

// -----

// recurrence_c9
func.func @no_results(%q: tensor<?x?x1x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) there is at least one result}}
  "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: vector<4xf32>):
    "linattn.yield"() : () -> ()
  }) : (tensor<?x?x1x4xf32>) -> ()
  return
}

// -----

// recurrence_c9
func.func @result_count(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) has 1 result(s) for 1 yielded value(s), got 2}}
  %o:2 = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c9: the output has the largest head count
func.func @result_heads(%q: tensor<?x?x2x4xf32>, %v: tensor<?x?x8x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) result 0 is 'tensor<?x?x8x4xf32>', got 'tensor<?x?x2x4xf32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x2x4xf32>, %v : tensor<?x?x8x4xf32>)
      -> (tensor<?x?x2x4xf32>) {
  ^step(%qt: vector<4xf32>, %vt: vector<4xf32>):
    %o = arith.addf %qt, %vt : vector<4xf32>
    linattn.yield %o : vector<4xf32>
  }
  return
}

// -----

// recurrence_c9
func.func @result_element(%q: tensor<?x?x2x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) result 0 is 'tensor<?x?x2x4xf32>', got 'tensor<?x?x2x4xbf16>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xbf16>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  return
}

// -----

// recurrence_c9
func.func @result_state(%q: tensor<?x?x1xf32>, %s: tensor<4x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) result 1 has the state operand's type 'tensor<4x1x4x4xf32>', got 'tensor<?x1x4x4xf32>'}}
  %o, %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<4x1x4x4xf32>)
      -> (tensor<?x?x1xf32>, tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %qt, %st : f32, !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c9: ceil(130 / 64) = 3
func.func @result_snapshots(%q: tensor<2x130x1xf32>, %s: tensor<2x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) result 1 is 'tensor<2x3x1x4x4xf32>', got 'tensor<2x2x1x4x4xf32>'}}
  %sT, %all = linattn.recurrence tokens(%q : tensor<2x130x1xf32>) state(%s : tensor<2x1x4x4xf32>)
      snapshots(every = 64) -> (tensor<2x1x4x4xf32>, tensor<2x2x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c9
func.func @missing_snapshots(%q: tensor<2x130x1xf32>, %s: tensor<2x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c9) has 2 result(s) for 1 yielded value(s), got 1}}
  %sT = linattn.recurrence tokens(%q : tensor<2x130x1xf32>) state(%s : tensor<2x1x4x4xf32>)
      snapshots(every = 1) -> (tensor<2x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c10
func.func @seqlens_rank(%q: tensor<?x1xf32>, %cu: tensor<?x2xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c10) seqlens is [N + 1], got 'tensor<?x2xi32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x1xf32>) seqlens(%cu : tensor<?x2xi32>)
      -> (tensor<?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c10
func.func @seqlens_empty(%q: tensor<?x1xf32>, %cu: tensor<0xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c10) seqlens is [N + 1], got 'tensor<0xi32>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x1xf32>) seqlens(%cu : tensor<0xi32>)
      -> (tensor<?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c10
func.func @seqlens_element(%q: tensor<?x1xf32>, %cu: tensor<?xi8>) {
  // expected-error@+1 {{'linattn.recurrence' op operand #1 must be ranked tensor without encoding of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xi8>'}}
  %o = linattn.recurrence tokens(%q : tensor<?x1xf32>) seqlens(%cu : tensor<?xi8>)
      -> (tensor<?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c11
func.func @slots_rank(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c11) slots is [N], got 'tensor<i32>'}}
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      slots(%i : tensor<i32>) -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c11
func.func @slots_size(%q: tensor<3x?x1xf32>, %s: tensor<9x1x4x4xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c11) slots has one element per sequence, N = 3, got 4}}
  %sT = linattn.recurrence tokens(%q : tensor<3x?x1xf32>) state(%s : tensor<9x1x4x4xf32>)
      slots(%i : tensor<4xi32>) -> (tensor<9x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c11
func.func @slots_without_state(%q: tensor<?x?x1xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c11) slots asks for a state operand}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) slots(%i : tensor<?xi32>)
      -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c11
func.func @padding_positive(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c11) padding is negative, got 0}}
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      slots(%i : tensor<?xi32>, padding = 0) -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c11
func.func @padding_alone(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c11) padding asks for slots}}
  %o = "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, padding = -1 : i64}> ({
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return
}

// -----

// recurrence_c12
func.func @snapshots_zero(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c12) the period of snapshots is positive, got 0}}
  %sT, %all = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      snapshots(every = 0) -> (tensor<?x1x4x4xf32>, tensor<?x?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c12
func.func @snapshots_negative(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c12) the period of snapshots is positive, got -9223372036854775808}}
  %sT, %all = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      snapshots(every = -9223372036854775808) -> (tensor<?x1x4x4xf32>, tensor<?x?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c12
func.func @snapshots_without_state(%q: tensor<?x?x1xf32>) {
  // expected-error@+1 {{'linattn.recurrence' op (recurrence_c12) snapshots asks for a state operand}}
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) snapshots(every = 1)
      -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c13
func.func @region_in_step(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    %c = arith.constant true
    // expected-error@+1 {{'scf.if' op (recurrence_c13) is not allowed in a step: its operations are pure and have no region}}
    %r = scf.if %c -> f32 {
      scf.yield %qt : f32
    } else {
      scf.yield %qt : f32
    }
    linattn.yield %r : f32
  }
  return
}

// -----

// recurrence_c13
func.func private @g(f32) -> f32
func.func @call_in_step(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'func.call' op (recurrence_c13) is not allowed in a step: its operations are pure and have no region}}
    %r = func.call @g(%qt) : (f32) -> f32
    linattn.yield %r : f32
  }
  return
}

// -----

// recurrence_c13
func.func @tensor_in_step(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'tensor.empty' op (recurrence_c13) operations of a step give states, numbers and vectors of fixed size of at most 65536 numbers, got 'tensor<4xf32>'}}
    %t = tensor.empty() : tensor<4xf32>
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c13
func.func @scalable_in_step(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'vector.broadcast' op (recurrence_c13) operations of a step give states, numbers and vectors of fixed size of at most 65536 numbers, got 'vector<[4]xf32>'}}
    %t = vector.broadcast %qt : f32 to vector<[4]xf32>
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c13
func.func @huge_vector_in_step(%q: tensor<?x?x1xf32>) {
  %o = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^step(%qt: f32):
    // expected-error@+1 {{'vector.broadcast' op (recurrence_c13) operations of a step give states, numbers and vectors of fixed size of at most 65536 numbers, got 'vector<4611686018427387904x4xf32>'}}
    %t = vector.broadcast %qt : f32 to vector<4611686018427387904x4xf32>
    linattn.yield %qt : f32
  }
  return
}

// -----

// recurrence_c14
func.func @select_state(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    %s1 = linattn.decay %st, %qt : !linattn.state<4x4xf32>, f32
    %c = arith.constant true
    // expected-error@+1 {{'arith.select' op (recurrence_c14) is not allowed on a state: only decay, read, write and delta_update are}}
    %s2 = arith.select %c, %st, %s1 : !linattn.state<4x4xf32>
    linattn.yield %s2 : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c14
func.func @cast_state(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    // expected-error@+1 {{'builtin.unrealized_conversion_cast' op (recurrence_c14) is not allowed on a state: only decay, read, write and delta_update are}}
    %v = builtin.unrealized_conversion_cast %st : !linattn.state<4x4xf32> to vector<4x4xf32>
    linattn.yield %st : !linattn.state<4x4xf32>
  }
  return
}

// -----

// recurrence_c14
func.func @made_state(%q: tensor<?x?x1xf32>, %s: tensor<?x1x4x4xf32>) {
  %sT = linattn.recurrence tokens(%q : tensor<?x?x1xf32>) state(%s : tensor<?x1x4x4xf32>)
      -> (tensor<?x1x4x4xf32>) {
  ^step(%qt: f32, %st: !linattn.state<4x4xf32>):
    // expected-error@+1 {{'ub.poison' op (recurrence_c14) is not allowed on a state: only decay, read, write and delta_update are}}
    %p = ub.poison : !linattn.state<4x4xf32>
    linattn.yield %p : !linattn.state<4x4xf32>
  }
  return
}
