// Kimi delta attention: S = Diag(e^g) S; S += beta k (v - S^T k)^T;
// o = K^-1/2 S^T q. g is over K.
// reference: kda(q, k, v, g, beta, s0) -> o, sT
func.func @kda(
    %q: tensor<?x?x16x128xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x16x128xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x16x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x16x128xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x16xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x16x128x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x16x128xbf16>, %k : tensor<?x?x16x128xbf16>, %v : tensor<?x?x16x128xbf16>,
             %g : tensor<?x?x16x128xf32>, %beta : tensor<?x?x16xf32>)
      state(%s0 : tensor<?x16x128x128xf32>)
      -> (tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: vector<128xf32>, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, vector<128xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>
}
