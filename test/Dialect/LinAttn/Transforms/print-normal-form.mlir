// RUN: linattn-opt --linattn-print-normal-form %s -o /dev/null | FileCheck %s
// RUN: linattn-opt --linattn-print-normal-form=positions %s -o /dev/null | FileCheck %s --check-prefix=AT
// RUN: linattn-opt --linattn-print-normal-form %examples/gated_deltanet.mlir -o /dev/null | FileCheck %s --check-prefix=EXAMPLE
// RUN: linattn-opt --linattn-normalize --linattn-print-normal-form %s -o /dev/null | FileCheck %s --check-prefix=NORMAL

// The step itself does not change.
// RUN: linattn-opt %s -o %t.before
// RUN: linattn-opt --linattn-print-normal-form %s -o %t.after > /dev/null
// RUN: diff %t.before %t.after

// EXAMPLE:      recurrence in @gated_deltanet: S 128x128, 32 heads
// EXAMPLE-NEXT:   S: decay  exp(g)
// EXAMPLE-NEXT:   S: r0 = S^T k
// EXAMPLE-NEXT:   S: write  k (beta * v - beta * r0)^T
// EXAMPLE-NEXT:   S: o0 = 0.0883883 * S^T q
// EXAMPLE-NEXT:   o = o0

// Beta per value column.
// CHECK-LABEL: recurrence in @beta_per_column: S 8x4, 2 heads
// CHECK-NEXT:    S: decay  exp(g)
// CHECK-NEXT:    S: r0 = S^T k
// CHECK-NEXT:    S: write  k (beta * v - beta * r0)^T
// CHECK-NEXT:    S: o0 = S^T q
// CHECK-NEXT:    o = o0
// AT-LABEL: @beta_per_column
// AT-NEXT:   S@0,0: decay
// AT-NEXT:   S@1,1: r0
// AT-NEXT:   S@1,1: write
// AT-NEXT:   S@2,1: o0
func.func @beta_per_column(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %k: tensor<?x?x2x8xf32> {linattn.name = "k"},
    %v: tensor<?x?x2x4xf32> {linattn.name = "v"}, %g: tensor<?x?x2xf32> {linattn.name = "g"},
    %beta: tensor<?x?x2x4xf32> {linattn.name = "beta"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>,
             %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<4xf32>, %gt: f32, %bt: vector<4xf32>,
        %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, vector<4xf32>
    %ot = linattn.read %s2, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// KDA from the raw projections: norms and gates are written in the step.
// CHECK-LABEL: recurrence in @kda: S 8x4, 2 heads
// CHECK-NEXT:    S: decay  Diag(exp(-exp(a_log) * softplus(f + dt_bias)))
// CHECK-NEXT:    S: r0 = S^T l2norm(k)
// CHECK-NEXT:    S: write  l2norm(k) (sigmoid(b) * v - sigmoid(b) * r0)^T
// CHECK-NEXT:    S: o0 = 0.353553 * S^T l2norm(q)
// CHECK-NEXT:    o = o0
func.func @kda(
    %q: tensor<?x?x2x8xbf16> {linattn.name = "q"}, %k: tensor<?x?x2x8xbf16> {linattn.name = "k"},
    %v: tensor<?x?x2x4xbf16> {linattn.name = "v"}, %f: tensor<?x?x2x8xf32> {linattn.name = "f"},
    %b: tensor<?x?x2xf32> {linattn.name = "b"}, %alog: tensor<2xf32> {linattn.name = "a_log"},
    %bias: tensor<2x8xf32> {linattn.name = "dt_bias"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xbf16>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xbf16>, %k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x4xbf16>,
             %f : tensor<?x?x2x8xf32>, %b : tensor<?x?x2xf32>)
      params(%alog : tensor<2xf32>, %bias : tensor<2x8xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xbf16>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xbf16>, %kt: vector<8xbf16>, %vt: vector<4xbf16>, %ft: vector<8xf32>, %bt: f32,
        %a: f32, %db: vector<8xf32>, %s: !linattn.state<8x4xf32>):
    %qn = linattn.l2norm %qt : vector<8xbf16> -> vector<8xf32>
    %kn = linattn.l2norm %kt : vector<8xbf16> -> vector<8xf32>
    %rate = linattn.sigmoid %bt : f32
    %e = math.exp %a : f32
    %ne = arith.negf %e : f32
    %nev = vector.broadcast %ne : f32 to vector<8xf32>
    %fb = arith.addf %ft, %db : vector<8xf32>
    %sp = linattn.softplus %fb : vector<8xf32>
    %g = arith.mulf %nev, %sp : vector<8xf32>
    %s1 = linattn.decay %s, %g : !linattn.state<8x4xf32>, vector<8xf32>
    %s2 = linattn.delta_update %s1, %kn, %vt, %rate
        : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xbf16>, f32
    %ot = linattn.read %s2, %qn scale 0.35355339059327379 : !linattn.state<8x4xf32>, vector<8xf32>
    %ob = arith.truncf %ot : vector<4xf32> to vector<4xbf16>
    linattn.yield %ob, %s2 : vector<4xbf16>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xbf16>, tensor<?x2x8x4xf32>
}

// GDN-2: the read has a key of its own, and the value is w o v - r; in 16 bits,
// which the normal form sees through.
// CHECK-LABEL: recurrence in @gdn2: S 8x4, 2 heads
// CHECK-NEXT:    S: decay  Diag(exp(g))
// CHECK-NEXT:    S: r0 = S^T (b * k)
// CHECK-NEXT:    S: write  k (w * v - r0)^T
// CHECK-NEXT:    S: o0 = S^T q
func.func @gdn2(
    %q: tensor<?x?x2x8xbf16> {linattn.name = "q"}, %k: tensor<?x?x2x8xbf16> {linattn.name = "k"},
    %v: tensor<?x?x2x4xbf16> {linattn.name = "v"}, %g: tensor<?x?x2x8xf32> {linattn.name = "g"},
    %b: tensor<?x?x2x8xbf16> {linattn.name = "b"}, %w: tensor<?x?x2x4xbf16> {linattn.name = "w"},
    %s0: tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xbf16>, %k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x4xbf16>,
             %g : tensor<?x?x2x8xf32>, %b : tensor<?x?x2x8xbf16>, %w : tensor<?x?x2x4xbf16>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xbf16>, %kt: vector<8xbf16>, %vt: vector<4xbf16>, %gt: vector<8xf32>,
        %bt: vector<8xbf16>, %wt: vector<4xbf16>, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, vector<8xf32>
    %bk = arith.mulf %bt, %kt : vector<8xbf16>
    %r = linattn.read %s1, %bk : !linattn.state<8x4xf32>, vector<8xbf16>
    %rb = arith.truncf %r : vector<4xf32> to vector<4xbf16>
    %wv = arith.mulf %wt, %vt : vector<4xbf16>
    %u = arith.subf %wv, %rb : vector<4xbf16>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>
    %ot = linattn.read %s2, %qt : !linattn.state<8x4xf32>, vector<8xbf16>
    linattn.yield %ot, %s2 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// NORMAL-LABEL: @beta_per_column
// NORMAL:         S: write  k (beta * v - beta * r0)^T
// NORMAL-LABEL: @gdn2
// NORMAL:         S: write  k (w * v - r0)^T

// Comba: the removal key reads the undecayed state, which the decay then ends.
// The read stands after the decay here; its event is before it.
// CHECK-LABEL: recurrence in @comba: S 8x4, 2 heads
// CHECK-NEXT:    S: r0 = S^T p
// CHECK-NEXT:    S: decay  exp(g)
// CHECK-NEXT:    S: write  k (beta * v - beta2 * r0)^T
// CHECK-NEXT:    S: o0 = S^T q
// NORMAL-LABEL: @comba
// NORMAL-NEXT:    S: r0 = S^T p
// NORMAL-NEXT:    S: decay  exp(g)
// NORMAL-NEXT:    S: write  k (beta * v - beta2 * r0)^T
// AT-LABEL: @comba
// AT-NEXT:   S@0,0: r0
// AT-NEXT:   S@0,0: decay
// AT-NEXT:   S@1,1: write
// AT-NEXT:   S@2,1: o0
func.func @comba(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %k: tensor<?x?x2x8xf32> {linattn.name = "k"},
    %p: tensor<?x?x2x8xf32> {linattn.name = "p"}, %v: tensor<?x?x2x4xf32> {linattn.name = "v"},
    %g: tensor<?x?x2xf32> {linattn.name = "g"}, %b: tensor<?x?x2xf32> {linattn.name = "beta"},
    %b2: tensor<?x?x2xf32> {linattn.name = "beta2"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %p : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>,
             %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>, %b2 : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %pt: vector<8xf32>, %vt: vector<4xf32>, %gt: f32,
        %bt: f32, %b2t: f32, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %r = linattn.read %s, %pt : !linattn.state<8x4xf32>, vector<8xf32>
    %bv = vector.broadcast %bt : f32 to vector<4xf32>
    %b2v = vector.broadcast %b2t : f32 to vector<4xf32>
    %nb2 = arith.negf %b2v : vector<4xf32>
    %c = arith.mulf %bv, %vt : vector<4xf32>
    %u = math.fma %nb2, %r, %c : vector<4xf32>
    %s2 = linattn.write %s1, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %ot = linattn.read %s2, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// RWKV-7: the written value is the read itself; the output adds a bonus.
// CHECK-LABEL: recurrence in @rwkv7: S 8x4, 2 heads
// CHECK-NEXT:    S: r0 = S^T a
// CHECK-NEXT:    S: decay  Diag(exp(w))
// CHECK-NEXT:    S: write  b r0^T
// CHECK-NEXT:    S: write  k v^T
// CHECK-NEXT:    S: o0 = S^T q
// CHECK-NEXT:    o = o0 + sum(q * k * r) * v
// AT-LABEL: @rwkv7
// AT:        S@1,1: write
// AT-NEXT:   S@2,1: write
// AT-NEXT:   S@3,1: o0
func.func @rwkv7(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %w: tensor<?x?x2x8xf32> {linattn.name = "w"},
    %k: tensor<?x?x2x8xf32> {linattn.name = "k"}, %v: tensor<?x?x2x4xf32> {linattn.name = "v"},
    %a: tensor<?x?x2x8xf32> {linattn.name = "a"}, %b: tensor<?x?x2x8xf32> {linattn.name = "b"},
    %rk: tensor<2x8xf32> {linattn.name = "r"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %w : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>,
             %a : tensor<?x?x2x8xf32>, %b : tensor<?x?x2x8xf32>)
      params(%rk : tensor<2x8xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xf32>, %wt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<4xf32>,
        %at: vector<8xf32>, %bt: vector<8xf32>, %rt: vector<8xf32>, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %at : !linattn.state<8x4xf32>, vector<8xf32>
    %s1 = linattn.decay %s, %wt : !linattn.state<8x4xf32>, vector<8xf32>
    %s2 = linattn.write %s1, %bt, %r : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %s3 = linattn.write %s2, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %ot = linattn.read %s3, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    %qk = arith.mulf %qt, %kt : vector<8xf32>
    %qkr = arith.mulf %qk, %rt : vector<8xf32>
    %bonus = vector.reduction <add>, %qkr : vector<8xf32> into f32
    %bonusv = vector.broadcast %bonus : f32 to vector<4xf32>
    %bv = arith.mulf %bonusv, %vt : vector<4xf32>
    %ob = arith.addf %ot, %bv : vector<4xf32>
    linattn.yield %ob, %s3 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// DeltaProduct: two updates per token.
// CHECK-LABEL: recurrence in @deltaproduct: S 8x4, 2 heads
// CHECK-NEXT:    S: decay  exp(g)
// CHECK-NEXT:    S: r0 = S^T k[0]
// CHECK-NEXT:    S: write  k[0] (beta[0] * v[0] - beta[0] * r0)^T
// CHECK-NEXT:    S: r1 = S^T k[1]
// CHECK-NEXT:    S: write  k[1] (beta[1] * v[1] - beta[1] * r1)^T
// CHECK-NEXT:    S: o0 = S^T q
func.func @deltaproduct(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %k: tensor<?x?x2x2x8xf32> {linattn.name = "k"},
    %v: tensor<?x?x2x2x4xf32> {linattn.name = "v"}, %g: tensor<?x?x2xf32> {linattn.name = "g"},
    %beta: tensor<?x?x2x2xf32> {linattn.name = "beta"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x2x8xf32>, %v : tensor<?x?x2x2x4xf32>,
             %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<2x8xf32>, %vt: vector<2x4xf32>, %gt: f32, %bt: vector<2xf32>,
        %s: !linattn.state<8x4xf32>):
    %k0 = vector.extract %kt[0] : vector<8xf32> from vector<2x8xf32>
    %k1 = vector.extract %kt[1] : vector<8xf32> from vector<2x8xf32>
    %v0 = vector.extract %vt[0] : vector<4xf32> from vector<2x4xf32>
    %v1 = vector.extract %vt[1] : vector<4xf32> from vector<2x4xf32>
    %b0 = vector.extract %bt[0] : f32 from vector<2xf32>
    %b1 = vector.extract %bt[1] : f32 from vector<2xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %s2 = linattn.delta_update %s1, %k0, %v0, %b0 : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, f32
    %s3 = linattn.delta_update %s2, %k1, %v1, %b1 : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, f32
    %ot = linattn.read %s3, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %ot, %s3 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// Mamba-2.
// CHECK-LABEL: recurrence in @mamba2: S 8x4, 2 heads
// CHECK-NEXT:    S: decay  exp(-exp(A_log) * softplus(dt + dt_bias))
// CHECK-NEXT:    S: write  B (softplus(dt + dt_bias) * x)^T
// CHECK-NEXT:    S: o0 = S^T C
// CHECK-NEXT:    o = o0 + D * x
func.func @mamba2(
    %x: tensor<?x?x2x4xf32> {linattn.name = "x"}, %B: tensor<?x?x1x8xf32> {linattn.name = "B"},
    %C: tensor<?x?x1x8xf32> {linattn.name = "C"}, %dt: tensor<?x?x2xf32> {linattn.name = "dt"},
    %alog: tensor<2xf32> {linattn.name = "A_log"}, %bias: tensor<2xf32> {linattn.name = "dt_bias"},
    %D: tensor<2xf32> {linattn.name = "D"}, %s0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%x : tensor<?x?x2x4xf32>, %B : tensor<?x?x1x8xf32>, %C : tensor<?x?x1x8xf32>, %dt : tensor<?x?x2xf32>)
      params(%alog : tensor<2xf32>, %bias : tensor<2xf32>, %D : tensor<2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%xt: vector<4xf32>, %Bt: vector<8xf32>, %Ct: vector<8xf32>, %dtt: f32, %a: f32, %db: f32, %d: f32,
        %s: !linattn.state<8x4xf32>):
    %sum = arith.addf %dtt, %db : f32
    %sp = linattn.softplus %sum : f32
    %e = math.exp %a : f32
    %ne = arith.negf %e : f32
    %g = arith.mulf %ne, %sp : f32
    %s1 = linattn.decay %s, %g : !linattn.state<8x4xf32>, f32
    %spv = vector.broadcast %sp : f32 to vector<4xf32>
    %u = arith.mulf %spv, %xt : vector<4xf32>
    %s2 = linattn.write %s1, %Bt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %y = linattn.read %s2, %Ct : !linattn.state<8x4xf32>, vector<8xf32>
    %dv = vector.broadcast %d : f32 to vector<4xf32>
    %dx = arith.mulf %dv, %xt : vector<4xf32>
    %o1 = arith.addf %y, %dx : vector<4xf32>
    linattn.yield %o1, %s2 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %o, %sT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// Linear attention with a normaliser: a second state with V = 1, which lends
// its name to the text. Outputs may divide by a read.
// CHECK-LABEL: recurrence in @normaliser: s 8x4, z 8x1, 2 heads
// CHECK-NEXT:    s: write  k v^T
// CHECK-NEXT:    z: write  k 1^T
// CHECK-NEXT:    s: o0 = s^T q
// CHECK-NEXT:    z: o1 = z^T q
// CHECK-NEXT:    o = o0 / o1
func.func @normaliser(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %k: tensor<?x?x2x8xf32> {linattn.name = "k"},
    %v: tensor<?x?x2x4xf32> {linattn.name = "v"}, %s0: tensor<?x2x8x4xf32> {linattn.name = "s0"},
    %z0: tensor<?x2x8x1xf32> {linattn.name = "z0"})
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>) {
  %o, %sT, %zT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>, %z0 : tensor<?x2x8x1xf32>)
      -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<4xf32>, %s: !linattn.state<8x4xf32>,
        %z: !linattn.state<8x1xf32>):
    %one = arith.constant dense<1.0> : vector<1xf32>
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %z1 = linattn.write %z, %kt, %one : !linattn.state<8x1xf32>, vector<8xf32>, vector<1xf32>
    %n = linattn.read %s1, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    %d = linattn.read %z1, %qt : !linattn.state<8x1xf32>, vector<8xf32>
    %ds = vector.extract %d[0] : f32 from vector<1xf32>
    %dv = vector.broadcast %ds : f32 to vector<4xf32>
    %ot = arith.divf %n, %dv : vector<4xf32>
    linattn.yield %ot, %s1, %z1 : vector<4xf32>, !linattn.state<8x4xf32>, !linattn.state<8x1xf32>
  }
  return %o, %sT, %zT : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x1xf32>
}

// An output norm and an output gate after the read, and a state that stores 16
// bits; the read that the gate sees feeds no write.
// CHECK-LABEL: recurrence in @norm_and_gate: S 8x4, 2 heads
// CHECK:         S: o0 = S^T q
// CHECK-NEXT:    o = o0 * rsqrt(sum(o0 * o0) / 4 + 1e-06) * weight * silu(z)
func.func @norm_and_gate(
    %q: tensor<?x?x2x8xf32> {linattn.name = "q"}, %k: tensor<?x?x2x8xf32> {linattn.name = "k"},
    %v: tensor<?x?x2x4xf32> {linattn.name = "v"}, %b: tensor<?x?x2xf32> {linattn.name = "beta"},
    %z: tensor<?x?x2x4xf32> {linattn.name = "z"}, %w: tensor<1x4xf32> {linattn.name = "weight"},
    %s0: tensor<?x2x8x4xbf16>) -> (tensor<?x?x2x4xbf16>, tensor<?x2x8x4xbf16>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>,
             %b : tensor<?x?x2xf32>, %z : tensor<?x?x2x4xf32>)
      params(%w : tensor<1x4xf32>)
      state(%s0 : tensor<?x2x8x4xbf16>) -> (tensor<?x?x2x4xbf16>, tensor<?x2x8x4xbf16>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %zt: vector<4xf32>,
        %wt: vector<4xf32>, %s: !linattn.state<8x4xbf16>):
    %s1 = linattn.delta_update %s, %kt, %vt, %bt : !linattn.state<8x4xbf16>, vector<8xf32>, vector<4xf32>, f32
    %ot = linattn.read %s1, %qt : !linattn.state<8x4xbf16>, vector<8xf32>
    %sq = arith.mulf %ot, %ot : vector<4xf32>
    %sum = vector.reduction <add>, %sq : vector<4xf32> into f32
    %four = arith.constant 4.0 : f32
    %mean = arith.divf %sum, %four : f32
    %eps = arith.constant 1.0e-6 : f32
    %me = arith.addf %mean, %eps : f32
    %inv = math.rsqrt %me : f32
    %invv = vector.broadcast %inv : f32 to vector<4xf32>
    %n = arith.mulf %ot, %invv : vector<4xf32>
    %nw = arith.mulf %n, %wt : vector<4xf32>
    %gate = linattn.silu %zt : vector<4xf32>
    %y = arith.mulf %nw, %gate : vector<4xf32>
    %yb = arith.truncf %y : vector<4xf32> to vector<4xbf16>
    linattn.yield %yb, %s1 : vector<4xbf16>, !linattn.state<8x4xbf16>
  }
  return %o, %sT : tensor<?x?x2x4xbf16>, tensor<?x2x8x4xbf16>
}

// A state whose updates read another one; two outputs; no names given.
// CHECK-LABEL: recurrence in @two_states: S0 8x4, S1 8x4, 2 heads
// CHECK-NEXT:    S0: r0 = S0^T token0
// CHECK-NEXT:    S0: write  token0 token1^T
// CHECK-NEXT:    S1: write  token0 (0.5 * r0)^T
// CHECK-NEXT:    S1: o0 = S1^T token0
// CHECK-NEXT:    o#0 = o0
// CHECK-NEXT:    o#1 = r0
func.func @two_states(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %a0: tensor<?x2x8x4xf32>,
                      %b0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  %0:4 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%a0 : tensor<?x2x8x4xf32>, %b0 : tensor<?x2x8x4xf32>)
      -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %a: !linattn.state<8x4xf32>, %b: !linattn.state<8x4xf32>):
    %r = linattn.read %a, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %a1 = linattn.write %a, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %half = arith.constant dense<0.5> : vector<4xf32>
    %u = arith.mulf %half, %r : vector<4xf32>
    %b1 = linattn.write %b, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %b1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %r, %a1, %b1 : vector<4xf32>, vector<4xf32>, !linattn.state<8x4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>
}

