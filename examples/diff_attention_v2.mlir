// Differential attention, version 2: o_h = A_2h - sigmoid(l_h) A_2h+1, where A is
// softmax attention and both query heads of a pair read one key/value head; l is
// per token and head. 8 query heads over 2 key/value heads.
// reference: diff_attention_v2(q, k, v, l, causal=True) -> o
func.func @diff_attention_v2(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %l: tensor<?x?x4xf32> {linattn.name = "l", linattn.sample = "raw"})
    -> tensor<?x?x4x64xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %l causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x4xf32>)
     -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
