// Norms over so many value columns that blocks have slices of them: what mixes
// them is a kernel of its own.

// One kernel walks over the chunks; a sum over V is an output too; states in a
// pool, with padding.
func.func @pooled_norm(
    %q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x96xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %s0: tensor<?x2x32x96xf32> {linattn.name = "s", linattn.sample = "state"},
    %slots: tensor<?xi32> {linattn.name = "slots"})
    -> (tensor<?x?x2x96xbf16>, tensor<?x?x2xf32>, tensor<?x2x32x96xf32>) {
  %o, %m, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x32xbf16>, %k : tensor<?x?x2x32xbf16>, %v : tensor<?x?x2x96xbf16>,
             %g : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x32x96xf32>) slots(%slots : tensor<?xi32>, padding = -1)
      -> (tensor<?x?x2x96xbf16>, tensor<?x?x2xf32>, tensor<?x2x32x96xf32>) {
  ^step(%qt: vector<32xbf16>, %kt: vector<32xbf16>, %vt: vector<96xbf16>, %gt: f32, %s: !linattn.state<32x96xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<32x96xf32>, f32
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<32x96xf32>, vector<32xbf16>, vector<96xbf16>
    %r = linattn.read %s2, %qt : !linattn.state<32x96xf32>, vector<32xbf16>
    %vf = arith.extf %vt : vector<96xbf16> to vector<96xf32>
    %x = arith.addf %r, %vf : vector<96xf32>
    %sum = vector.reduction <add>, %x : vector<96xf32> into f32
    %y = linattn.l2norm %x eps 1.0e-6 : vector<96xf32> -> vector<96xf32>
    %yb = arith.truncf %y : vector<96xf32> to vector<96xbf16>
    linattn.yield %yb, %sum, %s2 : vector<96xbf16>, f32, !linattn.state<32x96xf32>
  }
  return %o, %m, %sT : tensor<?x?x2x96xbf16>, tensor<?x?x2xf32>, tensor<?x2x32x96xf32>
}

// Off the chain, on it, and behind it: a delta rule with two outputs, one of
// them with no norm; packed sequences.
func.func @gated_norm(
    %q: tensor<?x2x16xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x2x16xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x80xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %z: tensor<?x2x80xbf16> {linattn.name = "z", linattn.sample = "raw"},
    %w: tensor<2x80xf32> {linattn.name = "w", linattn.sample = "raw"},
    %s0: tensor<?x2x16x80xf32> {linattn.name = "s", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x80xbf16>, tensor<?x2x80xf32>, tensor<?x2x16x80xf32>) {
  %o, %p, %sT = linattn.recurrence
      tokens(%q : tensor<?x2x16xbf16>, %k : tensor<?x2x16xbf16>, %v : tensor<?x2x80xbf16>, %g : tensor<?x2xf32>,
             %b : tensor<?x2xf32>, %z : tensor<?x2x80xbf16>)
      params(%w : tensor<2x80xf32>)
      state(%s0 : tensor<?x2x16x80xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x80xbf16>, tensor<?x2x80xf32>, tensor<?x2x16x80xf32>) {
  ^step(%qt: vector<16xbf16>, %kt: vector<16xbf16>, %vt: vector<80xbf16>, %gt: f32, %bt: f32, %zt: vector<80xbf16>,
        %wt: vector<80xf32>, %s: !linattn.state<16x80xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x80xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<16x80xf32>, vector<16xbf16>, vector<80xbf16>, f32
    %r = linattn.read %s2, %qt : !linattn.state<16x80xf32>, vector<16xbf16>
    %n = linattn.l2norm %r eps 1.0e-5 : vector<80xf32> -> vector<80xf32>
    %nw = arith.mulf %n, %wt : vector<80xf32>
    %zf = arith.extf %zt : vector<80xbf16> to vector<80xf32>
    %gate = linattn.silu %zf : vector<80xf32>
    %y = arith.mulf %nw, %gate : vector<80xf32>
    %yb = arith.truncf %y : vector<80xf32> to vector<80xbf16>
    linattn.yield %yb, %r, %s2 : vector<80xbf16>, vector<80xf32>, !linattn.state<16x80xf32>
  }
  return %o, %p, %sT : tensor<?x2x80xbf16>, tensor<?x2x80xf32>, tensor<?x2x16x80xf32>
}