// A recurrence without a state is only its outputs.
// CHECK-LABEL: recurrence in @no_state: 2 heads
// CHECK-NEXT:    o = (x > 0 ? x : 0)
// NORMAL-LABEL: recurrence in @no_state: 2 heads
// NORMAL-NEXT:    o = (x > 0 ? x : 0)
func.func @no_state(%x: tensor<?x?x2x4xf32> {linattn.name = "x"}) -> tensor<?x?x2x4xf32> {
  %0 = linattn.recurrence tokens(%x : tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>) {
  ^step(%xt: vector<4xf32>):
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %p = arith.cmpf ogt, %xt, %zero : vector<4xf32>
    %y = arith.select %p, %xt, %zero : vector<4xi1>, vector<4xf32>
    linattn.yield %y : vector<4xf32>
  }
  return %0 : tensor<?x?x2x4xf32>
}

// The text doubles with each line: it is left out, not printed.
// CHECK-LABEL: recurrence in @too_long
// CHECK:         S: write  k ...^T
// CHECK-NEXT:    S: o0 = S^T k
func.func @too_long(%k: tensor<?x?x2x8xf32> {linattn.name = "k"}, %v: tensor<?x?x2x4xf32> {linattn.name = "v"},
                    %s0: tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %s: !linattn.state<8x4xf32>):
    %v1 = arith.mulf %vt, %vt : vector<4xf32>
    %v2 = arith.mulf %v1, %v1 : vector<4xf32>
    %v3 = arith.mulf %v2, %v2 : vector<4xf32>
    %v4 = arith.mulf %v3, %v3 : vector<4xf32>
    %v5 = arith.mulf %v4, %v4 : vector<4xf32>
    %v6 = arith.mulf %v5, %v5 : vector<4xf32>
    %v7 = arith.mulf %v6, %v6 : vector<4xf32>
    %v8 = arith.mulf %v7, %v7 : vector<4xf32>
    %s1 = linattn.write %s, %kt, %v8 : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}
