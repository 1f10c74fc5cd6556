// RUN: linattn-opt %s --verify-roundtrip -o /dev/null

// Reference module: a whole Gated DeltaNet layer, d_in 24, d_out 64, 4 heads of
// 16. Linear maps, then one recurrence region from the raw projections to the
// normalised, gated output, then the output map. The definition: gated_deltanet.py
// beside this file.

// reference: modules.gated_deltanet.forward(x, W_query, W_key, W_value, W_gate,
//   W_beta, W_alpha, A_log, dt_bias, norm_weight, out_proj, s0) -> y, sT
func.func @gated_deltanet_layer(
    %x: tensor<?x?x24xf32> {linattn.name = "x", linattn.dims = ["B", "T", ""], linattn.sample = "value"},
    %W_query: tensor<24x64xf32> {linattn.name = "W_query", linattn.sample = "value"},
    %W_key: tensor<24x64xf32> {linattn.name = "W_key", linattn.sample = "value"},
    %W_value: tensor<24x64xf32> {linattn.name = "W_value", linattn.sample = "value"},
    %W_gate: tensor<24x64xf32> {linattn.name = "W_gate", linattn.sample = "value"},
    %W_beta: tensor<24x64xf32> {linattn.name = "W_beta", linattn.sample = "value"},
    %W_alpha: tensor<24x4xf32> {linattn.name = "W_alpha", linattn.sample = "value"},
    %A_log: tensor<4xf32> {linattn.name = "A_log", linattn.sample = "a_log"},
    %dt_bias: tensor<4xf32> {linattn.name = "dt_bias", linattn.sample = "raw"},
    %norm_weight: tensor<16xf32> {linattn.name = "norm_weight", linattn.sample = "weight"},
    %out_proj: tensor<64x64xf32> {linattn.name = "out_proj", linattn.sample = "value"},
    %s0: tensor<?x4x16x16xf32> {linattn.name = "s0", linattn.dims = ["B", "", "", ""], linattn.sample = "state"})
    -> (tensor<?x?x64xf32>, tensor<?x4x16x16xf32>) {
  %query = func.call @to_heads(%x, %W_query) : (tensor<?x?x24xf32>, tensor<24x64xf32>) -> tensor<?x?x4x16xf32>
  %key = func.call @to_heads(%x, %W_key) : (tensor<?x?x24xf32>, tensor<24x64xf32>) -> tensor<?x?x4x16xf32>
  %value = func.call @to_heads(%x, %W_value) : (tensor<?x?x24xf32>, tensor<24x64xf32>) -> tensor<?x?x4x16xf32>
  %gate = func.call @to_heads(%x, %W_gate) : (tensor<?x?x24xf32>, tensor<24x64xf32>) -> tensor<?x?x4x16xf32>
  %beta = func.call @to_heads(%x, %W_beta) : (tensor<?x?x24xf32>, tensor<24x64xf32>) -> tensor<?x?x4x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %zero = arith.constant 0.0 : f32
  %a0 = tensor.empty(%B, %T) : tensor<?x?x4xf32>
  %a1 = linalg.fill ins(%zero : f32) outs(%a0 : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %alpha = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>,
                       affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%x, %W_alpha : tensor<?x?x24xf32>, tensor<24x4xf32>)
      outs(%a1 : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>

  // One norm weight for all heads: a parameter of one head.
  %weight = tensor.expand_shape %norm_weight [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
  %y, %sT = linattn.recurrence
      tokens(%query : tensor<?x?x4x16xf32>, %key : tensor<?x?x4x16xf32>, %value : tensor<?x?x4x16xf32>,
             %gate : tensor<?x?x4x16xf32>, %beta : tensor<?x?x4x16xf32>, %alpha : tensor<?x?x4xf32>)
      params(%A_log : tensor<4xf32>, %dt_bias : tensor<4xf32>, %weight : tensor<1x16xf32>)
      state(%s0 : tensor<?x4x16x16xf32>)
      -> (tensor<?x?x4x16xf32>, tensor<?x4x16x16xf32>) {
  ^step(%yq: vector<16xf32>, %yk: vector<16xf32>, %v: vector<16xf32>, %z: vector<16xf32>, %yb: vector<16xf32>,
        %a: f32, %al: f32, %bias: f32, %w: vector<16xf32>, %s: !linattn.state<16x16xf32>):
    %qn = linattn.l2norm %yq eps 1.0e-6 : vector<16xf32> -> vector<16xf32>
    %scale = arith.constant dense<0.25> : vector<16xf32>
    %q = arith.mulf %qn, %scale : vector<16xf32>
    %k = linattn.l2norm %yk eps 1.0e-6 : vector<16xf32> -> vector<16xf32>
    %b = linattn.sigmoid %yb : vector<16xf32>
    %shifted = arith.addf %a, %bias : f32
    %dt = linattn.softplus %shifted : f32
    %A = math.exp %al : f32
    %Adt = arith.mulf %A, %dt : f32
    %g = arith.negf %Adt : f32

    %s1 = linattn.decay %s, %g : !linattn.state<16x16xf32>, f32
    %s2 = linattn.delta_update %s1, %k, %v, %b
        : !linattn.state<16x16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    %o = linattn.read %s2, %q : !linattn.state<16x16xf32>, vector<16xf32>

    // RMSNorm over the head, times silu of the gate. The constant is f64, so that
    // the fp64 form has all of its digits.
    %oo = arith.mulf %o, %o : vector<16xf32>
    %sum = vector.reduction <add>, %oo : vector<16xf32> into f32
    %sixteenth = arith.constant 0.0625 : f32
    %mean = arith.mulf %sum, %sixteenth : f32
    %eps64 = arith.constant 1.0e-6 : f64
    %eps = arith.truncf %eps64 : f64 to f32
    %m = arith.addf %mean, %eps : f32
    %r = math.rsqrt %m : f32
    %rs = vector.broadcast %r : f32 to vector<16xf32>
    %n = arith.mulf %o, %rs : vector<16xf32>
    %nw = arith.mulf %n, %w : vector<16xf32>
    %sz = linattn.silu %z : vector<16xf32>
    %out = arith.mulf %nw, %sz : vector<16xf32>
    linattn.yield %out, %s2 : vector<16xf32>, !linattn.state<16x16xf32>
  }
  %flat = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<?x?x4x16xf32> into tensor<?x?x64xf32>
  %p0 = tensor.empty(%B, %T) : tensor<?x?x64xf32>
  %p1 = linalg.fill ins(%zero : f32) outs(%p0 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %out = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>,
                       affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%flat, %out_proj : tensor<?x?x64xf32>, tensor<64x64xf32>)
      outs(%p1 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  return %out, %sT : tensor<?x?x64xf32>, tensor<?x4x16x16xf32>
}

func.func private @to_heads(%x: tensor<?x?x24xf32>, %W: tensor<24x64xf32>) -> tensor<?x?x4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %zero = arith.constant 0.0 : f32
  %y0 = tensor.empty(%B, %T) : tensor<?x?x64xf32>
  %y1 = linalg.fill ins(%zero : f32) outs(%y0 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %y = linalg.contract
      indexing_maps = [affine_map<(b, t, o, i) -> (b, t, i)>,
                       affine_map<(b, t, o, i) -> (i, o)>,
                       affine_map<(b, t, o, i) -> (b, t, o)>]
      ins(%x, %W : tensor<?x?x24xf32>, tensor<24x64xf32>)
      outs(%y1 : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %heads = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%B, %T, 4, 16]
      : tensor<?x?x64xf32> into tensor<?x?x4x16xf32>
  return %heads : tensor<?x?x4x16xf32>
}
