// RUN: linattn-opt --linattn-recurrence-to-simt --split-input-file %s | FileCheck %s

// K = V = 128: 4 lanes share a column, 32 columns a block, 32 rows a thread. One
// barrier a token, after which the next token's elements are loaded; both reads
// are summed by 32 fmas and 2 shuffles; keys come back 16 bytes at a time.

// CHECK-LABEL: gpu.module @gated_deltanet
// CHECK: llvm.mlir.global internal @gated_deltanet_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<512 x f32>
// CHECK: llvm.func @gated_deltanet(%{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64,
// CHECK-SAME: gpu.kernel
// CHECK-SAME: block = [128]
// CHECK-SAME: lanes = 4
// CHECK-SAME: slices = 4
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK: scf.if
// First token: q, k, then the scalars and v. What is computed from them does not
// wait for the states, of which each row is one coalesced load.
// CHECK: scf.if
// CHECK-COUNT-5: llvm.load %{{.*}} : !llvm.ptr<1> -> {{bf16|f32}}
// CHECK-COUNT-32: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// Carried: 32 rows, what rounding of the decay lost, the next token and where it is.
// CHECK: %[[FOR:.*]]:43 = scf.for %{{.*}} iter_args(
// CHECK-COUNT-2: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK-NEXT: nvvm.barrier
// CHECK-COUNT-5: llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK: math.exp
// CHECK-COUNT-32: arith.mulf
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-28: math.fma
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// The write, and the read along q.
// CHECK-COUNT-32: math.fma
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-28: math.fma
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier
// CHECK: scf.yield
// CHECK-COUNT-32: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// No tokens: the states end as they began.
// CHECK: } else {
// CHECK-COUNT-32: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-COUNT-32: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.alloca
func.func @gated_deltanet(
    %q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x32x128xbf16>,
    %g: tensor<?x?x32xf32>, %b: tensor<?x?x32xf32>, %s0: tensor<?x32x128x128xf32>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x16x128xbf16>, %k : tensor<?x?x16x128xbf16>, %v : tensor<?x?x32x128xbf16>,
             %g : tensor<?x?x32xf32>, %b : tensor<?x?x32xf32>)
      state(%s0 : tensor<?x32x128x128xf32>)
      -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.08838834764831845 : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %sT : tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>
}

// -----

// A small state needs no other lane: no shuffle. K = 6 is padded to 8 rows, of
// which a thread has 6; the two floats of padding are zeroed before the loop. A
// state that begins with one number is no parameter.

// CHECK-LABEL: gpu.module @small
// CHECK: llvm.func @small(
// The first token's k and v; no state.
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK-NOT: llvm.load
// CHECK: scf.for
// CHECK-NOT: nvvm.shfl
// CHECK-COUNT-6: math.fma
// CHECK: scf.yield
func.func @small(%k: tensor<?x?x1x6xf32>, %v: tensor<?x?x1x3xf32>) -> tensor<?x?x1x3xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x?x1x6xf32>
  %s0 = tensor.splat %zero[%n] : tensor<?x1x6x3xf32>
  %o, %sT = linattn.recurrence
      tokens(%k : tensor<?x?x1x6xf32>, %v : tensor<?x?x1x3xf32>)
      state(%s0 : tensor<?x1x6x3xf32>) -> (tensor<?x?x1x3xf32>, tensor<?x1x6x3xf32>) {
  ^step(%kt: vector<6xf32>, %vt: vector<3xf32>, %s: !linattn.state<6x3xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<6x3xf32>, vector<6xf32>, vector<3xf32>
    %ot = linattn.read %s1, %kt : !linattn.state<6x3xf32>, vector<6xf32>
    linattn.yield %ot, %s1 : vector<3xf32>, !linattn.state<6x3xf32>
  }
  return %o : tensor<?x?x1x3xf32>
}

// -----

// A norm of the output mixes value columns: one block owns all of them, and the
// warps exchange their sums with a barrier of its own.

// CHECK-LABEL: gpu.module @output_norm
// CHECK: llvm.func @output_norm(
// CHECK-SAME: slices = 1
// CHECK: scf.for
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK: math.rsqrt
// CHECK-NOT: nvvm.barrier
func.func @output_norm(%k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x64xf32>, %s0: tensor<?x2x64x64xf32>)
    -> (tensor<?x?x2x64xf32>, tensor<?x2x64x64xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%k : tensor<?x?x2x64xf32>, %v : tensor<?x?x2x64xf32>)
      state(%s0 : tensor<?x2x64x64xf32>) -> (tensor<?x?x2x64xf32>, tensor<?x2x64x64xf32>) {
  ^step(%kt: vector<64xf32>, %vt: vector<64xf32>, %s: !linattn.state<64x64xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<64x64xf32>, vector<64xf32>, vector<64xf32>
    %r = linattn.read %s1, %kt : !linattn.state<64x64xf32>, vector<64xf32>
    %ot = linattn.l2norm %r : vector<64xf32> -> vector<64xf32>
    linattn.yield %ot, %s1 : vector<64xf32>, !linattn.state<64x64xf32>
  }
  return %o, %sT : tensor<?x?x2x64xf32>, tensor<?x2x64x64xf32>
}

