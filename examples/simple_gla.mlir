// Scalar decay (simple GLA): S = e^g S + k v^T; o = K^-1/2 S^T q.
// q and k have 4 heads, v and g 16: head h uses key head h / 4.
// reference: simple_gla(q, k, v, g, s0) -> o, sT
func.func @simple_gla(
    %q: tensor<?x?x4x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x4x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x16x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x16xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %s0: tensor<?x16x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x4x64xbf16>, %k : tensor<?x?x4x64xbf16>, %v : tensor<?x?x16x64xbf16>,
             %g : tensor<?x?x16xf32>)
      state(%s0 : tensor<?x16x64x64xf32>)
      -> (tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<64xbf16>, %gt: f32,
        %s: !linattn.state<64x64xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x64xf32>, f32
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>
    %ot = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x64xf32>, vector<64xbf16>
    %ob = arith.truncf %ot : vector<64xf32> to vector<64xbf16>
    linattn.yield %ob, %s2 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>
}
