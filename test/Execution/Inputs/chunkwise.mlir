// Small recurrences, each with something of its own to do in a chunk.

// Gated DeltaNet, packed; one key head for two value heads.
func.func @gated_delta(%q: tensor<?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x1x8xf32>, %k : tensor<?x1x8xf32>, %v : tensor<?x2x12xf32>, %g : tensor<?x2xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>
}

// The same in bf16, a batch.
func.func @gated_delta_bf16(%q: tensor<?x?x1x16xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x16xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x12xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x16x12xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xbf16>, %k : tensor<?x?x1x16xbf16>, %v : tensor<?x?x2x12xbf16>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x16x12xf32>)
      -> (tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>) {
  ^step(%qt: vector<16xbf16>, %kt: vector<16xbf16>, %vt: vector<12xbf16>, %gt: f32, %bt: f32, %s: !linattn.state<16x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<16x12xf32>, vector<16xbf16>, vector<12xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<16x12xf32>, vector<16xbf16>
    %ob = arith.truncf %ot : vector<12xf32> to vector<12xbf16>
    linattn.yield %ob, %s2 : vector<12xbf16>, !linattn.state<16x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xbf16>, tensor<?x2x16x12xf32>
}

// KDA: a gate per key, packed.
func.func @kda(%q: tensor<?x1x20xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x1x20xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x8xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2x20xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x20x8xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x8xf32>, tensor<?x2x20x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x1x20xf32>, %k : tensor<?x1x20xf32>, %v : tensor<?x2x8xf32>, %g : tensor<?x2x20xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x20x8xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x8xf32>, tensor<?x2x20x8xf32>) {
  ^step(%qt: vector<20xf32>, %kt: vector<20xf32>, %vt: vector<8xf32>, %gt: vector<20xf32>, %bt: f32, %s: !linattn.state<20x8xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<20x8xf32>, vector<20xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<20x8xf32>, vector<20xf32>, vector<8xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<20x8xf32>, vector<20xf32>
    linattn.yield %ot, %s2 : vector<8xf32>, !linattn.state<20x8xf32>
  }
  return %r#0, %r#1 : tensor<?x2x8xf32>, tensor<?x2x20x8xf32>
}

// KDA, bf16.
func.func @kda_bf16(%q: tensor<?x?x1x16xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x16xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x8xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2x16xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x16x8xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x8xbf16>, tensor<?x2x16x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x16xbf16>, %k : tensor<?x?x1x16xbf16>, %v : tensor<?x?x2x8xbf16>, %g : tensor<?x?x2x16xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x16x8xf32>)
      -> (tensor<?x?x2x8xbf16>, tensor<?x2x16x8xf32>) {
  ^step(%qt: vector<16xbf16>, %kt: vector<16xbf16>, %vt: vector<8xbf16>, %gt: vector<16xf32>, %bt: f32, %s: !linattn.state<16x8xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x8xf32>, vector<16xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<16x8xf32>, vector<16xbf16>, vector<8xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<16x8xf32>, vector<16xbf16>
    %ob = arith.truncf %ot : vector<8xf32> to vector<8xbf16>
    linattn.yield %ob, %s2 : vector<8xbf16>, !linattn.state<16x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x8xbf16>, tensor<?x2x16x8xf32>
}

// A rate per value column: a system of its own for each.
func.func @column_rate(%q: tensor<?x?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2x12xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x8xf32>, %k : tensor<?x?x1x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: vector<12xf32>, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, vector<12xf32>
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// Slots of a pool; -1 is no sequence.
func.func @slots(%q: tensor<?x?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %slots: tensor<?xi32> {linattn.name = "slots"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x8xf32>, %k : tensor<?x?x1x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) slots(%slots : tensor<?xi32>, padding = -1)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// The state after every 32 tokens, packed.
func.func @snapshots(%q: tensor<?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2x8xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x1x8xf32>, %k : tensor<?x1x8xf32>, %v : tensor<?x2x12xf32>, %g : tensor<?x2x8xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>) snapshots(every = 32)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: vector<8xf32>, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, vector<8xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>
}

// DeltaProduct, n = 2: two writes of a token, the second reads the first.
func.func @delta_product(%q: tensor<?x2x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x2x2x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x2x2xf32> {linattn.name = "b", linattn.sample = "rate2"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x2x8xf32>, %k : tensor<?x2x2x8xf32>, %v : tensor<?x2x2x12xf32>, %g : tensor<?x2xf32>, %b : tensor<?x2x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<2x8xf32>, %vt: vector<2x12xf32>, %gt: f32, %bt: vector<2xf32>, %s: !linattn.state<8x12xf32>):
    %k1 = vector.extract %kt[0] : vector<8xf32> from vector<2x8xf32>
    %k2 = vector.extract %kt[1] : vector<8xf32> from vector<2x8xf32>
    %v1 = vector.extract %vt[0] : vector<12xf32> from vector<2x12xf32>
    %v2 = vector.extract %vt[1] : vector<12xf32> from vector<2x12xf32>
    %b1 = vector.extract %bt[0] : f32 from vector<2xf32>
    %b2 = vector.extract %bt[1] : f32 from vector<2xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1 : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2 : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s3, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s3 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>
}

// Two states, each written with what was read of the other, with decays of
// their own.
func.func @coupled(%q: tensor<?x2x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x2x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %h: tensor<?x2x8xf32> {linattn.name = "h", linattn.sample = "log_gate"},
    %b: tensor<?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %z0: tensor<?x2x8x12xf32> {linattn.name = "z0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x2x8xf32>, %k : tensor<?x2x8xf32>, %v : tensor<?x2x12xf32>, %g : tensor<?x2xf32>, %h : tensor<?x2x8xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>, %z0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %ht: vector<8xf32>, %bt: f32, %s: !linattn.state<8x12xf32>, %z: !linattn.state<8x12xf32>):
    %half = arith.constant dense<0.5> : vector<12xf32>
    %bs = vector.broadcast %bt : f32 to vector<12xf32>
    %r = linattn.read %z, %kt : !linattn.state<8x12xf32>, vector<8xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %d = arith.subf %vt, %r : vector<12xf32>
    %u = arith.mulf %bs, %d : vector<12xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %z1 = linattn.decay %z, %ht : !linattn.state<8x12xf32>, vector<8xf32>
    %y = linattn.read %s2, %kt : !linattn.state<8x12xf32>, vector<8xf32>
    %w = arith.mulf %half, %y : vector<12xf32>
    %z2 = linattn.write %z1, %qt, %w : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %o1 = linattn.read %s2, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    %o2 = linattn.read %z2, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    %ot = arith.addf %o1, %o2 : vector<12xf32>
    linattn.yield %ot, %s2, %z2 : vector<12xf32>, !linattn.state<8x12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>
}

// Comba: the removal reads the state before its decay.
func.func @undecayed_read(%q: tensor<?x?x2x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %p: tensor<?x?x2x8xf32> {linattn.name = "p", linattn.sample = "unit_key"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>, %p : tensor<?x?x2x8xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %pt: vector<8xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %bs = vector.broadcast %bt : f32 to vector<12xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %r = linattn.read %s, %pt : !linattn.state<8x12xf32>, vector<8xf32>
    %d = arith.subf %vt, %r : vector<12xf32>
    %u = arith.mulf %bs, %d : vector<12xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %ot = linattn.read %s2, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// RWKV-7: an undecayed read goes back in along another key.
func.func @replacement(%q: tensor<?x2x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %w: tensor<?x2x8xf32> {linattn.name = "w", linattn.sample = "log_gate"},
    %k: tensor<?x2x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %p: tensor<?x2x8xf32> {linattn.name = "p", linattn.sample = "unit_key"},
    %b: tensor<?x2x8xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x2x8xf32>, %w : tensor<?x2x8xf32>, %k : tensor<?x2x8xf32>, %v : tensor<?x2x12xf32>, %p : tensor<?x2x8xf32>, %b : tensor<?x2x8xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %wt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %pt: vector<8xf32>, %bt: vector<8xf32>, %s: !linattn.state<8x12xf32>):
    %a = arith.negf %pt : vector<8xf32>
    %c = arith.mulf %pt, %bt : vector<8xf32>
    %r = linattn.read %s, %a : !linattn.state<8x12xf32>, vector<8xf32>
    %s1 = linattn.decay %s, %wt : !linattn.state<8x12xf32>, vector<8xf32>
    %s2 = linattn.write %s1, %c, %r : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %s3 = linattn.write %s2, %kt, %vt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %ot = linattn.read %s3, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s3 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>
}

// A normaliser with V = 1 that stays positive.
func.func @normaliser(%q: tensor<?x?x2x8xf32> {linattn.name = "q", linattn.sample = "rate"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k", linattn.sample = "rate"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"},
    %z0: tensor<?x2x8x1xf32> {linattn.name = "z0", linattn.sample = "rate"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x1xf32>) {
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>, %z0 : tensor<?x2x8x1xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x1xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %s: !linattn.state<8x12xf32>, %z: !linattn.state<8x1xf32>):
    %one = arith.constant dense<1.0> : vector<1xf32>
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %z1 = linattn.write %z, %kt, %one : !linattn.state<8x1xf32>, vector<8xf32>, vector<1xf32>
    %n = linattn.read %s1, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    %d = linattn.read %z1, %qt : !linattn.state<8x1xf32>, vector<8xf32>
    %d0 = vector.extract %d[0] : f32 from vector<1xf32>
    %ds = vector.broadcast %d0 : f32 to vector<12xf32>
    %ot = arith.divf %n, %ds : vector<12xf32>
    linattn.yield %ot, %s1, %z1 : vector<12xf32>, !linattn.state<8x12xf32>, !linattn.state<8x1xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x1xf32>
}

// Mamba-2: decay and rate from parameters of the head.
func.func @params(%x: tensor<?x?x2x12xf32> {linattn.name = "x", linattn.sample = "value"},
    %dt: tensor<?x?x2xf32> {linattn.name = "dt", linattn.sample = "raw_gate"},
    %k: tensor<?x?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %q: tensor<?x?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %a: tensor<2xf32> {linattn.name = "a", linattn.sample = "a_log"},
    %bias: tensor<2xf32> {linattn.name = "bias", linattn.sample = "raw"},
    %d: tensor<2x12xf32> {linattn.name = "d", linattn.sample = "weight"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%x : tensor<?x?x2x12xf32>, %dt : tensor<?x?x2xf32>, %k : tensor<?x?x1x8xf32>, %q : tensor<?x?x1x8xf32>)
      params(%a : tensor<2xf32>, %bias : tensor<2xf32>, %d : tensor<2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%xt: vector<12xf32>, %dtt: f32, %kt: vector<8xf32>, %qt: vector<8xf32>, %ap: f32, %biasp: f32, %dp: vector<12xf32>, %s: !linattn.state<8x12xf32>):
    %raw = arith.addf %dtt, %biasp : f32
    %rate = linattn.softplus %raw : f32
    %A = math.exp %ap : f32
    %drop = arith.mulf %A, %rate : f32
    %g = arith.negf %drop : f32
    %rates = vector.broadcast %rate : f32 to vector<12xf32>
    %u = arith.mulf %rates, %xt : vector<12xf32>
    %s1 = linattn.decay %s, %g : !linattn.state<8x12xf32>, f32
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %r = linattn.read %s2, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    %skip = arith.mulf %dp, %xt : vector<12xf32>
    %ot = arith.addf %r, %skip : vector<12xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// The output is normalised in the step.
func.func @output_norm(%q: tensor<?x?x1x8xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x8xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x12xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x2xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x2x8x12xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x8xf32>, %k : tensor<?x?x1x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    %on = linattn.l2norm %ot : vector<12xf32> -> vector<12xf32>
    linattn.yield %on, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}
