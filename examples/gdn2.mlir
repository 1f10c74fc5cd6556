// GDN-2: S = Diag(e^g) S; S += k (w o v - S^T (b o k))^T; o = K^-1/2 S^T q.
// g and b are over K, w over V.
// reference: gdn2(q, k, v, g, b, w, s0) -> o, sT
func.func @gdn2(
    %q: tensor<?x?x8x64xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x8x64xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x128xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x8x64xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x8x64xf32> {linattn.name = "b", linattn.sample = "rate"},
    %w: tensor<?x?x8x128xf32> {linattn.name = "w", linattn.sample = "rate"},
    %s0: tensor<?x8x64x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xf32>, %k : tensor<?x?x8x64xf32>, %v : tensor<?x?x8x128xf32>,
             %g : tensor<?x?x8x64xf32>, %b : tensor<?x?x8x64xf32>, %w : tensor<?x?x8x128xf32>)
      state(%s0 : tensor<?x8x64x128xf32>)
      -> (tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>) {
  ^step(%qt: vector<64xf32>, %kt: vector<64xf32>, %vt: vector<128xf32>, %gt: vector<64xf32>,
        %bt: vector<64xf32>, %wt: vector<128xf32>, %s: !linattn.state<64x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x128xf32>, vector<64xf32>
    %bk = arith.mulf %bt, %kt : vector<64xf32>
    %r = linattn.read %s1, %bk : !linattn.state<64x128xf32>, vector<64xf32>
    %wv = arith.mulf %wt, %vt : vector<128xf32>
    %u = arith.subf %wv, %r : vector<128xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<64x128xf32>, vector<64xf32>, vector<128xf32>
    %ot = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x128xf32>, vector<64xf32>
    linattn.yield %ot, %s2 : vector<128xf32>, !linattn.state<64x128xf32>
  }
  return %o, %sT : tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>
}
