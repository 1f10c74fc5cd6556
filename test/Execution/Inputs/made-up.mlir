// Recurrences that stand in no list, by the names of what they try.

// Two decays and two writes per token, reads on the way: S = e^g S;
// S += k (w o v)^T (a plain write, rate per value column); S = e^h S;
// S += b2 k2 (v2 - S^T k2)^T; o = (S^T q) + (read between) o gate.
func.func @two_decays_two_writes(
    %q: tensor<?x?x4x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x4x2x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x4x2x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x4xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %h: tensor<?x?x4xf32> {linattn.name = "h", linattn.sample = "log_gate"},
    %beta: tensor<?x?x4xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %w: tensor<?x?x4x64xbf16> {linattn.name = "w", linattn.sample = "rate"},
    %s0: tensor<?x4x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x4x64xbf16>, %k : tensor<?x?x4x2x64xbf16>, %v : tensor<?x?x4x2x64xbf16>,
             %g : tensor<?x?x4xf32>, %h : tensor<?x?x4xf32>, %beta : tensor<?x?x4xf32>,
             %w : tensor<?x?x4x64xbf16>)
      state(%s0 : tensor<?x4x64x64xf32>)
      -> (tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<2x64xbf16>, %vt: vector<2x64xbf16>, %gt: f32, %ht: f32,
        %bt: f32, %wt: vector<64xbf16>, %s: !linattn.state<64x64xf32>):
    %k1 = vector.extract %kt[0] : vector<64xbf16> from vector<2x64xbf16>
    %k2 = vector.extract %kt[1] : vector<64xbf16> from vector<2x64xbf16>
    %vf = arith.extf %vt : vector<2x64xbf16> to vector<2x64xf32>
    %v1 = vector.extract %vf[0] : vector<64xf32> from vector<2x64xf32>
    %v2 = vector.extract %vf[1] : vector<64xf32> from vector<2x64xf32>
    %wf = arith.extf %wt : vector<64xbf16> to vector<64xf32>
    %u1 = arith.mulf %wf, %v1 : vector<64xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<64x64xf32>, f32
    %s2 = linattn.write %s1, %k1, %u1
        : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xf32>
    %between = linattn.read %s2, %qt : !linattn.state<64x64xf32>, vector<64xbf16>
    %s3 = linattn.decay %s2, %ht : !linattn.state<64x64xf32>, f32
    %s4 = linattn.delta_update %s3, %k2, %v2, %bt
        : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xf32>, f32
    %last = linattn.read %s4, %qt : !linattn.state<64x64xf32>, vector<64xbf16>
    %gated = arith.mulf %between, %wf : vector<64xf32>
    %of = arith.addf %last, %gated : vector<64xf32>
    %ot = arith.truncf %of : vector<64xf32> to vector<64xbf16>
    linattn.yield %ot, %s4 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>
}

// Three delta updates, the second and third by the first key too: what it wrote
// is corrected at once. Decay over K, K = 32, V = 48, two key heads for each
// two value heads.
func.func @three_updates(
    %q: tensor<?x?x2x32xf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x3x32xf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x4x3x48xf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x4x32xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x4x3xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x4x32x48xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x4x48xf16>, tensor<?x4x32x48xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x32xf16>, %k : tensor<?x?x2x3x32xf16>, %v : tensor<?x?x4x3x48xf16>,
             %g : tensor<?x?x4x32xf32>, %beta : tensor<?x?x4x3xf32>)
      state(%s0 : tensor<?x4x32x48xf32>)
      -> (tensor<?x?x4x48xf16>, tensor<?x4x32x48xf32>) {
  ^step(%qt: vector<32xf16>, %kt: vector<3x32xf16>, %vt: vector<3x48xf16>, %gt: vector<32xf32>,
        %bt: vector<3xf32>, %s: !linattn.state<32x48xf32>):
    %k1 = vector.extract %kt[0] : vector<32xf16> from vector<3x32xf16>
    %k2 = vector.extract %kt[1] : vector<32xf16> from vector<3x32xf16>
    %v1 = vector.extract %vt[0] : vector<48xf16> from vector<3x48xf16>
    %v2 = vector.extract %vt[1] : vector<48xf16> from vector<3x48xf16>
    %v3 = vector.extract %vt[2] : vector<48xf16> from vector<3x48xf16>
    %b1 = vector.extract %bt[0] : f32 from vector<3xf32>
    %b2 = vector.extract %bt[1] : f32 from vector<3xf32>
    %b3 = vector.extract %bt[2] : f32 from vector<3xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<32x48xf32>, vector<32xf32>
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1
        : !linattn.state<32x48xf32>, vector<32xf16>, vector<48xf16>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2
        : !linattn.state<32x48xf32>, vector<32xf16>, vector<48xf16>, f32
    %s4 = linattn.delta_update %s3, %k1, %v3, %b3
        : !linattn.state<32x48xf32>, vector<32xf16>, vector<48xf16>, f32
    %of = linattn.read %s4, %qt scale 0.17677669529663687
        : !linattn.state<32x48xf32>, vector<32xf16>
    %ot = arith.truncf %of : vector<48xf32> to vector<48xf16>
    linattn.yield %ot, %s4 : vector<48xf16>, !linattn.state<32x48xf32>
  }
  return %o, %sT : tensor<?x?x4x48xf16>, tensor<?x4x32x48xf32>
}

