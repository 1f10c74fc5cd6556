// Linear attention with a normaliser and the feature map phi(x) = 1 + elu(x):
// S += phi(k) v^T; z += phi(k); o = S^T phi(q) / (z . phi(q)).
// The normaliser z is a state with V = 1, kept positive by phi.
// reference: normalized_linear_attention(1 + elu(q), 1 + elu(k), v, s0, z0) -> o, sT, zT
func.func @normalized_linear_attention(
    %q: tensor<?x?x8x64xf32> {linattn.name = "q", linattn.sample = "raw"},
    %k: tensor<?x?x8x64xf32> {linattn.name = "k", linattn.sample = "raw"},
    %v: tensor<?x?x8x64xf32> {linattn.name = "v", linattn.sample = "value"},
    %s0: tensor<?x8x64x64xf32> {linattn.name = "s0", linattn.sample = "state"},
    %z0: tensor<?x8x64x1xf32> {linattn.name = "z0", linattn.sample = "rate"})
    -> (tensor<?x?x8x64xf32>, tensor<?x8x64x64xf32>, tensor<?x8x64x1xf32>) {
  %o, %sT, %zT = linattn.recurrence
      tokens(%q : tensor<?x?x8x64xf32>, %k : tensor<?x?x8x64xf32>, %v : tensor<?x?x8x64xf32>)
      state(%s0 : tensor<?x8x64x64xf32>, %z0 : tensor<?x8x64x1xf32>)
      -> (tensor<?x?x8x64xf32>, tensor<?x8x64x64xf32>, tensor<?x8x64x1xf32>) {
  ^step(%qt: vector<64xf32>, %kt: vector<64xf32>, %vt: vector<64xf32>,
        %s: !linattn.state<64x64xf32>, %z: !linattn.state<64x1xf32>):
    // 1 + elu(x) = max(x, 0) + e^min(x, 0)
    %zero = arith.constant dense<0.0> : vector<64xf32>
    %kPos = arith.maximumf %kt, %zero : vector<64xf32>
    %kNeg = arith.minimumf %kt, %zero : vector<64xf32>
    %kExp = math.exp %kNeg : vector<64xf32>
    %phiK = arith.addf %kPos, %kExp : vector<64xf32>
    %qPos = arith.maximumf %qt, %zero : vector<64xf32>
    %qNeg = arith.minimumf %qt, %zero : vector<64xf32>
    %qExp = math.exp %qNeg : vector<64xf32>
    %phiQ = arith.addf %qPos, %qExp : vector<64xf32>
    %one = arith.constant dense<1.0> : vector<1xf32>
    %s1 = linattn.write %s, %phiK, %vt : !linattn.state<64x64xf32>, vector<64xf32>, vector<64xf32>
    %z1 = linattn.write %z, %phiK, %one : !linattn.state<64x1xf32>, vector<64xf32>, vector<1xf32>
    %n = linattn.read %s1, %phiQ : !linattn.state<64x64xf32>, vector<64xf32>
    %d = linattn.read %z1, %phiQ : !linattn.state<64x1xf32>, vector<64xf32>
    %d0 = vector.extract %d[0] : f32 from vector<1xf32>
    %dv = vector.broadcast %d0 : f32 to vector<64xf32>
    %ot = arith.divf %n, %dv : vector<64xf32>
    linattn.yield %ot, %s1, %z1 : vector<64xf32>, !linattn.state<64x64xf32>, !linattn.state<64x1xf32>
  }
  return %o, %sT, %zT : tensor<?x?x8x64xf32>, tensor<?x8x64x64xf32>, tensor<?x8x64x1xf32>
}
