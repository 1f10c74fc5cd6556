// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// softmax_attention_c1
func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c1) the query has rank 4 without seqlens, got 'tensor<?x4x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c1
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c1) the value has rank 4 without seqlens, got 'tensor<?x?x?x2x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c1
func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x2x8xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c1) the key has rank 3 with seqlens, got 'tensor<?x?x2x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v seqlens(%cu : tensor<?xi32>)
      : (tensor<?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>)
  return
}

// -----

// softmax_attention_c2
func.func @f(%q: tensor<?x?x?x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c2) the query has static heads and width from 1 to 65536, got 'tensor<?x?x?x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x?x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c2
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x0x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c2) the key has static heads and width from 1 to 65536, got 'tensor<?x?x0x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x0x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c2
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x65537xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c2) the value has static heads and width from 1 to 65536, got 'tensor<?x?x2x65537xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x65537xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c2
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c2) query and key have the same width, got 8 and 16}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c2
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x4x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c2) key and value have the same heads, got 2 and 4}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x4x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c3
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x3x8xf32>, %v: tensor<?x?x3x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c3) the key heads divide the query heads, 4, got 3}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x3x8xf32>, tensor<?x?x3x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c4
func.func @f(%q: tensor<2x?x4x8xf32>, %k: tensor<3x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c4) query, key and value have the same B, got 'tensor<2x?x4x8xf32>', 'tensor<3x?x2x8xf32>', 'tensor<?x?x2x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<2x?x4x8xf32>, tensor<3x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c4
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x16x2x8xf32>, %v: tensor<?x17x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c4) key and value have the same S, got 16 and 17}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x16x2x8xf32>, tensor<?x17x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c4
func.func @f(%q: tensor<64x4x8xf32>, %k: tensor<65x2x8xf32>, %v: tensor<?x2x8xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c4) without kv_seqlens packed queries and keys are as many, got 64 and 65}}
  %o = linattn.softmax_attention %q, %k, %v seqlens(%cu : tensor<?xi32>)
      : (tensor<64x4x8xf32>, tensor<65x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>)
  return
}

// -----

// softmax_attention_c5
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c5) the result is 'tensor<?x?x4x8xf32>', got 'tensor<?x?x2x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>)
  return
}

// -----

// softmax_attention_c5
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x16xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c5) the result is 'tensor<?x?x4x16xf32>', got 'tensor<?x?x4x8xf32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x16xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c5
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c5) the log-sum-exp is 'tensor<?x?x4xf32>', got 'tensor<?x?x4xbf16>'}}
  %o, %lse = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x?x4xbf16>)
  return
}

// -----

// softmax_attention_c5
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c5) the log-sum-exp is 'tensor<?x?x4xf32>', got 'tensor<?x?x8xf32>'}}
  %o, %lse = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>, tensor<?x?x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the window is from 1 to 1073741824, got 0}}
  %o = linattn.softmax_attention %q, %k, %v window 0
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the window is from 1 to 1073741824, got -5}}
  %o = linattn.softmax_attention %q, %k, %v causal window -5
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the scale is finite in f32, got 0xFFF0000000000000 : f64}}
  %o = linattn.softmax_attention %q, %k, %v scale 0xFFF0000000000000
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the window is from 1 to 1073741824, got 9223372036854775807}}
  %o = linattn.softmax_attention %q, %k, %v window 9223372036854775807
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the window is from 1 to 1073741824, got 1073741825}}
  %o = linattn.softmax_attention %q, %k, %v causal window 1073741825
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the scale is finite in f32, got 9.9999999999999994E+38 : f64}}
  %o = linattn.softmax_attention %q, %k, %v scale 1.0e39
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c6
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c6) the scale is finite in f32, got 0x7FF8000000000000 : f64}}
  %o = linattn.softmax_attention %q, %k, %v scale 0x7FF8000000000000
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c7) the score region takes ('f32', 'index', 'index', 'index', 'index'), got ('f64', 'index', 'index', 'index', 'index')}}
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f64, %b: index, %h: index, %t: index, %j: index):
    linattn.yield %s : f64
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c7) the score region takes ('f32', 'index', 'index', 'index', 'index'), got ('f32')}}
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32):
    linattn.yield %s : f32
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c7) the score region yields one 'f32'}}
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    linattn.yield
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c7) the score region yields one 'f32'}}
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    linattn.yield %b : index
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>, %x: memref<?xf32>) {
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    // expected-error@+1 {{'memref.load' op (softmax_attention_c7) is not allowed in a score region: its operations are pure and have no region}}
    %m = memref.load %x[%j] : memref<?xf32>
    linattn.yield %m : f32
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    // expected-error@+1 {{'tensor.empty' op (softmax_attention_c7) operations of a score region give numbers and vectors of fixed size of at most 65536 numbers, got 'tensor<4xf32>'}}
    %m = tensor.empty() : tensor<4xf32>
    linattn.yield %s : f32
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c7) the score region yields one 'f32'}}
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    llvm.unreachable
  }
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c8
func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %cu: tensor<?x2xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c8) seqlens and kv_seqlens are [N + 1], got 'tensor<?x2xi32>'}}
  %o = linattn.softmax_attention %q, %k, %v seqlens(%cu : tensor<?x2xi32>)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>)
  return
}

// -----

// softmax_attention_c8
func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %cu: tensor<4xi32>, %ck: tensor<5xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c8) seqlens and kv_seqlens have the same N, got 'tensor<4xi32>' and 'tensor<5xi32>'}}
  %o = linattn.softmax_attention %q, %k, %v seqlens(%cu : tensor<4xi32>) kv_seqlens(%ck : tensor<5xi32>)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>)
  return
}

// -----

// softmax_attention_c8
func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %cu: tensor<?xi32>, %ck: tensor<0xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c8) seqlens and kv_seqlens are [N + 1], got 'tensor<0xi32>'}}
  %o = linattn.softmax_attention %q, %k, %v seqlens(%cu : tensor<?xi32>) kv_seqlens(%ck : tensor<0xi32>)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x4x8xf32>)
  return
}

// -----

// softmax_attention_c8
func.func @f(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>, %ck: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op (softmax_attention_c8) kv_seqlens asks for seqlens}}
  %o = linattn.softmax_attention %q, %k, %v kv_seqlens(%ck : tensor<?xi32>)
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// two blocks
func.func @f(%q: tensor<?x?x4x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op region #0 ('score') failed to verify constraint: region with at most 1 blocks}}
  %o = linattn.softmax_attention %q, %q, %q score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    cf.br ^next
  ^next:
    linattn.yield %s : f32
  } : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// an integer query
func.func @f(%q: tensor<?x?x4x8xi32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) {
  // expected-error@+1 {{'linattn.softmax_attention' op operand #0 must be ranked tensor without encoding of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x?x4x8xi32>'}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xi32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x4x8xf32>)
  return
}

// -----

// softmax_attention_c7
func.func @f(%q: tensor<?x?x1x4xf32>, %s: !linattn.state<4x4xf32>, %k: vector<4xf32>) {
  %o = linattn.softmax_attention %q, %q, %q score {
  ^score(%sc: f32, %b: index, %h: index, %t: index, %j: index):
    // expected-error@+1 {{'linattn.read' op (softmax_attention_c7) there are no states in a score region}}
    %r = linattn.read %s, %k : !linattn.state<4x4xf32>, vector<4xf32>
    linattn.yield %sc : f32
  } : (tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>)
  return
}
