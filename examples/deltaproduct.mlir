// Gated DeltaProduct, n = 2: S = e^g S; for i = 1, 2: S += beta_i k_i (v_i - S^T k_i)^T;
// o = K^-1/2 S^T q. beta_i may reach 2 (reflections).
// reference: deltaproduct(q, k, v, g, beta, s0) -> o, sT
func.func @deltaproduct(
    %q: tensor<?x?x8x128xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x8x2x128xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x2x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x8xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x8x2xf32> {linattn.name = "beta", linattn.sample = "rate2"},
    %s0: tensor<?x8x128x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x128xbf16>, tensor<?x8x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x128xbf16>, %k : tensor<?x?x8x2x128xbf16>, %v : tensor<?x?x8x2x128xbf16>,
             %g : tensor<?x?x8xf32>, %beta : tensor<?x?x8x2xf32>)
      state(%s0 : tensor<?x8x128x128xf32>)
      -> (tensor<?x?x8x128xbf16>, tensor<?x8x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<2x128xbf16>, %vt: vector<2x128xbf16>, %gt: f32,
        %bt: vector<2xf32>, %s: !linattn.state<128x128xf32>):
    %k1 = vector.extract %kt[0] : vector<128xbf16> from vector<2x128xbf16>
    %k2 = vector.extract %kt[1] : vector<128xbf16> from vector<2x128xbf16>
    %v1 = vector.extract %vt[0] : vector<128xbf16> from vector<2x128xbf16>
    %v2 = vector.extract %vt[1] : vector<128xbf16> from vector<2x128xbf16>
    %b1 = vector.extract %bt[0] : f32 from vector<2xf32>
    %b2 = vector.extract %bt[1] : f32 from vector<2xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s3, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s3 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x?x8x128xbf16>, tensor<?x8x128x128xf32>
}
