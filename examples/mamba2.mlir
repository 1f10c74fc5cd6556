// Mamba-2: dt' = softplus(dt + dt_bias); S = e^{-exp(A_log) dt'} S + B (dt' x)^T;
// y = S^T C + D x. B and C come in 2 groups of heads; A_log, dt_bias, D are
// parameters per head.
// reference: mamba2(x, dt, B, C, A_log, dt_bias, D, s0) -> y, sT
func.func @mamba2(
    %x: tensor<?x?x16x64xbf16> {linattn.name = "x", linattn.sample = "value"},
    %dt: tensor<?x?x16xf32> {linattn.name = "dt", linattn.sample = "raw_gate"},
    %B: tensor<?x?x2x128xbf16> {linattn.name = "B", linattn.sample = "unit_key"},
    %C: tensor<?x?x2x128xbf16> {linattn.name = "C", linattn.sample = "unit_key"},
    %A_log: tensor<16xf32> {linattn.name = "A_log", linattn.sample = "a_log"},
    %dt_bias: tensor<16xf32> {linattn.name = "dt_bias", linattn.sample = "raw"},
    %D: tensor<16xf32> {linattn.name = "D", linattn.sample = "weight"},
    %s0: tensor<?x16x128x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x16x64xbf16>, tensor<?x16x128x64xf32>) {
  %y, %sT = linattn.recurrence
      tokens(%x : tensor<?x?x16x64xbf16>, %dt : tensor<?x?x16xf32>,
             %B : tensor<?x?x2x128xbf16>, %C : tensor<?x?x2x128xbf16>)
      params(%A_log : tensor<16xf32>, %dt_bias : tensor<16xf32>, %D : tensor<16xf32>)
      state(%s0 : tensor<?x16x128x64xf32>)
      -> (tensor<?x?x16x64xbf16>, tensor<?x16x128x64xf32>) {
  ^step(%xt: vector<64xbf16>, %dtt: f32, %Bt: vector<128xbf16>, %Ct: vector<128xbf16>,
        %a: f32, %bias: f32, %d: f32, %s: !linattn.state<128x64xf32>):
    %raw = arith.addf %dtt, %bias : f32
    %rate = linattn.softplus %raw : f32
    %A = math.exp %a : f32
    %drop = arith.mulf %A, %rate : f32
    %g = arith.negf %drop : f32
    %xw = arith.extf %xt : vector<64xbf16> to vector<64xf32>
    %rates = vector.broadcast %rate : f32 to vector<64xf32>
    %u = arith.mulf %rates, %xw : vector<64xf32>
    %s1 = linattn.decay %s, %g : !linattn.state<128x64xf32>, f32
    %s2 = linattn.write %s1, %Bt, %u : !linattn.state<128x64xf32>, vector<128xbf16>, vector<64xf32>
    %r = linattn.read %s2, %Ct : !linattn.state<128x64xf32>, vector<128xbf16>
    %ds = vector.broadcast %d : f32 to vector<64xf32>
    %skip = arith.mulf %ds, %xw : vector<64xf32>
    %yt = arith.addf %r, %skip : vector<64xf32>
    %yb = arith.truncf %yt : vector<64xf32> to vector<64xbf16>
    linattn.yield %yb, %s2 : vector<64xbf16>, !linattn.state<128x64xf32>
  }
  return %y, %sT : tensor<?x?x16x64xbf16>, tensor<?x16x128x64xf32>
}
