// Gated DeltaNet for decoding: sequence n keeps its state in slots[n] of a pool,
// updated in place; -1 marks a row of the batch without a sequence. The state after
// each token is returned too, so that rejected draft tokens can be undone.
// reference: gated_deltanet(q, k, v, g, beta, pool, slots=slots, padding=-1, snapshots="token") -> o, poolT, drafts
func.func @gated_deltanet_decode(
    %q: tensor<?x?x16x128xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x16x128xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x32x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x32xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x32xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %pool: tensor<?x32x128x128xf32> {linattn.name = "pool", linattn.sample = "state"},
    %slots: tensor<?xi32> {linattn.name = "slots"})
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>, tensor<?x?x32x128x128xf32>) {
  %o, %poolT, %drafts = linattn.recurrence
      tokens(%q : tensor<?x?x16x128xbf16>, %k : tensor<?x?x16x128xbf16>, %v : tensor<?x?x32x128xbf16>,
             %g : tensor<?x?x32xf32>, %beta : tensor<?x?x32xf32>)
      state(%pool : tensor<?x32x128x128xf32>)
      slots(%slots : tensor<?xi32>, padding = -1) snapshots(every = 1)
      -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>, tensor<?x?x32x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %poolT, %drafts : tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>, tensor<?x?x32x128x128xf32>
}
