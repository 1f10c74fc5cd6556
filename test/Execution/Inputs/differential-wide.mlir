// Differential attention with values too wide for the registers of both maps, where
// the columns of a row meet: a fused norm, keys in parts, widths that have no parts.

func.func @lambda_of_vectors(
    %q: tensor<?x?x8x96xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x96xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x192xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lq1: tensor<4x96xf32> {linattn.name = "lq1", linattn.sample = "unit_key"},
    %lk1: tensor<4x96xf32> {linattn.name = "lk1", linattn.sample = "unit_key"},
    %lq2: tensor<4x96xf32> {linattn.name = "lq2", linattn.sample = "unit_key"},
    %lk2: tensor<4x96xf32> {linattn.name = "lk2", linattn.sample = "unit_key"},
    %w: tensor<192xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x4x192xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %dot1 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq1, %lk1 : tensor<4x96xf32>, tensor<4x96xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
  %dot2 = linalg.contract
      indexing_maps = [affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>]
      ins(%lq2, %lk2 : tensor<4x96xf32>, tensor<4x96xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
  %lambda = linalg.map ins(%dot1, %dot2 : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>)
      (%a: f32, %b: f32, %init: f32) {
        %ea = math.exp %a : f32
        %eb = math.exp %b : f32
        %d = arith.subf %ea, %eb : f32
        %lambda_init = arith.constant 0.2 : f32
        %sum = arith.addf %d, %lambda_init : f32
        linalg.yield %sum : f32
      }
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal norm(%w : tensor<192xf32>) eps 1.0e-6 output_scale 0.8
      : (tensor<?x?x8x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x2x192xbf16>, tensor<4xf32>) -> tensor<?x?x4x192xbf16>
  return %o : tensor<?x?x4x192xbf16>
}

func.func @packed(
    %q: tensor<?x4x96xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x4x96xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x2x192xf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<2xf32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<192xf32> {linattn.name = "w", linattn.sample = "weight"},
    %cu: tensor<?xi32> {linattn.name = "cu"}) -> tensor<?x2x192xf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam norm(%w : tensor<192xf32>) eps 1.0e-6 output_scale 0.8 seqlens(%cu : tensor<?xi32>)
      : (tensor<?x4x96xf16>, tensor<?x4x96xf16>, tensor<?x2x192xf16>, tensor<2xf32>) -> tensor<?x2x192xf16>
  return %o : tensor<?x2x192xf16>
}

func.func @window(
    %q: tensor<?x?x4x128xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x128xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<256xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal window 33 norm(%w : tensor<256xf32>) eps 1.0e-6
      : (tensor<?x?x4x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x1x256xbf16>, tensor<f32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @cap(
    %q: tensor<?x?x4x128xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x128xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<?x?x2xf32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<256xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x2x256xf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam norm(%w : tensor<256xf32>) eps 1.0e-6 output_scale 0.8 score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %cap = arith.constant 5.0 : f32
    %x = arith.divf %s, %cap : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %cap : f32
    linattn.yield %z : f32
  }
      : (tensor<?x?x4x128xf16>, tensor<?x?x2x128xf16>, tensor<?x?x1x256xf16>, tensor<?x?x2xf32>) -> tensor<?x?x2x256xf16>
  return %o : tensor<?x?x2x256xf16>
}

func.func @long_sequence(
    %q: tensor<?x?x4x128xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x4x128xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<256xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal norm(%w : tensor<256xf32>) eps 1.0e-6 output_scale 0.8
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x2x256xbf16>, tensor<f32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @single_precision(
    %q: tensor<?x?x4x96xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x96xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xf32> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"},
    %w: tensor<192xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x2x192xf32> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal norm(%w : tensor<192xf32>) eps 1.0e-6 output_scale 0.8
      : (tensor<?x?x4x96xf32>, tensor<?x?x2x96xf32>, tensor<?x?x1x192xf32>, tensor<f32>) -> tensor<?x?x2x192xf32>
  return %o : tensor<?x?x2x192xf32>
}

func.func @no_parts(
    %q: tensor<?x?x4x100xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x100xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x200xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x200xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x100xbf16>, tensor<?x?x2x100xbf16>, tensor<?x?x1x200xbf16>, tensor<f32>) -> tensor<?x?x2x200xbf16>
  return %o : tensor<?x?x2x200xbf16>
}
