// Two short convolutions before a recurrence, which reads their channels as heads;
// the window of one is carried on.
func.func @layer(
    %x: tensor<?x?x192xbf16> {linattn.name = "x", linattn.dims = ["B", "T", ""], linattn.sample = "value"},
    %xv: tensor<?x?x128xbf16> {linattn.name = "xv", linattn.dims = ["B", "T", ""], linattn.sample = "value"},
    %w: tensor<192x4xf32> {linattn.name = "w", linattn.sample = "weight"},
    %wv: tensor<128x4xf32> {linattn.name = "wv", linattn.sample = "weight"},
    %window: tensor<?x128x3xbf16> {linattn.name = "window", linattn.dims = ["B", "", ""], linattn.sample = "value"},
    %g: tensor<?x?x4xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %s0: tensor<?x4x48x32xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x4x32xbf16>, tensor<?x128x3xbf16>, tensor<?x4x48x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x192xbf16>
  %T = tensor.dim %x, %c1 : tensor<?x?x192xbf16>
  %k = linattn.short_conv %x, %w activation silu : (tensor<?x?x192xbf16>, tensor<192x4xf32>) -> (tensor<?x?x192xbf16>)
  %v, %end = linattn.short_conv %xv, %wv window(%window : tensor<?x128x3xbf16>) activation silu
      : (tensor<?x?x128xbf16>, tensor<128x4xf32>) -> (tensor<?x?x128xbf16>, tensor<?x128x3xbf16>)
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%B, %T, 4, 48] : tensor<?x?x192xbf16> into tensor<?x?x4x48xbf16>
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%B, %T, 4, 32] : tensor<?x?x128xbf16> into tensor<?x?x4x32xbf16>
  %o, %sT = linattn.recurrence tokens(%kh : tensor<?x?x4x48xbf16>, %vh : tensor<?x?x4x32xbf16>, %g : tensor<?x?x4xf32>)
      state(%s0 : tensor<?x4x48x32xf32>) -> (tensor<?x?x4x32xbf16>, tensor<?x4x48x32xf32>) {
  ^step(%kt: vector<48xbf16>, %vt: vector<32xbf16>, %gt: f32, %s: !linattn.state<48x32xf32>):
    %kn = linattn.l2norm %kt eps 1.0e-6 : vector<48xbf16> -> vector<48xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<48x32xf32>, f32
    %s2 = linattn.write %s1, %kn, %vt : !linattn.state<48x32xf32>, vector<48xf32>, vector<32xbf16>
    %ot = linattn.read %s2, %kn : !linattn.state<48x32xf32>, vector<48xf32>
    %ob = arith.truncf %ot : vector<32xf32> to vector<32xbf16>
    linattn.yield %ob, %s2 : vector<32xbf16>, !linattn.state<48x32xf32>
  }
  return %o, %end, %sT : tensor<?x?x4x32xbf16>, tensor<?x128x3xbf16>, tensor<?x4x48x32xf32>
}

// The same packed, the sizes without names, and the second convolution after the
// first: the inner result is returned too.
func.func @packed(%x: tensor<?x64xf32> {linattn.name = "x"}, %w: tensor<64x3xf32> {linattn.name = "w"},
    %cu: tensor<?xi32> {linattn.name = "cu"}, %unused: tensor<?x2xf32> {linattn.name = "unused"})
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<?xi32>) : (tensor<?x64xf32>, tensor<64x3xf32>) -> (tensor<?x64xf32>)
  %z = linattn.short_conv %y, %w seqlens(%cu : tensor<?xi32>) activation silu
      : (tensor<?x64xf32>, tensor<64x3xf32>) -> (tensor<?x64xf32>)
  %u = linattn.short_conv %z, %w seqlens(%cu : tensor<?xi32>) : (tensor<?x64xf32>, tensor<64x3xf32>) -> (tensor<?x64xf32>)
  %T = tensor.dim %x, %c0 : tensor<?x64xf32>
  %uh = tensor.expand_shape %u [[0], [1, 2]] output_shape [%T, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %zero = arith.constant 0.0 : f32
  %offsets = tensor.dim %cu, %c0 : tensor<?xi32>
  %N = arith.subi %offsets, %c1 : index
  %empty = tensor.empty(%N) : tensor<?x4x16x16xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32>
  %o, %sT = linattn.recurrence tokens(%uh : tensor<?x4x16xf32>) state(%s0 : tensor<?x4x16x16xf32>)
      seqlens(%cu : tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>) {
  ^step(%ut: vector<16xf32>, %s: !linattn.state<16x16xf32>):
    %k = linattn.l2norm %ut eps 1.0e-6 : vector<16xf32> -> vector<16xf32>
    %s1 = linattn.write %s, %k, %ut : !linattn.state<16x16xf32>, vector<16xf32>, vector<16xf32>
    %ot = linattn.read %s1, %k : !linattn.state<16x16xf32>, vector<16xf32>
    linattn.yield %ot, %s1 : vector<16xf32>, !linattn.state<16x16xf32>
  }
  return %y, %z, %o : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x4x16xf32>
}
