// A decay over K, a delta update, two reads, and of their sum a norm over V,
// gated.
func.func @normed_decays(
    %q: tensor<?x?x2x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>,
    %a: tensor<?x?x2x128xf32>, %b: tensor<?x?x2xf32>, %z: tensor<?x?x2x128xbf16>,
    %w: tensor<2x128xf32>, %s0: tensor<?x2x128x128xf32>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x128xbf16>, %k : tensor<?x?x2x128xbf16>, %v : tensor<?x?x2x128xbf16>,
             %a : tensor<?x?x2x128xf32>, %b : tensor<?x?x2xf32>, %z : tensor<?x?x2x128xbf16>)
      params(%w : tensor<2x128xf32>)
      state(%s0 : tensor<?x2x128x128xf32>)
      -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %at: vector<128xf32>,
        %bt: f32, %zt: vector<128xbf16>, %wt: vector<128xf32>, %s: !linattn.state<128x128xf32>):
    %before = linattn.read %s, %qt : !linattn.state<128x128xf32>, vector<128xbf16>
    %plus = linattn.softplus %at : vector<128xf32>
    %g = arith.negf %plus : vector<128xf32>
    %s1 = linattn.decay %s, %g : !linattn.state<128x128xf32>, vector<128xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %after = linattn.read %s2, %qt scale 0.5 : !linattn.state<128x128xf32>, vector<128xbf16>
    %x = arith.addf %before, %after : vector<128xf32>
    %n = linattn.l2norm %x eps 1.0e-5 : vector<128xf32> -> vector<128xf32>
    %nw = arith.mulf %n, %wt : vector<128xf32>
    %zf = arith.extf %zt : vector<128xbf16> to vector<128xf32>
    %gate = linattn.silu %zf : vector<128xf32>
    %y = arith.mulf %nw, %gate : vector<128xf32>
    %yb = arith.truncf %y : vector<128xf32> to vector<128xbf16>
    linattn.yield %yb, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>
}
