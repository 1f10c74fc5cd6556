// Recurrences that stand in no list, with rates that differ between value columns.

// Two delta updates per token, the rates of both vectors over value columns.
func.func @two_rates(
    %q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x2x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x2x32xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2x2x32xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x2x32x32xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x32xbf16>, %k : tensor<?x?x2x2x32xbf16>, %v : tensor<?x?x2x2x32xbf16>,
             %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2x2x32xf32>)
      state(%s0 : tensor<?x2x32x32xf32>)
      -> (tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>) {
  ^step(%qt: vector<32xbf16>, %kt: vector<2x32xbf16>, %vt: vector<2x32xbf16>, %gt: f32,
        %bt: vector<2x32xf32>, %s: !linattn.state<32x32xf32>):
    %k1 = vector.extract %kt[0] : vector<32xbf16> from vector<2x32xbf16>
    %k2 = vector.extract %kt[1] : vector<32xbf16> from vector<2x32xbf16>
    %v1 = vector.extract %vt[0] : vector<32xbf16> from vector<2x32xbf16>
    %v2 = vector.extract %vt[1] : vector<32xbf16> from vector<2x32xbf16>
    %b1 = vector.extract %bt[0] : vector<32xf32> from vector<2x32xf32>
    %b2 = vector.extract %bt[1] : vector<32xf32> from vector<2x32xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<32x32xf32>, f32
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1
        : !linattn.state<32x32xf32>, vector<32xbf16>, vector<32xbf16>, vector<32xf32>
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2
        : !linattn.state<32x32xf32>, vector<32xbf16>, vector<32xbf16>, vector<32xf32>
    %of = linattn.read %s3, %qt : !linattn.state<32x32xf32>, vector<32xbf16>
    %ot = arith.truncf %of : vector<32xf32> to vector<32xbf16>
    linattn.yield %ot, %s3 : vector<32xbf16>, !linattn.state<32x32xf32>
  }
  return %o, %sT : tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>
}

// Three of them in f32 under a decay over K, at a rate of one number, a vector
// and a parameter; the last by the first key again. K = 16, V = 40.
func.func @three_rates(
    %q: tensor<?x?x1x16xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x2x16xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x3x40xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2x16xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %rate: tensor<?x?x2x40xf32> {linattn.name = "rate", linattn.sample = "rate"},
    %fixed: tensor<2x40xf32> {linattn.name = "fixed", linattn.sample = "rate"},
    %s0: tensor<?x2x16x40xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x40xf32>, tensor<?x2x16x40xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xf32>, %k : tensor<?x?x1x2x16xf32>, %v : tensor<?x?x2x3x40xf32>,
             %g : tensor<?x?x2x16xf32>, %beta : tensor<?x?x2xf32>, %rate : tensor<?x?x2x40xf32>)
      params(%fixed : tensor<2x40xf32>)
      state(%s0 : tensor<?x2x16x40xf32>)
      -> (tensor<?x?x2x40xf32>, tensor<?x2x16x40xf32>) {
  ^step(%qt: vector<16xf32>, %kt: vector<2x16xf32>, %vt: vector<3x40xf32>, %gt: vector<16xf32>,
        %bt: f32, %rt: vector<40xf32>, %ft: vector<40xf32>, %s: !linattn.state<16x40xf32>):
    %k1 = vector.extract %kt[0] : vector<16xf32> from vector<2x16xf32>
    %k2 = vector.extract %kt[1] : vector<16xf32> from vector<2x16xf32>
    %v1 = vector.extract %vt[0] : vector<40xf32> from vector<3x40xf32>
    %v2 = vector.extract %vt[1] : vector<40xf32> from vector<3x40xf32>
    %v3 = vector.extract %vt[2] : vector<40xf32> from vector<3x40xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<16x40xf32>, vector<16xf32>
    %s2 = linattn.delta_update %s1, %k1, %v1, %bt
        : !linattn.state<16x40xf32>, vector<16xf32>, vector<40xf32>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %rt
        : !linattn.state<16x40xf32>, vector<16xf32>, vector<40xf32>, vector<40xf32>
    %s4 = linattn.delta_update %s3, %k1, %v3, %ft
        : !linattn.state<16x40xf32>, vector<16xf32>, vector<40xf32>, vector<40xf32>
    %ot = linattn.read %s4, %qt scale 0.25 : !linattn.state<16x40xf32>, vector<16xf32>
    linattn.yield %ot, %s4 : vector<40xf32>, !linattn.state<16x40xf32>
  }
  return %o, %sT : tensor<?x?x2x40xf32>, tensor<?x2x16x40xf32>
}

