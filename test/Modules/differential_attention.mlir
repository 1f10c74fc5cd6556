// RUN: linattn-opt %s --verify-roundtrip -o /dev/null

// Reference module: a whole differential attention V1 layer, d_model 32, 2 heads
// of two maps of width 8 over values of width 16; the causal form with the
// published lambda, and the form over all tokens whose lambda is a mean over pairs
// of heads. The definition: differential_attention.py beside this file.

// reference: modules.differential_attention.forward(x, W_q1, W_k1, W_q2, W_k2, W_v,
//   modules.differential_attention.published_lambda(lq1, lk1, lq2, lk2, 0.2),
//   norm_weight, out_proj, lambda_init=0.2, causal=True) -> y
func.func @differential_attention_layer(
    %x: tensor<?x?x32xf32> {linattn.name = "x", linattn.dims = ["B", "T", ""], linattn.sample = "value"},
    %W_q1: tensor<32x16xf32> {linattn.name = "W_q1", linattn.sample = "value"},
    %W_k1: tensor<32x16xf32> {linattn.name = "W_k1", linattn.sample = "value"},
    %W_q2: tensor<32x16xf32> {linattn.name = "W_q2", linattn.sample = "value"},
    %W_k2: tensor<32x16xf32> {linattn.name = "W_k2", linattn.sample = "value"},
    %W_v: tensor<32x32xf32> {linattn.name = "W_v", linattn.sample = "value"},
    %lq1: tensor<2x8xf32> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<2x8xf32> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<2x8xf32> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<2x8xf32> {linattn.name = "lk2", linattn.sample = "unit_key"},
    %norm_weight: tensor<16xf32> {linattn.name = "norm_weight", linattn.sample = "weight"},
    %out_proj: tensor<32x32xf32> {linattn.name = "out_proj", linattn.sample = "value"})
    -> tensor<?x?x32xf32> {
  %q = func.call @two_maps(%x, %W_q1, %W_q2)
      : (tensor<?x?x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<?x?x4x8xf32>
  %k = func.call @two_maps(%x, %W_k1, %W_k2)
      : (tensor<?x?x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<?x?x4x8xf32>
  %v = func.call @values(%x, %W_v) : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x2x16xf32>

  // lambda_h = exp(lq1_h . lk1_h) - exp(lq2_h . lk2_h) + lambda_init
  %zero = arith.constant 0.0 : f32
  %l0 = tensor.empty() : tensor<2xf32>
  %l1 = linalg.fill ins(%zero : f32) outs(%l0 : tensor<2xf32>) -> tensor<2xf32>
  %dot1 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq1, %lk1 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%l1 : tensor<2xf32>) -> tensor<2xf32>
  %dot2 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq2, %lk2 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%l1 : tensor<2xf32>) -> tensor<2xf32>
  %lambda = linalg.map ins(%dot1, %dot2 : tensor<2xf32>, tensor<2xf32>) outs(%l0 : tensor<2xf32>)
      (%a: f32, %b: f32, %init: f32) {
        %ea = math.exp %a : f32
        %eb = math.exp %b : f32
        %d = arith.subf %ea, %eb : f32
        // f64, so that the fp64 form has all of its digits.
        %init64 = arith.constant 0.2 : f64
        %lambda_init = arith.truncf %init64 : f64 to f32
        %sum = arith.addf %d, %lambda_init : f32
        linalg.yield %sum : f32
      }

  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal norm(%norm_weight : tensor<16xf32>) eps 1.0e-5 output_scale 0.8
      : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<2xf32>) -> tensor<?x?x2x16xf32>
  %y = func.call @output(%o, %out_proj) : (tensor<?x?x2x16xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

// reference: modules.differential_attention.forward(x, W_q1, W_k1, W_q2, W_k2, W_v,
//   modules.differential_attention.mean_lambda(lq1, lk1, lq2, lk2),
//   norm_weight, out_proj, lambda_init=0.2, causal=False) -> y
func.func @differential_attention_mean_lambda(
    %x: tensor<?x?x32xf32> {linattn.name = "x", linattn.dims = ["B", "T", ""], linattn.sample = "value"},
    %W_q1: tensor<32x16xf32> {linattn.name = "W_q1", linattn.sample = "value"},
    %W_k1: tensor<32x16xf32> {linattn.name = "W_k1", linattn.sample = "value"},
    %W_q2: tensor<32x16xf32> {linattn.name = "W_q2", linattn.sample = "value"},
    %W_k2: tensor<32x16xf32> {linattn.name = "W_k2", linattn.sample = "value"},
    %W_v: tensor<32x32xf32> {linattn.name = "W_v", linattn.sample = "value"},
    %lq1: tensor<2x8xf32> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<2x8xf32> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<2x8xf32> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<2x8xf32> {linattn.name = "lk2", linattn.sample = "unit_key"},
    %norm_weight: tensor<16xf32> {linattn.name = "norm_weight", linattn.sample = "weight"},
    %out_proj: tensor<32x32xf32> {linattn.name = "out_proj", linattn.sample = "value"})
    -> tensor<?x?x32xf32> {
  %q = func.call @two_maps(%x, %W_q1, %W_q2)
      : (tensor<?x?x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<?x?x4x8xf32>
  %k = func.call @two_maps(%x, %W_k1, %W_k2)
      : (tensor<?x?x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<?x?x4x8xf32>
  %v = func.call @values(%x, %W_v) : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x2x16xf32>

  // lambda = mean over (i, j) of exp(lq1_i . lk1_j - lq2_i . lk2_j)
  %zero = arith.constant 0.0 : f32
  %p0 = tensor.empty() : tensor<2x2xf32>
  %p1 = linalg.fill ins(%zero : f32) outs(%p0 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %dot1 = linalg.contract
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%lq1, %lk1 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%p1 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %dot2 = linalg.contract
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%lq2, %lk2 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%p1 : tensor<2x2xf32>) -> tensor<2x2xf32>
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

  %o = linattn.diff_attention v1 %q, %k, %v, %lambda norm(%norm_weight : tensor<16xf32>) eps 1.0e-5 output_scale 0.8
      : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x2x16xf32>, tensor<f32>) -> tensor<?x?x2x16xf32>
  %y = func.call @output(%o, %out_proj) : (tensor<?x?x2x16xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

// Two linear maps, side by side: map m of head h is head 2 h + m of the result.
func.func private @two_maps(%x: tensor<?x?x32xf32>, %W1: tensor<32x16xf32>, %W2: tensor<32x16xf32>)
    -> tensor<?x?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %zero = arith.constant 0.0 : f32
  %y0 = tensor.empty(%B, %T) : tensor<?x?x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%y0 : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %y1 = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>, affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%x, %W1 : tensor<?x?x32xf32>, tensor<32x16xf32>) outs(%y : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %y2 = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>, affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%x, %W2 : tensor<?x?x32xf32>, tensor<32x16xf32>) outs(%y : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %m1 = tensor.expand_shape %y1 [[0], [1], [2, 3]] output_shape [%B, %T, 2, 8]
      : tensor<?x?x16xf32> into tensor<?x?x2x8xf32>
  %m2 = tensor.expand_shape %y2 [[0], [1], [2, 3]] output_shape [%B, %T, 2, 8]
      : tensor<?x?x16xf32> into tensor<?x?x2x8xf32>
  %s0 = tensor.empty(%B, %T) : tensor<?x?x2x2x8xf32>
  %s1 = tensor.insert_slice %m1 into %s0[0, 0, 0, 0, 0] [%B, %T, 2, 1, 8] [1, 1, 1, 1, 1]
      : tensor<?x?x2x8xf32> into tensor<?x?x2x2x8xf32>
  %s2 = tensor.insert_slice %m2 into %s1[0, 0, 0, 1, 0] [%B, %T, 2, 1, 8] [1, 1, 1, 1, 1]
      : tensor<?x?x2x8xf32> into tensor<?x?x2x2x8xf32>
  %heads = tensor.collapse_shape %s2 [[0], [1], [2, 3], [4]] : tensor<?x?x2x2x8xf32> into tensor<?x?x4x8xf32>
  return %heads : tensor<?x?x4x8xf32>
}

func.func private @values(%x: tensor<?x?x32xf32>, %W: tensor<32x32xf32>) -> tensor<?x?x2x16xf32> {
  %y = func.call @linear(%x, %W) : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %heads = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%B, %T, 2, 16]
      : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  return %heads : tensor<?x?x2x16xf32>
}

func.func private @output(%o: tensor<?x?x2x16xf32>, %W: tensor<32x32xf32>) -> tensor<?x?x32xf32> {
  %flat = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<?x?x2x16xf32> into tensor<?x?x32xf32>
  %y = func.call @linear(%flat, %W) : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

func.func private @linear(%x: tensor<?x?x32xf32>, %W: tensor<32x32xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %zero = arith.constant 0.0 : f32
  %y0 = tensor.empty(%B, %T) : tensor<?x?x32xf32>
  %y1 = linalg.fill ins(%zero : f32) outs(%y0 : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %y = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>, affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%x, %W : tensor<?x?x32xf32>, tensor<32x32xf32>) outs(%y1 : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
