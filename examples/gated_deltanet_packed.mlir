// Gated DeltaNet over packed sequences: sequence n is tokens cu[n] to cu[n + 1] - 1.
// Sequences may be empty; tokens from the last offset on are neither read nor written.
// reference: gated_deltanet(q, k, v, g, beta, s0, cu_seqlens=cu) -> o, sT
func.func @gated_deltanet_packed(
    %q: tensor<?x8x128xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x8x128xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x16x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x16xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x16xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x16x128x128xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x8x128xbf16>, %k : tensor<?x8x128xbf16>, %v : tensor<?x16x128xbf16>,
             %g : tensor<?x16xf32>, %beta : tensor<?x16xf32>)
      state(%s0 : tensor<?x16x128x128xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x16x128xbf16>, tensor<?x16x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x16x128xbf16>, tensor<?x16x128x128xf32>
}
