// Gated DeltaNet with beta over V: S = e^g S; S += k (beta o (v - S^T k))^T;
// o = K^-1/2 S^T q. Here K = 64, V = 128, all in f32.
// reference: gated_deltanet(q, k, v, g, beta, s0) -> o, sT
func.func @gated_deltanet_channel_rate(
    %q: tensor<?x?x8x64xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x8x64xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x128xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x8xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x8x128xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x8x64x128xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xf32>, %k : tensor<?x?x8x64xf32>, %v : tensor<?x?x8x128xf32>,
             %g : tensor<?x?x8xf32>, %beta : tensor<?x?x8x128xf32>)
      state(%s0 : tensor<?x8x64x128xf32>)
      -> (tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>) {
  ^step(%qt: vector<64xf32>, %kt: vector<64xf32>, %vt: vector<128xf32>, %gt: f32, %bt: vector<128xf32>,
        %s: !linattn.state<64x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<64x128xf32>, vector<64xf32>, vector<128xf32>, vector<128xf32>
    %ot = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x128xf32>, vector<64xf32>
    linattn.yield %ot, %s2 : vector<128xf32>, !linattn.state<64x128xf32>
  }
  return %o, %sT : tensor<?x?x8x128xf32>, tensor<?x8x64x128xf32>
}
