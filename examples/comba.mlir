// Comba, removal read before the decay: r = S^T p; S = e^g S + k (beta v - beta' r)^T; o = K^-1/2 S^T q.
// p is a removal key of its own.
// reference: comba(q, k, v, p, g, beta, beta_p, s0) -> o, sT
func.func @comba(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x8x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %p: tensor<?x?x8x64xbf16> {linattn.name = "p", linattn.sample = "unit_key"},
    %g: tensor<?x?x8xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x8xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %beta_p: tensor<?x?x8xf32> {linattn.name = "beta_p", linattn.sample = "rate"},
    %s0: tensor<?x8x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xbf16>, %k : tensor<?x?x8x64xbf16>, %v : tensor<?x?x8x64xbf16>,
             %p : tensor<?x?x8x64xbf16>, %g : tensor<?x?x8xf32>, %beta : tensor<?x?x8xf32>,
             %beta_p : tensor<?x?x8xf32>)
      state(%s0 : tensor<?x8x64x64xf32>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<64xbf16>, %pt: vector<64xbf16>,
        %gt: f32, %b: f32, %bp: f32, %s: !linattn.state<64x64xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x64xf32>, f32
    %r = linattn.read %s, %pt : !linattn.state<64x64xf32>, vector<64xbf16>
    %vw = arith.extf %vt : vector<64xbf16> to vector<64xf32>
    %bs = vector.broadcast %b : f32 to vector<64xf32>
    %bps = vector.broadcast %bp : f32 to vector<64xf32>
    %bv = arith.mulf %bs, %vw : vector<64xf32>
    %bpr = arith.mulf %bps, %r : vector<64xf32>
    %u = arith.subf %bv, %bpr : vector<64xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xf32>
    %ot = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x64xf32>, vector<64xbf16>
    %ob = arith.truncf %ot : vector<64xf32> to vector<64xbf16>
    linattn.yield %ob, %s2 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>
}
