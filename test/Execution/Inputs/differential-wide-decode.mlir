// The same with a cache of keys, in parts, and few queries.

func.func @decode(
    %q: tensor<?x1x8x128xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x128xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<256xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x1x4x256xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal norm(%w : tensor<256xf32>) eps 1.0e-6 output_scale 0.8
      : (tensor<?x1x8x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x2x256xbf16>, tensor<f32>) -> tensor<?x1x4x256xbf16>
  return %o : tensor<?x1x4x256xbf16>
}

func.func @decode_without_norm(
    %q: tensor<?x2x8x128xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x128xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x2x4x256xf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x2x8x128xf16>, tensor<?x?x1x128xf16>, tensor<?x?x1x256xf16>, tensor<f32>) -> tensor<?x2x4x256xf16>
  return %o : tensor<?x2x4x256xf16>
}
