// Differential attention, version 1:
// o = (1 - lambda_init) RMSNorm((softmax(q1 k1) - lambda softmax(q2 k2)) V), V of
// width 2 D. Map m of head h: query head 2 h + m, key head 2 (h / 2) + m, value head
// h / 2. lambda_init = 0.8 - 0.6 e^{-0.3 depth} is 0.2 in the first layer (depth 0).
// reference: diff_attention_v1(q, k, v, lam, norm_weight=w, output_scale=0.8, causal=True) -> o
func.func @diff_attention_v1(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<4xf32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<128xf32> {linattn.name = "w", linattn.sample = "weight"})
    -> tensor<?x?x4x128xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal norm(%w : tensor<128xf32>) output_scale 0.8
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>)
     -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}
