func.func @long_sum(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x64xbf16>, %x: tensor<100x2xf32>) -> tensor<?x?x2x64xbf16> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %lambda = linalg.reduce { arith.addf } ins(%x : tensor<100x2xf32>) outs(%zero : tensor<2xf32>) dimensions = [0]
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x64xbf16>, tensor<2xf32>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}