// A memory that corrects another one: fast S decays, slow R keeps what S could
// not say, R += k (v - S^T k - R^T k)^T with a rate, and both are read.
func.func @two_memories(
    %q: tensor<?x?x2x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x2x64x64xf32> {linattn.name = "s0", linattn.sample = "state"},
    %r0: tensor<?x2x64x64xf32> {linattn.name = "r0", linattn.sample = "state"})
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>, tensor<?x2x64x64xf32>) {
  %o, %sT, %rT = linattn.recurrence
      tokens(%q : tensor<?x?x2x64xbf16>, %k : tensor<?x?x2x64xbf16>, %v : tensor<?x?x2x64xbf16>,
             %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x64x64xf32>, %r0 : tensor<?x2x64x64xf32>)
      -> (tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>, tensor<?x2x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<64xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<64x64xf32>, %r: !linattn.state<64x64xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<64x64xf32>, f32
    %said = linattn.read %s1, %kt : !linattn.state<64x64xf32>, vector<64xbf16>
    %kept = linattn.read %r, %kt : !linattn.state<64x64xf32>, vector<64xbf16>
    %vf = arith.extf %vt : vector<64xbf16> to vector<64xf32>
    %d1 = arith.subf %vf, %said : vector<64xf32>
    %d2 = arith.subf %d1, %kept : vector<64xf32>
    %b = vector.broadcast %bt : f32 to vector<64xf32>
    %u = arith.mulf %b, %d2 : vector<64xf32>
    %r1 = linattn.write %r, %kt, %u : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xf32>
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>
    %o1 = linattn.read %s2, %qt scale 0.125 : !linattn.state<64x64xf32>, vector<64xbf16>
    %o2 = linattn.read %r1, %qt scale 0.125 : !linattn.state<64x64xf32>, vector<64xbf16>
    %of = arith.addf %o1, %o2 : vector<64xf32>
    %ot = arith.truncf %of : vector<64xf32> to vector<64xbf16>
    linattn.yield %ot, %s2, %r1
        : vector<64xbf16>, !linattn.state<64x64xf32>, !linattn.state<64x64xf32>
  }
  return %o, %sT, %rT : tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>, tensor<?x2x64x64xf32>
}

// Two decays over K with two delta updates and a read between them, and a read
// behind both: events whose own token decays before and after them.
func.func @between_decays(
    %q: tensor<?x?x2x64xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x2x64xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x2x64xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2x64xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %h: tensor<?x?x2x64xf32> {linattn.name = "h", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2x2xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x2x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x64xbf16>, %k : tensor<?x?x2x2x64xbf16>, %v : tensor<?x?x2x2x64xbf16>,
             %g : tensor<?x?x2x64xf32>, %h : tensor<?x?x2x64xf32>, %beta : tensor<?x?x2x2xf32>)
      state(%s0 : tensor<?x2x64x64xf32>)
      -> (tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>) {
  ^step(%qt: vector<64xbf16>, %kt: vector<2x64xbf16>, %vt: vector<2x64xbf16>, %gt: vector<64xf32>,
        %ht: vector<64xf32>, %bt: vector<2xf32>, %s: !linattn.state<64x64xf32>):
    %k1 = vector.extract %kt[0] : vector<64xbf16> from vector<2x64xbf16>
    %k2 = vector.extract %kt[1] : vector<64xbf16> from vector<2x64xbf16>
    %v1 = vector.extract %vt[0] : vector<64xbf16> from vector<2x64xbf16>
    %v2 = vector.extract %vt[1] : vector<64xbf16> from vector<2x64xbf16>
    %b1 = vector.extract %bt[0] : f32 from vector<2xf32>
    %b2 = vector.extract %bt[1] : f32 from vector<2xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<64x64xf32>, vector<64xf32>
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1
        : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2
        : !linattn.state<64x64xf32>, vector<64xbf16>, vector<64xbf16>, f32
    %o1 = linattn.read %s3, %qt : !linattn.state<64x64xf32>, vector<64xbf16>
    %s4 = linattn.decay %s3, %ht : !linattn.state<64x64xf32>, vector<64xf32>
    %o2 = linattn.read %s4, %qt : !linattn.state<64x64xf32>, vector<64xbf16>
    %of = arith.addf %o1, %o2 : vector<64xf32>
    %ot = arith.truncf %of : vector<64xf32> to vector<64xbf16>
    linattn.yield %ot, %s4 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x2x64xbf16>, tensor<?x2x64x64xf32>
}
