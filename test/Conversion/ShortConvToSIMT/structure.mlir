// RUN: linattn-opt --linattn-short-conv-to-simt --split-input-file %s | FileCheck %s

// A thread has 4 channels (8 bytes): 16 threads for 64. The grid holds T / 32 + 1
// runs of each sequence, the last of which writes the window.

// CHECK-LABEL: gpu.module @windowed
// CHECK: llvm.func @windowed(%{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}
// CHECK-SAME: gpu.kernel
// CHECK-SAME: block = [128]
// CHECK-SAME: grid = [{divide = 128 : i64, of = {of = {divide = 32 : i64, of = "T", plus = 1 : i64}, times = "N"}, round = "up", times = 16 : i64}]
// CHECK-SAME: channels_per_thread = 4
// CHECK-SAME: name = "short convolution SIMT"
// CHECK-SAME: tokens_per_thread = 32
// Aligned addresses: weights in four pieces of 16 bytes, 8 loads together, each
// one access, then the arithmetic and the stores.
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: scf.for %{{.*}} step %{{.*}} iter_args(
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
// CHECK-COUNT-128: math.fma
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-1: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
// The window: 12 numbers in 3 pieces.
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-3: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// Other addresses: one by one.
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
// CHECK-NOT: vector<4xbf16>
// CHECK-NOT: llvm.alloca
func.func @windowed(%x: tensor<?x?x64xbf16>, %w: tensor<64x4xf32>, %bias: tensor<64xf32>, %w0: tensor<?x64x3xf32>)
    -> (tensor<?x?x64xbf16>, tensor<?x64x3xf32>) {
  %y, %w1 = linattn.short_conv %x, %w bias(%bias : tensor<64xf32>) window(%w0 : tensor<?x64x3xf32>) activation silu
      : (tensor<?x?x64xbf16>, tensor<64x4xf32>) -> (tensor<?x?x64xbf16>, tensor<?x64x3xf32>)
  return %y, %w1 : tensor<?x?x64xbf16>, tensor<?x64x3xf32>
}

// -----

// Packed: a sequence has a run more than its tokens fill, at most; it is found by
// bisection. 5 channels are taken one by one.

// CHECK-LABEL: gpu.module @packed
// CHECK: grid = [{divide = 128 : i64, of = {divide = 32 : i64, of = "T", plus = "N"}, round = "up", times = 5 : i64}]
// CHECK: scf.while
// CHECK: arith.shrsi
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
func.func @packed(%x: tensor<?x5xf32>, %w: tensor<5x2xf32>, %cu: tensor<?xi64>) -> tensor<?x5xf32> {
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<?xi64>) : (tensor<?x5xf32>, tensor<5x2xf32>) -> (tensor<?x5xf32>)
  return %y : tensor<?x5xf32>
}

// -----

// Without a window no run is without tokens. Width 1 carries nothing.

// CHECK-LABEL: gpu.module @pointwise
// CHECK: grid = [{divide = 128 : i64, of = {of = {divide = 32 : i64, of = "T", round = "up"}, times = "N"}
// CHECK-NOT: iter_args
func.func @pointwise(%x: tensor<?x?x8xf16>, %w: tensor<8x1xf16>) -> tensor<?x?x8xf16> {
  %y = linattn.short_conv %x, %w : (tensor<?x?x8xf16>, tensor<8x1xf16>) -> (tensor<?x?x8xf16>)
  return %y : tensor<?x?x8xf16>
}
