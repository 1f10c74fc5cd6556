func.func @f(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x1x64xbf16>, %v: tensor<?x?x1x64xbf16>) -> tensor<?x?x2x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}
