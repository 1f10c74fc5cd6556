// RWKV-7: r = S^T a (undecayed); S = Diag(e^w) S + b r^T + k v^T;
// o = S^T q + (sum_i q_i k_i bonus_i) v, with bonus a parameter per head and channel.
// In the model the removal key is a = -kappa (kappa normalised) and the replacement
// key b = kappa o eta, eta the in-context learning rate over K.
// reference: rwkv7(q, w, k, v, -kappa, kappa * eta, bonus, s0) -> o, sT
func.func @rwkv7(
    %q: tensor<?x?x8x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %w: tensor<?x?x8x64xf32> {linattn.name = "w", linattn.sample = "log_gate"},
    %k: tensor<?x?x8x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x8x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %kappa: tensor<?x?x8x64xbf16> {linattn.name = "kappa", linattn.sample = "unit_key"},
    %eta: tensor<?x?x8x64xf32> {linattn.name = "eta", linattn.sample = "rate"},
    %bonus: tensor<8x64xf32> {linattn.name = "bonus", linattn.sample = "weight"},
    %s0: tensor<?x8x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xbf16>, %w : tensor<?x?x8x64xf32>, %k : tensor<?x?x8x64xbf16>,
             %v : tensor<?x?x8x64xbf16>, %kappa : tensor<?x?x8x64xbf16>, %eta : tensor<?x?x8x64xf32>)
      params(%bonus : tensor<8x64xf32>)
      state(%s0 : tensor<?x8x64x64xf32>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %wt: vector<64xf32>, %kt: vector<64xbf16>, %vt: vector<64xbf16>,
        %kp: vector<64xbf16>, %et: vector<64xf32>, %u: vector<64xf32>, %s: !linattn.state<64x64xf32>):
    %kpw = arith.extf %kp : vector<64xbf16> to vector<64xf32>
    %a = arith.negf %kpw : vector<64xf32>
    %b = arith.mulf %kpw, %et : vector<64xf32>
    %r = linattn.read %s, %a : !linattn.state<64x64xf32>, vector<64xf32>
    %s1 = linattn.decay %s, %wt : !linattn.state<64x64xf32>, vector<64xf32>
    %s2 = linattn.write %s1, %b, %r : !linattn.state<64x64xf32>, vector<64xf32>, vector<64xf32>
    %s3 = linattn.write %s2, %kt, %vt : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>
    %y = linattn.read %s3, %qt : !linattn.state<64x64xf32>, vector<64xbf16>
    %qw = arith.extf %qt : vector<64xbf16> to vector<64xf32>
    %kw = arith.extf %kt : vector<64xbf16> to vector<64xf32>
    %vw = arith.extf %vt : vector<64xbf16> to vector<64xf32>
    %qk = arith.mulf %qw, %kw : vector<64xf32>
    %qku = arith.mulf %qk, %u : vector<64xf32>
    %sum = vector.reduction <add>, %qku : vector<64xf32> into f32
    %sums = vector.broadcast %sum : f32 to vector<64xf32>
    %extra = arith.mulf %sums, %vw : vector<64xf32>
    %ot = arith.addf %y, %extra : vector<64xf32>
    %ob = arith.truncf %ot : vector<64xf32> to vector<64xbf16>
    linattn.yield %ob, %s3 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x8x64xbf16>, tensor<?x8x64x64xf32>
}
