// Gated linear attention: S = Diag(e^g) S + k v^T; o = K^-1/2 S^T q. g is over K.
// reference: gla(q, k, v, g, s0) -> o, sT
func.func @gla(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x8x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x8x64xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %s0: tensor<?x8x64x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x128xbf16>, tensor<?x8x64x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xbf16>, %k : tensor<?x?x8x64xbf16>, %v : tensor<?x?x8x128xbf16>,
             %g : tensor<?x?x8x64xf32>)
      state(%s0 : tensor<?x8x64x128xf32>)
      -> (tensor<?x?x8x128xbf16>, tensor<?x8x64x128xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<128xbf16>, %gt: vector<64xf32>,
        %s: !linattn.state<64x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x128xf32>, vector<64xf32>
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<64x128xf32>, vector<64xbf16>, vector<128xbf16>
    %ot = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x128xf32>, vector<64xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<64x128xf32>
  }
  return %o, %sT : tensor<?x?x8x128xbf16>, tensor<?x8x64x128xf32>
}
