// Steps that a generator of random recurrences found to go wrong, as small as they
// get.
!seq = tensor<?x?x1x16xf32>
!num = tensor<?x?x1xf32>
!mem = tensor<?x1x16x16xf32>
!V = vector<16xf32>
!S = !linattn.state<16x16xf32>

// A strong and a slow decay of one token: their sum in f32 has lost the slow one.
func.func @strong_and_slow(%q: !seq {linattn.name = "q"}, %k: !seq {linattn.name = "k"}, %v: !seq {linattn.name = "v"},
    %g: !num {linattn.name = "g", linattn.sample = "log_gate"}, %h: !num {linattn.name = "h", linattn.sample = "log_gate"},
    %s0: !mem {linattn.name = "s0"}) -> (!seq, !mem) {
  %o, %sT = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq, %g : !num, %h : !num)
      state(%s0 : !mem) -> (!seq, !mem) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %gt: f32, %ht: f32, %s: !S):
    %s1 = linattn.decay %s, %gt : !S, f32
    %s2 = linattn.write %s1, %kt, %vt : !S, !V, !V
    %s3 = linattn.decay %s2, %ht : !S, f32
    %ot = linattn.read %s3, %qt : !S, !V
    linattn.yield %ot, %s3 : !V, !S
  }
  return %o, %sT : !seq, !mem
}

// A decay over K that is the same at every token, beside a delta rule.
func.func @constant_decay_over_keys(%q: !seq {linattn.name = "q", linattn.sample = "unit_key"},
    %k: !seq {linattn.name = "k", linattn.sample = "unit_key"}, %v: !seq {linattn.name = "v"},
    %b: !num {linattn.name = "b", linattn.sample = "rate"}, %p: tensor<1x16xf32> {linattn.name = "p", linattn.sample = "log_gate"},
    %s0: !mem {linattn.name = "s0"}) -> (!seq, !mem) {
  %o, %sT = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq, %b : !num) params(%p : tensor<1x16xf32>)
      state(%s0 : !mem) -> (!seq, !mem) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %bt: f32, %pt: !V, %s: !S):
    %s1 = linattn.decay %s, %pt : !S, !V
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !S, !V, !V, f32
    %ot = linattn.read %s2, %qt : !S, !V
    linattn.yield %ot, %s2 : !V, !S
  }
  return %o, %sT : !seq, !mem
}

// Widths that are padded, beside reductions whose result 0 would change.
!keys = tensor<?x?x1x20xf32>
!values = tensor<?x?x1x12xf32>
!K = vector<20xf32>
!W = vector<12xf32>
!P = !linattn.state<20x12xf32>
func.func @reductions(%q: !keys {linattn.name = "q", linattn.sample = "unit_key"}, %k: !keys {linattn.name = "k", linattn.sample = "unit_key"},
    %v: !values {linattn.name = "v"}, %s0: tensor<?x1x20x12xf32> {linattn.name = "s0"}) -> (!values, tensor<?x1x20x12xf32>) {
  %o, %sT = linattn.recurrence tokens(%q : !keys, %k : !keys, %v : !values) state(%s0 : tensor<?x1x20x12xf32>)
      -> (!values, tensor<?x1x20x12xf32>) {
  ^step(%qt: !K, %kt: !K, %vt: !W, %s: !P):
    // Of a key: the least of positive numbers, the greatest of negative ones.
    %ek = math.exp %kt : !K
    %least = vector.reduction <minimumf>, %ek : !K into f32
    %leasts = vector.broadcast %least : f32 to !K
    %kn = arith.mulf %leasts, %kt : !K
    %s1 = linattn.write %s, %kn, %vt : !P, !K, !W
    %r = linattn.read %s1, %qt : !P, !K
    // Of what is read.
    %half = arith.constant dense<0.5> : !W
    %er = math.exp %r : !W
    %near = arith.addf %er, %half : !W
    %nr = arith.negf %er : !W
    %most = vector.reduction <maximumf>, %nr : !W into f32
    %product = vector.reduction <mul>, %near : !W into f32
    %log = math.log %product : f32
    %sum = arith.addf %most, %log : f32
    %sums = vector.broadcast %sum : f32 to !W
    %ot = arith.addf %r, %sums : !W
    linattn.yield %ot, %s1 : !W, !P
  }
  return %o, %sT : !values, tensor<?x1x20x12xf32>
}

