// What stands between the projections of a differential attention module, in
// bf16: lambda of its four vectors, both maps, the norm and the output scale.

// lambda_h = exp(lq1_h . lk1_h) - exp(lq2_h . lk2_h) + lambda_init
func.func @published_lambda(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lq1: tensor<4x64xf32> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<4x64xf32> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<4x64xf32> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<4x64xf32> {linattn.name = "lk2", linattn.sample = "unit_key"},
    %w: tensor<128xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x4x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %l0 = tensor.empty() : tensor<4xf32>
  %l1 = linalg.fill ins(%zero : f32) outs(%l0 : tensor<4xf32>) -> tensor<4xf32>
  %dot1 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq1, %lk1 : tensor<4x64xf32>, tensor<4x64xf32>) outs(%l1 : tensor<4xf32>) -> tensor<4xf32>
  %dot2 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq2, %lk2 : tensor<4x64xf32>, tensor<4x64xf32>) outs(%l1 : tensor<4xf32>) -> tensor<4xf32>
  %lambda = linalg.map ins(%dot1, %dot2 : tensor<4xf32>, tensor<4xf32>) outs(%l0 : tensor<4xf32>)
      (%a: f32, %b: f32, %init: f32) {
        %ea = math.exp %a : f32
        %eb = math.exp %b : f32
        %d = arith.subf %ea, %eb : f32
        %init64 = arith.constant 0.2 : f64
        %lambda_init = arith.truncf %init64 : f64 to f32
        %sum = arith.addf %d, %lambda_init : f32
        linalg.yield %sum : f32
      }
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal norm(%w : tensor<128xf32>) eps 1.0e-5 output_scale 0.8
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// lambda = mean over (i, j) of exp(lq1_i . lk1_j - lq2_i . lk2_j), of bf16 vectors
// whose width is no multiple of 16.
func.func @mean_lambda(
    %q: tensor<?x?x4x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lq1: tensor<2x20xbf16> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<2x20xbf16> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<2x20xbf16> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<2x20xbf16> {linattn.name = "lk2", linattn.sample = "unit_key"}) -> tensor<?x?x2x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %p0 = tensor.empty() : tensor<2x2xf32>
  %p1 = linalg.fill ins(%zero : f32) outs(%p0 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %dot1 = linalg.contract
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%lq1, %lk1 : tensor<2x20xbf16>, tensor<2x20xbf16>) outs(%p1 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %dot2 = linalg.contract
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%lq2, %lk2 : tensor<2x20xbf16>, tensor<2x20xbf16>) outs(%p1 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %l0 = tensor.empty() : tensor<f32>
  %l1 = linalg.fill ins(%zero : f32) outs(%l0 : tensor<f32>) -> tensor<f32>
  %lambda = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%dot1, %dot2 : tensor<2x2xf32>, tensor<2x2xf32>) outs(%l1 : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      %quarter = arith.constant 0.25 : f32
      %part = arith.mulf %e, %quarter : f32
      %next = arith.addf %sum, %part : f32
      linalg.yield %next : f32
  } -> tensor<f32>
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<f32>) -> tensor<?x?x2x128xbf16>
  return %o : tensor<?x?x2x128xbf16>
}

// The published lambda spelt by products, sums and elementwise operations on
// whole tensors, lambda_init an argument.
func.func @spelt_lambda(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lq1: tensor<4x64xf32> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<4x64xf32> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<4x64xf32> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<4x64xf32> {linattn.name = "lk2", linattn.sample = "unit_key"},
    %init: tensor<f32> {linattn.name = "init", linattn.sample = "rate"}) -> tensor<?x?x4x128xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p1 = arith.mulf %lq1, %lk1 : tensor<4x64xf32>
  %p2 = arith.mulf %lq2, %lk2 : tensor<4x64xf32>
  %dot1 = linalg.reduce { arith.addf } ins(%p1 : tensor<4x64xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %dot2 = linalg.reduce { arith.addf } ins(%p2 : tensor<4x64xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %e1 = math.exp %dot1 : tensor<4xf32>
  %e2 = math.exp %dot2 : tensor<4xf32>
  %d = arith.subf %e1, %e2 : tensor<4xf32>
  %l0 = tensor.empty() : tensor<4xf32>
  %inits = linalg.broadcast ins(%init : tensor<f32>) outs(%l0 : tensor<4xf32>) dimensions = [0]
  %lambda = arith.addf %d, %inits : tensor<4xf32>
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}
