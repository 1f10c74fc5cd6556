// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// diff_attention_c1
func.func @f(%q: tensor<?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c1) the query has rank 4 without seqlens, got 'tensor<?x8x8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c1
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c1) the query has rank 3 with seqlens, got 'tensor<?x?x8x8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l seqlens(%cu : tensor<?xi32>)
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c2
func.func @f(%q: tensor<?x?x7x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c2) the query heads are even, got 7}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x7x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c2
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x4xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c2) query and key have the same width, got 8 and 4}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x4xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c2
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x?xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c2) the value has static heads and width from 1 to 65536, got 'tensor<?x?x2x?xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x?xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c3
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c3) the key heads are twice the value heads, 4, got 2}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c3
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x6x8xf32>, %v: tensor<?x?x3x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c3) the value heads divide half of the query heads, 4, got 3}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x6x8xf32>, tensor<?x?x3x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c3
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x8xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c3) the key heads are the value heads, 2, got 4}}
  %o = linattn.diff_attention v2 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<4xf32>) -> tensor<?x?x4x8xf32>
  return
}

// -----

// diff_attention_c3
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x3x8xf32>, %v: tensor<?x?x3x8xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c3) the value heads divide half of the query heads, 4, got 3}}
  %o = linattn.diff_attention v2 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x3x8xf32>, tensor<?x?x3x8xf32>, tensor<4xf32>) -> tensor<?x?x4x8xf32>
  return
}

// -----

// diff_attention_c4
func.func @f(%q: tensor<2x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<3x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c4) query, key and value have the same B, got 'tensor<2x?x8x8xf32>', 'tensor<?x?x4x8xf32>', 'tensor<3x?x2x16xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<2x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<3x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c4
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x9x4x8xf32>, %v: tensor<?x8x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c4) key and value have the same S, got 9 and 8}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x9x4x8xf32>, tensor<?x8x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c5
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<8xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c5) lambda is a scalar, [H] or [B, T, H] (packed [T, H]) with H = 4, got 'tensor<8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<8xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c5
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<?x?x8xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c5) lambda is a scalar, [H] or [B, T, H] (packed [T, H]) with H = 4, got 'tensor<?x?x8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<?x?x8xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c5
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<?x4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c5) lambda is a scalar, [H] or [B, T, H] (packed [T, H]) with H = 4, got 'tensor<?x4xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<?x4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c6
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c6) the result is 'tensor<?x?x4x16xf32>', got 'tensor<?x?x8x16xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x8x16xf32>
  return
}

// -----

// diff_attention_c6
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c6) the result is 'tensor<?x?x4x16xf32>', got 'tensor<?x?x4x8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x8xf32>
  return
}

// -----

// diff_attention_c7
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c7) the norm weight is [Dv], Dv = 16, got 'tensor<8xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l norm(%w : tensor<8xf32>)
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c7
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>, %w: tensor<1x16xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c7) the norm weight is [Dv], Dv = 16, got 'tensor<1x16xf32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l norm(%w : tensor<1x16xf32>)
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c7
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>, %w: tensor<16xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c7) eps is finite and not negative, got -1.000000e+00}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l norm(%w : tensor<16xf32>) eps -1.0
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c7
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c7) eps belongs to a norm, got 1.000000e-06 without one}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l eps 1.0e-6
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c7
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>, %l: tensor<4xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c7) norm belongs to v1, got v2}}
  %o = linattn.diff_attention v2 %q, %k, %v, %l norm(%w : tensor<8xf32>)
      : (tensor<?x?x8x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<4xf32>) -> tensor<?x?x4x8xf32>
  return
}

// -----

// diff_attention_c8
func.func @f(%q: tensor<?x?x8x8xbf16>, %k: tensor<?x?x4x8xbf16>, %v: tensor<?x?x2x16xbf16>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c8) output_scale is finite in f32, got -9.9999999999999994E+38 : f64}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l output_scale -1.0e39
      : (tensor<?x?x8x8xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x2x16xbf16>, tensor<4xf32>) -> tensor<?x?x4x16xbf16>
  return
}

// -----

// diff_attention_c8
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c8) the window is from 1 to 1073741824, got -1}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l causal window -1
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c8
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c8) the scale is finite in f32, got 0x7FF0000000000000 : f64}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l scale 0x7FF0000000000000
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c8
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c8) output_scale is finite in f32, got 0x7FF8000000000000 : f64}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l output_scale 0x7FF8000000000000
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c9
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c9) the score region takes ('f32', 'index', 'index', 'index', 'index'), got ('f32', 'index', 'index', 'index')}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l score {
  ^score(%s: f32, %b: index, %h: index, %t: index):
    linattn.yield %s : f32
  }
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c9
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c9) the score region yields one 'f32'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    linattn.yield %s, %s : f32, f32
  }
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c9
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  %o = linattn.diff_attention v1 %q, %k, %v, %l score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    // expected-error@+1 {{'math.exp' op (diff_attention_c9) operations of a score region give numbers and vectors of fixed size of at most 65536 numbers, got 'tensor<?x?x2x16xf32>'}}
    %e = "math.exp"(%v) : (tensor<?x?x2x16xf32>) -> tensor<?x?x2x16xf32>
    linattn.yield %s : f32
  }
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c10
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>, %ck: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c10) kv_seqlens asks for seqlens}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l kv_seqlens(%ck : tensor<?xi32>)
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// diff_attention_c10
func.func @f(%q: tensor<?x8x8xf32>, %k: tensor<?x4x8xf32>, %v: tensor<?x2x16xf32>, %l: tensor<4xf32>, %cu: tensor<i32>) {
  // expected-error@+1 {{'linattn.diff_attention' op (diff_attention_c10) seqlens and kv_seqlens are [N + 1], got 'tensor<i32>'}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l seqlens(%cu : tensor<i32>)
      : (tensor<?x8x8xf32>, tensor<?x4x8xf32>, tensor<?x2x16xf32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  return
}

// -----

// an unknown version
func.func @f(%q: tensor<?x?x8x8xf32>, %k: tensor<?x?x4x8xf32>, %v: tensor<?x?x2x16xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'linattn.diff_attention' expected string or keyword containing one of the following enum values for attribute 'version' [v1, v2]}}
  %o = linattn.diff_attention v3 %q, %k, %v, %l
      : (tensor<?x?x8x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>) -> tensor<?x?x4x16xf32>
  return
}
