// RUN: linattn-opt %s --linattn-tile-attention="query-tile=16 key-tile=64" --canonicalize --linattn-attention-tiles-to-tile="split-keys=96" --split-input-file --verify-diagnostics

func.func @uneven(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not split over keys: a part is a multiple of the key tile, 64, got 96}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}

// -----

func.func @sums(%q: tensor<?x?x4x16xf32>, %v: tensor<?x?x2x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not split over keys: parts are combined of running maxima, sums and weighted values, which its carried values are not (split-keys=0)}}
  %o = linattn.attention_tiles heads = 4 query_tile = 16 key_tile = 16 causal
      queries(%q : tensor<?x?x4x16xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%v : tensor<?x?x2x16xf32>) key_heads = [affine_map<(h) -> (h floordiv 2)>]
      init = [0.0 : f64] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<16x16xi1>,
        %qt: tensor<16x16xf32>, %vt: tensor<16x16xf32>, %acc: tensor<16x16xf32>):
    %p = arith.uitofp %allowed : tensor<16x16xi1> to tensor<16x16xf32>
    %next = linalg.matmul ins(%p, %vt : tensor<16x16xf32>, tensor<16x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    linattn.yield %next : tensor<16x16xf32>
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<16x16xf32>, %acc: tensor<16x16xf32>):
    linattn.yield %acc : tensor<16x16xf32>
  } -> (tensor<?x?x4x16xf32>)
  return %o : tensor<?x?x4x16xf32>
}
