// Softmax attention, causal: o_t = sum_{s <= t} softmax_s(D^-1/2 q_t . k_s) v_s.
// 16 query heads over 4 key/value heads.
// reference: softmax_attention(q, k, v, causal=True) -> o
func.func @softmax_attention(
    %q: tensor<?x?x16x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x4x64xbf16> {linattn.name = "v", linattn.sample = "value"})
    -> tensor<?x?x16x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x16x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>)
     -> (tensor<?x?x16x64xbf16>)
  return %o : tensor<?x?x16x64xbf16>
}
