// One query per sequence against a cache of keys and values: 32 query heads over
// 8 heads of the cache.
func.func @decode(%q: tensor<?x1x32x128xbf16> {linattn.name = "q"},
                  %k: tensor<?x?x8x128xbf16> {linattn.name = "k"},
                  %v: tensor<?x?x8x128xbf16> {linattn.name = "v"}) -> tensor<?x1x32x128xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x1x32x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>) -> (tensor<?x1x32x128xbf16>)
  return %o : tensor<?x1x32x128xbf16>
}