// -----

// Decoding: states in a pool. A thread has two adjacent columns, lanes of a column
// stand in different warps (a thread's columns are what remains of its number by 32),
// sums over them go through shared memory, both at once, and rows without gaps that
// begin at a multiple of two elements are loaded from one address.

// CHECK-LABEL: gpu.module @step
// CHECK: llvm.func @step(
// CHECK-SAME: block = [128]
// CHECK-SAME: columns = 64
// CHECK-SAME: lanes = 4
// CHECK: %[[BESIDE:.*]] = arith.cmpi eq, %{{.*}}, %c128_i64
// CHECK: llvm.ptrtoint
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64
// CHECK: %[[PIECES:.*]] = arith.andi %[[BESIDE]], %[[ALIGNED]]
// CHECK: scf.if %[[PIECES]] ->
// CHECK-COUNT-32: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: } else {
// CHECK-COUNT-64: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: scf.for
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.shfl
// CHECK-COUNT-60: math.fma
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NEXT: nvvm.barrier
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: nvvm.shfl
// CHECK: scf.yield
// The stride once more, unknown to be the same.
// CHECK: llvm.inline_asm {{.*}}"mov.b64 $0, $1;"
// CHECK-COUNT-32: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-COUNT-64: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// In place nothing is to be done where there are no tokens.
// CHECK: } else {
// CHECK-NEXT: }
func.func @step(%k: tensor<?x?x2x128xf32>, %v: tensor<?x?x2x128xf32>, %pool: tensor<?x2x128x128xf32>, %slots: tensor<?xi32>)
    -> (tensor<?x?x2x128xf32>, tensor<?x2x128x128xf32>) {
  %o, %end = linattn.recurrence tokens(%k : tensor<?x?x2x128xf32>, %v : tensor<?x?x2x128xf32>)
      state(%pool : tensor<?x2x128x128xf32>) slots(%slots : tensor<?xi32>, padding = -1)
      -> (tensor<?x?x2x128xf32>, tensor<?x2x128x128xf32>) {
  ^step(%kt: vector<128xf32>, %vt: vector<128xf32>, %s: !linattn.state<128x128xf32>):
    %ot = linattn.read %s, %kt : !linattn.state<128x128xf32>, vector<128xf32>
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<128x128xf32>, vector<128xf32>, vector<128xf32>
    linattn.yield %ot, %s1 : vector<128xf32>, !linattn.state<128x128xf32>
  }
  return %o, %end : tensor<?x?x2x128xf32>, tensor<?x2x128x128xf32>
}

// -----

// Several tokens a call. Each of the 4 warps computes what a token needs of itself,
// and of another one if there are more: 4 elements a lane of q and k, 2 of the block's
// 64 columns of v, the gate's factor and the rate. All loads stand before those of the
// state, and one barrier before the loop. There no key is published, no exp computed,
// and the decay waits: 3 products and sums per element, two barriers for sums.

// CHECK-LABEL: gpu.module @gated_step
// CHECK: llvm.mlir.global internal @gated_step_ahead() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2592 x f32>
// CHECK: llvm.func @gated_step(
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-12: llvm.load %{{.*}} : !llvm.ptr<1> -> {{bf16|f32}}
// CHECK: scf.if %[[MORE:.*]] -> (f32, bf16,
// CHECK-COUNT-12: llvm.load %{{.*}} : !llvm.ptr<1> -> {{bf16|f32}}
// CHECK-COUNT-32: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: math.exp
// CHECK-COUNT-14: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: scf.if %[[MORE]]
// CHECK-COUNT-14: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-NEXT: scf.for
// Tokens behind those: both rounds again.
// CHECK: scf.if
// CHECK-NEXT: nvvm.barrier
// CHECK: math.exp
// CHECK: math.exp
// CHECK: nvvm.barrier
// CHECK-NOT: math.exp
// The factor waits, or is applied.
// CHECK: scf.if %{{.*}} -> (f32,
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-COUNT-64: arith.mulf
// CHECK: scf.yield
// CHECK-NOT: llvm.store
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-60: math.fma
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NEXT: nvvm.barrier
// 1 / factor, the write, the read.
// CHECK-COUNT-126: math.fma
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NEXT: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: scf.yield
// CHECK-COUNT-64: arith.mulf
func.func @gated_step(
    %q: tensor<?x?x1x128xbf16>, %k: tensor<?x?x1x128xbf16>, %v: tensor<?x?x2x128xbf16>, %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2xf32>, %pool: tensor<?x2x128x128xf32>, %slots: tensor<?xi32>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>) {
  %o, %end = linattn.recurrence
      tokens(%q : tensor<?x?x1x128xbf16>, %k : tensor<?x?x1x128xbf16>, %v : tensor<?x?x2x128xbf16>,
             %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%pool : tensor<?x2x128x128xf32>) slots(%slots : tensor<?xi32>, padding = -1)
      -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<128x128xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %ot = linattn.read %s2, %qt : !linattn.state<128x128xf32>, vector<128xbf16>
    %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
    linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
  }
  return %o, %end : tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>
}