// What is read was decayed after it was written: in f16 nothing would be left.
!half = tensor<?x?x1x16xf16>
!H = vector<16xf16>
func.func @faded(%q: !half {linattn.name = "q", linattn.sample = "unit_key"}, %k: !half {linattn.name = "k", linattn.sample = "unit_key"},
    %v: !half {linattn.name = "v"}, %g: !num {linattn.name = "g", linattn.sample = "log_gate"}, %s0: !mem {linattn.name = "s0"}) -> (!seq, !mem) {
  %o, %sT = linattn.recurrence tokens(%q : !half, %k : !half, %v : !half, %g : !num)
      state(%s0 : !mem) -> (!seq, !mem) {
  ^step(%qt: !H, %kt: !H, %vt: !H, %gt: f32, %s: !S):
    %s1 = linattn.write %s, %kt, %vt : !S, !H, !H
    %s2 = linattn.decay %s1, %gt : !S, f32
    %s3 = linattn.decay %s2, %gt : !S, f32
    %ot = linattn.read %s3, %qt : !S, !H
    linattn.yield %ot, %s3 : !V, !S
  }
  return %o, %sT : !seq, !mem
}

// A state so narrow that two warps hold the same rows, in a pool: each stores what
// the other has loaded.
func.func @narrow_pool(%k: tensor<?x2x16xf32> {linattn.name = "k"}, %v: tensor<?x2x8xf32> {linattn.name = "v"},
    %s0: tensor<?x2x16x8xf32> {linattn.name = "s0"}, %cu: tensor<?xi32> {linattn.name = "cu"}, %idx: tensor<?xi32> {linattn.name = "idx"})
    -> (tensor<?x2x8xf32>, tensor<?x2x16x8xf32>) {
  %o, %sT = linattn.recurrence tokens(%k : tensor<?x2x16xf32>, %v : tensor<?x2x8xf32>)
      state(%s0 : tensor<?x2x16x8xf32>) seqlens(%cu : tensor<?xi32>) slots(%idx : tensor<?xi32>)
      -> (tensor<?x2x8xf32>, tensor<?x2x16x8xf32>) {
  ^step(%kt: !V, %vt: vector<8xf32>, %s: !linattn.state<16x8xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<16x8xf32>, !V, vector<8xf32>
    %ot = linattn.read %s1, %kt : !linattn.state<16x8xf32>, !V
    linattn.yield %ot, %s1 : vector<8xf32>, !linattn.state<16x8xf32>
  }
  return %o, %sT : tensor<?x2x8xf32>, tensor<?x2x16x8xf32>
}

// A state that its transitions mix beside one that they do not.
func.func @mixed_and_plain(%q: !seq {linattn.name = "q", linattn.sample = "unit_key"}, %k: !seq {linattn.name = "k", linattn.sample = "unit_key"},
    %v: !seq {linattn.name = "v"}, %b: !num {linattn.name = "b", linattn.sample = "rate"}, %s0: !mem {linattn.name = "s0"},
    %z0: !mem {linattn.name = "z0"}) -> (!seq, !mem, !mem) {
  %o, %sT, %zT = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq, %b : !num)
      state(%s0 : !mem, %z0 : !mem) -> (!seq, !mem, !mem) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %bt: f32, %s: !S, %z: !S):
    %s1 = linattn.delta_update %s, %kt, %vt, %bt : !S, !V, !V, f32
    %z1 = linattn.write %z, %kt, %vt : !S, !V, !V
    %ot = linattn.read %s1, %qt : !S, !V
    linattn.yield %ot, %s1, %z1 : !V, !S, !S
  }
  return %o, %sT, %zT : !seq, !mem, !mem
}

// Beyond f32 where the reference is, and right elsewhere.
func.func @overflows(%q: !seq {linattn.name = "q"}, %k: !seq {linattn.name = "k"}, %v: !seq {linattn.name = "v"},
    %s0: !mem {linattn.name = "s0"}) -> (!seq, !mem) {
  %o, %sT = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq) state(%s0 : !mem) -> (!seq, !mem) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %s: !S):
    %s1 = linattn.write %s, %kt, %vt : !S, !V, !V
    %r = linattn.read %s1, %qt scale 200.0 : !S, !V
    %ot = math.exp %r : !V
    linattn.yield %ot, %s1 : !V, !S
  }
  return %o, %sT : !seq, !mem
}

// All types are f32, and products are told to round.
func.func @told_to_round(%q: !seq {linattn.name = "q"}, %k: !seq {linattn.name = "k"}, %v: !seq {linattn.name = "v"},
    %g: !num {linattn.name = "g", linattn.sample = "log_gate"}, %s0: !mem {linattn.name = "s0"}) -> (!seq, !mem) {
  %o, %sT = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq, %g : !num)
      state(%s0 : !mem) precision(#linattn.precision<mma = bf16, solve = f32>) -> (!seq, !mem) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %gt: f32, %s: !S):
    %s1 = linattn.decay %s, %gt : !S, f32
    %s2 = linattn.write %s1, %kt, %vt : !S, !V, !V
    %ot = linattn.read %s2, %qt : !S, !V
    linattn.yield %ot, %s2 : !V, !S
  }
  return %o, %sT : !seq, !mem
}
