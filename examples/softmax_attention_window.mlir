// Softmax attention over a sliding window of 128 tokens, t - 128 < s <= t, with the
// log-sum-exp of the scores as second result. V is wider than K.
// reference: softmax_attention(q, k, v, causal=True, window=128, return_lse=True) -> o, lse
func.func @softmax_attention_window(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x8x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x8x128xbf16> {linattn.name = "v", linattn.sample = "value"})
    -> (tensor<?x?x8x128xbf16>, tensor<?x?x8xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal window 128
      : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x128xbf16>)
     -> (tensor<?x?x8x128xbf16>, tensor<?x?x8xf32>)
  return %o, %lse : tensor<?x?x8x128xbf16>, tensor<?x?x8xf32>
}
