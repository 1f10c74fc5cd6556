// Linear attention: S += k v^T; o = K^-1/2 S^T q.
// reference: linear_attention(q, k, v, s0) -> o, sT
func.func @linear_attention(
    %q: tensor<?x?x16x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x16x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x16x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %s0: tensor<?x16x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x16x64xbf16>, %k : tensor<?x?x16x64xbf16>, %v : tensor<?x?x16x64xbf16>)
      state(%s0 : tensor<?x16x64x64xf32>)
      -> (tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<64xbf16>, %s: !linattn.state<64x64xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>
    %ot = linattn.read %s1, %qt scale 0.125 : !linattn.state<64x64xf32>, vector<64xbf16>
    %ob = arith.truncf %ot : vector<64xf32> to vector<64xbf16>
    linattn.yield %ob, %s1 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x16x64xbf16>, tensor<?x16x64x64xf32>
}
