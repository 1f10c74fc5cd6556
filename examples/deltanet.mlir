// DeltaNet: S += beta k (v - S^T k)^T; o = K^-1/2 S^T q.
// reference: deltanet(q, k, v, beta, s0) -> o, sT
func.func @deltanet(
    %q: tensor<?x?x16x128xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x16x128xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x16x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %beta: tensor<?x?x16xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x16x128x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x16x128xbf16>, %k : tensor<?x?x16x128xbf16>, %v : tensor<?x?x16x128xbf16>,
             %beta : tensor<?x?x16xf32>)
      state(%s0 : tensor<?x16x128x128xf32>)
      -> (tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.delta_update %s, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s1, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s1 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x?x16x128xbf16>, tensor<?x16x128x128xf32>
}
