// KDA with the states after every 64 tokens and after the last: prefix caching, or
// the start states of a backward pass. Here g and beta are computed in the step from
// raw projections: g = -exp(A_log) softplus(a + dt_bias), beta = sigmoid(b), and q, k
// are normalised.
// reference: kda(l2norm(q), l2norm(k), v, -exp(A_log)[:, None] * softplus(a + dt_bias), sigmoid(b), s0, snapshots=64) -> o, sT, chunks
func.func @kda_snapshots(
    %q: tensor<?x?x4x64xf32> {linattn.name = "q", linattn.sample = "raw"},
    %k: tensor<?x?x4x64xf32> {linattn.name = "k", linattn.sample = "raw"},
    %v: tensor<?x?x4x64xf32> {linattn.name = "v", linattn.sample = "value"},
    %a: tensor<?x?x4x64xf32> {linattn.name = "a", linattn.sample = "raw_gate"},
    %b: tensor<?x?x4xf32> {linattn.name = "b", linattn.sample = "raw"},
    %A_log: tensor<4xf32> {linattn.name = "A_log", linattn.sample = "a_log"},
    %dt_bias: tensor<4x64xf32> {linattn.name = "dt_bias", linattn.sample = "raw"},
    %s0: tensor<?x4x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x4x64xf32>, tensor<?x4x64x64xf32>, tensor<?x?x4x64x64xf32>) {
  %o, %sT, %chunks = linattn.recurrence
      tokens(%q : tensor<?x?x4x64xf32>, %k : tensor<?x?x4x64xf32>, %v : tensor<?x?x4x64xf32>,
             %a : tensor<?x?x4x64xf32>, %b : tensor<?x?x4xf32>)
      params(%A_log : tensor<4xf32>, %dt_bias : tensor<4x64xf32>)
      state(%s0 : tensor<?x4x64x64xf32>) snapshots(every = 64)
      -> (tensor<?x?x4x64xf32>, tensor<?x4x64x64xf32>, tensor<?x?x4x64x64xf32>) {
  ^step(%qt: vector<64xf32>, %kt: vector<64xf32>, %vt: vector<64xf32>, %at: vector<64xf32>, %bt: f32,
        %al: f32, %bias: vector<64xf32>, %s: !linattn.state<64x64xf32>):
    %qn = linattn.l2norm %qt : vector<64xf32> -> vector<64xf32>
    %kn = linattn.l2norm %kt : vector<64xf32> -> vector<64xf32>
    %raw = arith.addf %at, %bias : vector<64xf32>
    %dt = linattn.softplus %raw : vector<64xf32>
    %A = math.exp %al : f32
    %As = vector.broadcast %A : f32 to vector<64xf32>
    %drop = arith.mulf %As, %dt : vector<64xf32>
    %g = arith.negf %drop : vector<64xf32>
    %beta = linattn.sigmoid %bt : f32
    %s1 = linattn.decay %s, %g : !linattn.state<64x64xf32>, vector<64xf32>
    %s2 = linattn.delta_update %s1, %kn, %vt, %beta
        : !linattn.state<64x64xf32>, vector<64xf32>, vector<64xf32>, f32
    %ot = linattn.read %s2, %qn scale 0.125 : !linattn.state<64x64xf32>, vector<64xf32>
    linattn.yield %ot, %s2 : vector<64xf32>, !linattn.state<64x64xf32>
  }
  return %o, %sT, %chunks : tensor<?x?x4x64xf32>, tensor<?x4x64x64xf32>, tensor<?x?x4x64x64xf32>
}
