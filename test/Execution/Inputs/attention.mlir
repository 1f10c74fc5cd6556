// Kinds of attention, each with something of its own to do on tiles.

// Causal, grouped heads, V wider than K, the log-sum-exp; with more queries than
// keys the first ones see no key.
func.func @causal(%q: tensor<?x?x4x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"})
    -> (tensor<?x?x4x12xf32>, tensor<?x?x4xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 3.0 causal
      : (tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x12xf32>) -> (tensor<?x?x4x12xf32>, tensor<?x?x4xf32>)
  return %o, %lse : tensor<?x?x4x12xf32>, tensor<?x?x4xf32>
}

// A window to both sides.
func.func @window(%q: tensor<?x?x2x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x8xf32> {linattn.name = "v", linattn.sample = "value"})
    -> (tensor<?x?x2x8xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v window 40
      : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x8xf32>, tensor<?x?x2xf32>
}

// Packed queries and keys of other lengths; a causal window.
func.func @packed(%q: tensor<?x2x8xf32> {linattn.name = "q", linattn.dims = ["T", "", ""], linattn.sample = "value"},
    %k: tensor<?x2x8xf32> {linattn.name = "k", linattn.dims = ["T", "", ""], linattn.sample = "value"},
    %v: tensor<?x2x8xf32> {linattn.name = "v", linattn.dims = ["T", "", ""], linattn.sample = "value"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x8xf32>, tensor<?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal window 70 seqlens(%cu : tensor<?xi32>)
      : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> (tensor<?x2x8xf32>, tensor<?x2xf32>)
  return %o, %lse : tensor<?x2x8xf32>, tensor<?x2xf32>
}

// A bias by distance, from a table that has no place for keys after the query.
func.func @distance(%q: tensor<?x100x2x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x100x2x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x100x2x8xf32> {linattn.name = "v", linattn.sample = "value"},
    %bias: tensor<2x100xf32> {linattn.name = "bias", linattn.sample = "value"})
    -> tensor<?x100x2x8xf32> {
  %o = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %distance = arith.subi %t, %j : index
    %x = tensor.extract %bias[%h, %distance] : tensor<2x100xf32>
    %y = arith.addf %s, %x : f32
    linattn.yield %y : f32
  } : (tensor<?x100x2x8xf32>, tensor<?x100x2x8xf32>, tensor<?x100x2x8xf32>) -> (tensor<?x100x2x8xf32>)
  return %o : tensor<?x100x2x8xf32>
}

// Scores that leave some rows without a key: only keys of even places count, and
// none of them for odd queries.
func.func @scores(%q: tensor<?x?x2x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x8xf32> {linattn.name = "v", linattn.sample = "value"})
    -> (tensor<?x?x2x8xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %none = arith.constant 0xFF800000 : f32
    %both = arith.ori %t, %j : index
    %odd = arith.andi %both, %one : index
    %even = arith.cmpi eq, %odd, %zero : index
    %x = arith.select %even, %s, %none : f32
    linattn.yield %x : f32
  } : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x8xf32>, tensor<?x?x2xf32>
}

// Differential, version 1: two maps over grouped heads, norm and scale; the score
// region sees the query head.
func.func @diff_v1(%q: tensor<?x?x8x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x16xf32> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<16xf32> {linattn.name = "w", linattn.sample = "weight"})
    -> tensor<?x?x4x16xf32> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal norm(%w : tensor<16xf32>) eps 1.0e-5 output_scale 0.5 score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %i = arith.index_cast %h : index to i32
    %x = arith.sitofp %i : i32 to f32
    %y = arith.mulf %s, %x : f32
    linattn.yield %y : f32
  } : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<f32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// Version 2, packed; lambda per token.
func.func @diff_v2(%q: tensor<?x8x8xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x2x8xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x2x8xf32> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<?x4xf32> {linattn.name = "lam", linattn.sample = "raw"},
    %cu: tensor<?xi32> {linattn.name = "cu"}) -> tensor<?x4x8xf32> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal seqlens(%cu : tensor<?xi32>)
      : (tensor<?x8x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
