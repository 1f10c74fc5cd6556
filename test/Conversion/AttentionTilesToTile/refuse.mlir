// RUN: linattn-opt %s --linattn-tile-attention="query-tile=128" --canonicalize --linattn-attention-tiles-to-tile --split-input-file --verify-diagnostics

func.func @f64(%q: tensor<?x?x2x64xf64>, %k: tensor<?x?x2x64xf64>, %v: tensor<?x?x2x64xf64>) -> tensor<?x?x2x64xf64> {
  // expected-error @+1 {{'linattn.attention_tiles' op has no form on tiles: operand 0 is f64 (the CPU runs it; f32 goes in 3 tf32 products)}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x2x64xf64>, tensor<?x?x2x64xf64>, tensor<?x?x2x64xf64>) -> (tensor<?x?x2x64xf64>)
  return %o : tensor<?x?x2x64xf64>
}

// -----

func.func @odd(%q: tensor<?x?x2x33xbf16>, %k: tensor<?x?x2x33xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op has no form on tiles: operand 0 has 33 elements of 'bf16' per token and head, no multiple of 4 bytes (pad it, or the CPU runs it)}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x2x33xbf16>, tensor<?x?x2x33xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}

// -----

func.func @wide(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x256xbf16>) -> tensor<?x?x2x256xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not lowered to tiles: tiles of 128 queries and 64 keys on 4 warps need about 376 registers of a thread, which has 255 (smaller tiles, or narrower values)}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x256xbf16>) -> (tensor<?x?x2x256xbf16>)
  return %o : tensor<?x?x2x256xbf16>
}

// -----

// A norm meets all columns of the values, and a row of one map is too wide.
func.func @norm(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x2x512xbf16>, %l: tensor<f32>, %w: tensor<512xf32>) -> tensor<?x?x2x512xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not lowered to tiles: the smallest ones need about 584 registers of a thread, which has 255, for a row of values, 320 if carried values go over the keys one after another, and the columns of these have no parts: the regions have a vector over the value columns, as a norm's weight is (compute it after the operation, or narrow the values)}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l norm(%w : tensor<512xf32>)
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x2x512xbf16>, tensor<f32>) -> tensor<?x?x2x512xbf16>
  return %o : tensor<?x?x2x512xbf16>
}

// -----

func.func @uneven(%q: tensor<?x?x4x200xbf16>, %k: tensor<?x?x4x200xbf16>, %v: tensor<?x?x2x400xbf16>, %l: tensor<f32>) -> tensor<?x?x2x400xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not lowered to tiles: the smallest ones need about 472 registers of a thread, which has 255, for a row of values, 264 if carried values go over the keys one after another, and the columns of these have no parts: no 2 or 4 parts of 400 columns are few enough multiples of 16 (pad the values to a multiple of 32 or 64, of at most 512)}}
  %o = linattn.diff_attention v1 %q, %k, %v, %l
      : (tensor<?x?x4x200xbf16>, tensor<?x?x4x200xbf16>, tensor<?x?x2x400xbf16>, tensor<f32>) -> tensor<?x?x2x400xbf16>
  return %o : tensor<?x?x2x400xbf16>
}

// -----

func.func @distance(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>, %bias: tensor<2x?xf32>) -> tensor<?x?x2x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %d = arith.subi %t, %j : index
    // expected-error @+1 {{'tensor.extract' op has no form on tiles: a table is read at a place that moves along one dimension with the query and along another with the key; compute what depends on both in the region, or give a table with both dimensions (the CPU runs it)}}
    %x = tensor.extract %bias[%h, %d] : tensor<2x?xf32>
    %y = arith.addf %s, %x : f32
    linattn.yield %y : f32
  } : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}

// -----

func.func @mixed(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xbf16> {
  // expected-error @+1 {{'arith.truncf' op has no form on tiles: a tile of keys or values is an operand of products alone, in the type it has in memory (compute on it before the operation) (the CPU runs it)}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xf32>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}

// -----

func.func @recurrence(%k: tensor<?x?x2x16xf32>, %s0: tensor<?x2x16x16xf32>) -> tensor<?x2x16x16xf32> {
  // expected-error @+1 {{'linattn.recurrence' op is no attention on tiles (--linattn-tile-attention makes it)}}
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x16xf32>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^step(%kt: vector<16xf32>, %s: !linattn.state<16x16xf32>):
    linattn.yield %s : !linattn.state<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}
