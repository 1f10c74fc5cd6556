// K = 60 and V = 72: rows that only some lanes have, a last block with few columns.
func.func @odd60(%q: tensor<?x1x60xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x1x60xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x2x72xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x2x60xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x2xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x2x60x72xf32> {linattn.name = "s0", linattn.sample = "state"},
    %cu: tensor<?xi32> {linattn.name = "cu"})
    -> (tensor<?x2x72xf32>, tensor<?x2x60x72xf32>, tensor<?x2x60x72xf32>) {
  %o, %sT, %sn = linattn.recurrence
      tokens(%q : tensor<?x1x60xf32>, %k : tensor<?x1x60xf32>, %v : tensor<?x2x72xf32>, %g : tensor<?x2x60xf32>, %beta : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x60x72xf32>) seqlens(%cu : tensor<?xi32>) snapshots(every = 4)
      -> (tensor<?x2x72xf32>, tensor<?x2x60x72xf32>, tensor<?x2x60x72xf32>) {
  ^step(%qt: vector<60xf32>, %kt: vector<60xf32>, %vt: vector<72xf32>, %gt: vector<60xf32>, %bt: f32, %s: !linattn.state<60x72xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<60x72xf32>, vector<60xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<60x72xf32>, vector<60xf32>, vector<72xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.12909944487358055 : !linattn.state<60x72xf32>, vector<60xf32>
    linattn.yield %ot, %s2 : vector<72xf32>, !linattn.state<60x72xf32>
  }
  return %o, %sT, %sn : tensor<?x2x72xf32>, tensor<?x2x60x72xf32>, tensor<?x2x60x72xf32>
}
// K = 192, V = 96: 8 lanes a column.
func.func @odd192(%q: tensor<?x?x1x192xf32> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x192xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x96xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x2xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x2xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x2x192x96xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x2x96xf32>, tensor<?x2x192x96xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x192xf32>, %k : tensor<?x?x1x192xf32>, %v : tensor<?x?x2x96xf32>, %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x192x96xf32>)
      -> (tensor<?x?x2x96xf32>, tensor<?x2x192x96xf32>) {
  ^step(%qt: vector<192xf32>, %kt: vector<192xf32>, %vt: vector<96xf32>, %gt: f32, %bt: f32, %s: !linattn.state<192x96xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<192x96xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<192x96xf32>, vector<192xf32>, vector<96xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.07216878364870322 : !linattn.state<192x96xf32>, vector<192xf32>
    linattn.yield %ot, %s2 : vector<96xf32>, !linattn.state<192x96xf32>
  }
  return %o, %sT : tensor<?x?x2x96xf32>, tensor<?x2x192x96xf32>
}
// A read along what another state returned, halves of keys swapped, output normalised.
func.func @mixing(%k: tensor<?x?x2x30xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x22xf32> {linattn.name = "v", linattn.sample = "value"},
    %a0: tensor<?x2x30x22xf32> {linattn.name = "a0", linattn.sample = "state"},
    %b0: tensor<?x2x22x70xf32> {linattn.name = "b0", linattn.sample = "state"})
    -> (tensor<?x?x2x70xf32>, tensor<?x2x30x22xf32>, tensor<?x2x22x70xf32>) {
  %o, %aT, %bT = linattn.recurrence tokens(%k : tensor<?x?x2x30xf32>, %v : tensor<?x?x2x22xf32>)
      state(%a0 : tensor<?x2x30x22xf32>, %b0 : tensor<?x2x22x70xf32>)
      -> (tensor<?x?x2x70xf32>, tensor<?x2x30x22xf32>, tensor<?x2x22x70xf32>) {
  ^step(%kt: vector<30xf32>, %vt: vector<22xf32>, %a: !linattn.state<30x22xf32>, %b: !linattn.state<22x70xf32>):
    %lo = vector.extract_strided_slice %kt {offsets = [0], sizes = [15], strides = [1]} : vector<30xf32> to vector<15xf32>
    %hi = vector.extract_strided_slice %kt {offsets = [15], sizes = [15], strides = [1]} : vector<30xf32> to vector<15xf32>
    %z = arith.constant dense<0.0> : vector<30xf32>
    %r0 = vector.insert_strided_slice %hi, %z {offsets = [0], strides = [1]} : vector<15xf32> into vector<30xf32>
    %rot = vector.insert_strided_slice %lo, %r0 {offsets = [15], strides = [1]} : vector<15xf32> into vector<30xf32>
    %g = arith.constant -0.25 : f32
    %a1 = linattn.decay %a, %g : !linattn.state<30x22xf32>, f32
    %a2 = linattn.write %a1, %rot, %vt : !linattn.state<30x22xf32>, vector<30xf32>, vector<22xf32>
    %r = linattn.read %a2, %kt : !linattn.state<30x22xf32>, vector<30xf32>
    %y = linattn.read %b, %r : !linattn.state<22x70xf32>, vector<22xf32>
    %n = linattn.l2norm %y : vector<70xf32> -> vector<70xf32>
    %rev = vector.shuffle %r, %r [21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : vector<22xf32>, vector<22xf32>
    %b1 = linattn.write %b, %rev, %n : !linattn.state<22x70xf32>, vector<22xf32>, vector<70xf32>
    linattn.yield %n, %a2, %b1 : vector<70xf32>, !linattn.state<30x22xf32>, !linattn.state<22x70xf32>
  }
  return %o, %aT, %bT : tensor<?x?x2x70xf32>, tensor<?x2x30x22xf32>, tensor<?x2x22x70xf32>
}

// Decoding with a state of 16 bits, two outputs, one of them a scalar, and a
// constant that is no splat. K = V = 20.
func.func @bf16_state(%k: tensor<?x?x1x20xf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x2x20xf16> {linattn.name = "v", linattn.sample = "value"},
    %pool: tensor<?x2x20x20xbf16> {linattn.name = "pool", linattn.sample = "state"},
    %slots: tensor<?xi64> {linattn.name = "slots"})
    -> (tensor<?x?x2x20xf16>, tensor<?x?x2xf32>, tensor<?x2x20x20xbf16>) {
  %o, %m, %sT = linattn.recurrence tokens(%k : tensor<?x?x1x20xf16>, %v : tensor<?x?x2x20xf16>)
      state(%pool : tensor<?x2x20x20xbf16>) slots(%slots : tensor<?xi64>)
      -> (tensor<?x?x2x20xf16>, tensor<?x?x2xf32>, tensor<?x2x20x20xbf16>) {
  ^step(%kt: vector<20xf16>, %vt: vector<20xf16>, %s: !linattn.state<20x20xbf16>):
    %c = arith.constant dense<[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0,
                               0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 1.0]> : vector<20xf32>
    %s1 = linattn.decay %s, %c linear : !linattn.state<20x20xbf16>, vector<20xf32>
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<20x20xbf16>, vector<20xf16>, vector<20xf16>
    %r = linattn.read %s2, %kt : !linattn.state<20x20xbf16>, vector<20xf16>
    %m0 = vector.reduction <maximumf>, %r : vector<20xf32> into f32
    %ob = arith.truncf %r : vector<20xf32> to vector<20xf16>
    linattn.yield %ob, %m0, %s2 : vector<20xf16>, f32, !linattn.state<20x20xbf16>
  }
  return %o, %m, %sT : tensor<?x?x2x20xf16>, tensor<?x?x2xf32>, tensor<?x2x20x20xbf16>
}

// A norm of what is read, over the three warps of a block. K = 128, V = 24.
func.func @norm24(%k: tensor<?x?x1x128xf32> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x1x24xf32> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x1x128xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x1xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x1x128x24xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x1x24xf32>, tensor<?x1x128x24xf32>) {
  %o, %sT = linattn.recurrence tokens(%k : tensor<?x?x1x128xf32>, %v : tensor<?x?x1x24xf32>,
      %g : tensor<?x?x1x128xf32>, %b : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x128x24xf32>)
      -> (tensor<?x?x1x24xf32>, tensor<?x1x128x24xf32>) {
  ^step(%kt: vector<128xf32>, %vt: vector<24xf32>, %gt: vector<128xf32>, %bt: f32,
          %s: !linattn.state<128x24xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x24xf32>, vector<128xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<128x24xf32>, vector<128xf32>, vector<24xf32>, f32
    %o = linattn.read %s2, %kt : !linattn.state<128x24xf32>, vector<128xf32>
    %m = arith.mulf %o, %o : vector<24xf32>
    %r = vector.reduction <add>, %m : vector<24xf32> into f32
    %e = arith.constant 1.0e-5 : f32
    %a = arith.addf %r, %e : f32
    %rs = math.rsqrt %a : f32
    %rb = vector.broadcast %rs : f32 to vector<24xf32>
    %y = arith.mulf %o, %rb : vector<24xf32>
    linattn.yield %y, %s2 : vector<24xf32>, !linattn.state<128x24xf32>
  }
  return %o, %sT : tensor<?x?x1x24xf32>, tensor<?x1x128x24xf32>
}

// The same of tokens in bf16. K = 32, V = 66.
func.func @norm66(%k: tensor<?x?x1x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x1x66xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x1x32xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %b: tensor<?x?x1xf32> {linattn.name = "b", linattn.sample = "rate"},
    %s0: tensor<?x1x32x66xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x1x66xf32>, tensor<?x1x32x66xf32>) {
  %o, %sT = linattn.recurrence tokens(%k : tensor<?x?x1x32xbf16>, %v : tensor<?x?x1x66xbf16>,
      %g : tensor<?x?x1x32xf32>, %b : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x32x66xf32>)
      -> (tensor<?x?x1x66xf32>, tensor<?x1x32x66xf32>) {
  ^step(%kt: vector<32xbf16>, %vt: vector<66xbf16>, %gt: vector<32xf32>, %bt: f32,
          %s: !linattn.state<32x66xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<32x66xf32>, vector<32xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<32x66xf32>, vector<32xbf16>, vector<66xbf16>, f32
    %o = linattn.read %s2, %kt : !linattn.state<32x66xf32>, vector<32xbf16>
    %m = arith.mulf %o, %o : vector<66xf32>
    %r = vector.reduction <add>, %m : vector<66xf32> into f32
    %e = arith.constant 1.0e-5 : f32
    %a = arith.addf %r, %e : f32
    %rs = math.rsqrt %a : f32
    %rb = vector.broadcast %rs : f32 to vector<66xf32>
    %y = arith.mulf %o, %rb : vector<66xf32>
    linattn.yield %y, %s2 : vector<66xf32>, !linattn.state<32x66xf32>
  }
  return %o, %sT : tensor<?x?x1x66xf32>, tensor<?x1x32x66xf32>
}
