// Differential attention of width 128 with score regions.

func.func @v1_bias_window(%q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"}, %k: tensor<?x?x8x64xbf16> {linattn.name = "k", linattn.sample = "value"}, %v: tensor<?x?x4x128xbf16> {linattn.name = "v", linattn.sample = "value"}, %bias: tensor<8x?x?xf32> {linattn.name = "bias", linattn.sample = "value", linattn.dims = ["", "T", "S"]}, %lam: tensor<4xf32> {linattn.name = "lam", linattn.sample = "rate"}, %w: tensor<128xf32> {linattn.name = "w", linattn.sample = "weight"}) -> (tensor<?x?x4x128xbf16>) {
  %r0 = linattn.diff_attention v1 %q, %k, %v, %lam window 9 norm(%w : tensor<128xf32>) eps 1.0e-5 output_scale 0.8  score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %x = tensor.extract %bias[%h, %t, %j] : tensor<8x?x?xf32>
    %z = arith.addf %s, %x : f32
    linattn.yield %z : f32
  }
      : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x4x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %r0 : tensor<?x?x4x128xbf16>
}

func.func @v2_bias_causal(%q: tensor<?x?x8x128xbf16> {linattn.name = "q", linattn.sample = "value"}, %k: tensor<?x?x4x128xbf16> {linattn.name = "k", linattn.sample = "value"}, %v: tensor<?x?x4x128xbf16> {linattn.name = "v", linattn.sample = "value"}, %bias: tensor<8x?x?xf32> {linattn.name = "bias", linattn.sample = "value", linattn.dims = ["", "T", "S"]}, %lam: tensor<4xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> (tensor<?x?x4x128xbf16>) {
  %r0 = linattn.diff_attention v2 %q, %k, %v, %lam causal score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %x = tensor.extract %bias[%h, %t, %j] : tensor<8x?x?xf32>
    %z = arith.addf %s, %x : f32
    linattn.yield %z : f32
  }
      : (tensor<?x?x8x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %r0 : tensor<?x?x4x128xbf16>
}

func.func @v2_alibi_full(%q: tensor<?x?x8x128xbf16> {linattn.name = "q", linattn.sample = "value"}, %k: tensor<?x?x4x128xbf16> {linattn.name = "k", linattn.sample = "value"}, %v: tensor<?x?x4x128xbf16> {linattn.name = "v", linattn.sample = "value"}, %lam: tensor<4xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> (tensor<?x?x4x128xbf16>) {
  %r0 = linattn.diff_attention v2 %q, %k, %v, %lam  score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %d = arith.subi %j, %t : index
    %i = arith.index_cast %d : index to i32
    %f = arith.sitofp %i : i32 to f32
    %n = arith.index_cast %h : index to i32
    %g = arith.sitofp %n : i32 to f32
    %c = arith.constant 0.03 : f32
    %m = arith.mulf %g, %c : f32
    %p = arith.mulf %m, %f : f32
    %z = arith.addf %s, %p : f32
    linattn.yield %z : f32
  }
      : (tensor<?x?x8x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %r0 : tensor<?x?x4x128xbf16>
}