// Two states that write what the other one said: three reads, one of them before
// the decay, at rates of both kinds, K = 32 and 48.
func.func @crossed_states(
    %q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %p: tensor<?x?x2x48xbf16> {linattn.name = "p", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2x32xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %h: tensor<?x?x2xf32> {linattn.name = "h", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2x32xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %rate: tensor<?x?x2xf32> {linattn.name = "rate", linattn.sample = "rate"},
    %s0: tensor<?x2x32x32xf32> {linattn.name = "s0", linattn.sample = "state"},
    %r0: tensor<?x2x48x32xf32> {linattn.name = "r0", linattn.sample = "state"})
    -> (tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>, tensor<?x2x48x32xf32>) {
  %o, %sT, %rT = linattn.recurrence
      tokens(%q : tensor<?x?x2x32xbf16>, %k : tensor<?x?x2x32xbf16>, %p : tensor<?x?x2x48xbf16>,
             %v : tensor<?x?x2x32xbf16>, %g : tensor<?x?x2x32xf32>, %h : tensor<?x?x2xf32>,
             %beta : tensor<?x?x2x32xf32>, %rate : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x32x32xf32>, %r0 : tensor<?x2x48x32xf32>)
      -> (tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>, tensor<?x2x48x32xf32>) {
  ^step(%qt: vector<32xbf16>, %kt: vector<32xbf16>, %pt: vector<48xbf16>, %vt: vector<32xbf16>,
        %gt: vector<32xf32>, %ht: f32, %bt: vector<32xf32>, %rate_t: f32,
        %s: !linattn.state<32x32xf32>, %r: !linattn.state<48x32xf32>):
    %early = linattn.read %s, %qt : !linattn.state<32x32xf32>, vector<32xbf16>
    %s1 = linattn.decay %s, %gt : !linattn.state<32x32xf32>, vector<32xf32>
    %own = linattn.read %s1, %kt : !linattn.state<32x32xf32>, vector<32xbf16>
    %r1 = linattn.decay %r, %ht : !linattn.state<48x32xf32>, f32
    %other = linattn.read %r1, %pt scale 0.5 : !linattn.state<48x32xf32>, vector<48xbf16>
    %vf = arith.extf %vt : vector<32xbf16> to vector<32xf32>
    %rates = vector.broadcast %rate_t : f32 to vector<32xf32>
    %x1 = arith.mulf %rates, %early : vector<32xf32>
    %x2 = arith.mulf %bt, %own : vector<32xf32>
    %x3 = arith.addf %x1, %x2 : vector<32xf32>
    %u = arith.subf %vf, %x3 : vector<32xf32>
    %s2 = linattn.write %s1, %kt, %u
        : !linattn.state<32x32xf32>, vector<32xbf16>, vector<32xf32>
    %y1 = arith.subf %u, %other : vector<32xf32>
    %w = arith.mulf %bt, %y1 : vector<32xf32>
    %r2 = linattn.write %r1, %pt, %w
        : !linattn.state<48x32xf32>, vector<48xbf16>, vector<32xf32>
    %o1 = linattn.read %s2, %qt : !linattn.state<32x32xf32>, vector<32xbf16>
    %o2 = linattn.read %r2, %pt : !linattn.state<48x32xf32>, vector<48xbf16>
    %of = arith.addf %o1, %o2 : vector<32xf32>
    %ot = arith.truncf %of : vector<32xf32> to vector<32xbf16>
    linattn.yield %ot, %s2, %r2
        : vector<32xbf16>, !linattn.state<32x32xf32>, !linattn.state<48x32xf32>
  }
  return %o, %sT, %rT : tensor<?x?x2x32xbf16>, tensor<?x2x32x32xf32>, tensor<?x2x48x32xf32>
}

// A decay over K of a width between powers of two, which no lane of a warp
// shares evenly: K = 96, V = 24.
func.func @uneven_widths(
    %q: tensor<?x?x2x96xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x96xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x24xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2x96xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %scale: tensor<2x96xf32> {linattn.name = "scale", linattn.sample = "weight"},
    %s0: tensor<?x2x96x24xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x24xf32>, tensor<?x2x96x24xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x96xbf16>, %k : tensor<?x?x2x96xbf16>, %v : tensor<?x?x2x24xbf16>,
             %g : tensor<?x?x2x96xf32>)
      params(%scale : tensor<2x96xf32>)
      state(%s0 : tensor<?x2x96x24xf32>)
      -> (tensor<?x?x2x24xf32>, tensor<?x2x96x24xf32>) {
  ^step(%qt: vector<96xbf16>, %kt: vector<96xbf16>, %vt: vector<24xbf16>, %gt: vector<96xf32>,
        %st: vector<96xf32>, %s: !linattn.state<96x24xf32>):
    %kf = arith.extf %kt : vector<96xbf16> to vector<96xf32>
    %ks = arith.mulf %kf, %st : vector<96xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<96x24xf32>, vector<96xf32>
    %s2 = linattn.write %s1, %ks, %vt
        : !linattn.state<96x24xf32>, vector<96xf32>, vector<24xbf16>
    %ot = linattn.read %s2, %qt : !linattn.state<96x24xf32>, vector<96xbf16>
    linattn.yield %ot, %s2 : vector<24xf32>, !linattn.state<96x24xf32>
  }
  return %o, %sT : tensor<?x?x2x24xf32>, tensor<?x2x96x24xf32>
}
