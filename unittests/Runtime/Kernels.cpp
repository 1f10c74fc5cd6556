//===- Kernels.cpp - PTX for the tests of the runtime ---------------------===//

#include "Kernels.h"

// out[i] = x[i * sx] * factor + y[i], i < T, a 0 where y is absent; and a
// second kernel that doubles.
const char *const linattn::testing::kScaleAddPTX = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale_add(.param .u64 x, .param .s64 sx, .param .u64 y, .param .f32 factor,
                          .param .s32 T, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<12>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.s32 %r5, [T];
  setp.ge.s32 %p1, %r4, %r5;
  @%p1 bra END;
  ld.param.u64 %rd1, [x];
  ld.param.s64 %rd2, [sx];
  ld.param.u64 %rd3, [y];
  ld.param.u64 %rd4, [out];
  ld.param.f32 %f1, [factor];
  cvt.s64.s32 %rd5, %r4;
  mul.lo.s64 %rd6, %rd5, %rd2;
  shl.b64 %rd6, %rd6, 2;
  add.s64 %rd7, %rd1, %rd6;
  ld.global.f32 %f2, [%rd7];
  shl.b64 %rd8, %rd5, 2;
  mov.f32 %f3, 0f00000000;
  setp.eq.s64 %p2, %rd3, 0;
  add.s64 %rd9, %rd3, %rd8;
  @!%p2 ld.global.f32 %f3, [%rd9];
  fma.rn.f32 %f4, %f2, %f1, %f3;
  add.s64 %rd10, %rd4, %rd8;
  st.global.f32 [%rd10], %f4;
END:
  ret;
}
.visible .entry nothing(.param .s32 n, .param .u64 out)
{
  ret;
}
.visible .entry twice(.param .u64 x, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd1, %r1, 4;
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [out];
  add.s64 %rd4, %rd2, %rd1;
  add.s64 %rd5, %rd3, %rd1;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
}
)";

// The scratch buffer holds 3 x + y between the launches; out = 2 (3 x + y).
const char *const linattn::testing::kScaleAddJSON = R"({
  "format": "linattn", "version": 1, "name": "scale_add", "target": "sm_80",
  "plan": {"name": "test"},
  "arguments": [
    {"name": "x", "dtype": "f32", "shape": ["T"], "strides": ["free"]},
    {"name": "y", "dtype": "f32", "shape": ["T"], "strides": [1], "optional": true}],
  "results": [
    {"name": "out", "dtype": "f32", "shape": ["T"], "strides": [1]}],
  "workspace": [
    {"name": "unused", "dtype": "i64", "shape": [3]},
    {"name": "scratch", "dtype": "f32", "shape": ["T"]}],
  "launches": [
    {"kernel": "scale_add", "grid": [{"of": "T", "divide": 32, "round": "up"}],
     "block": [32], "parameters": [
       {"kind": "pointer", "tensor": "x"},
       {"kind": "stride", "tensor": "x", "dimension": 0},
       {"kind": "pointer", "tensor": "y"},
       {"kind": "constant", "type": "f32", "value": 3},
       {"kind": "size", "size": "T", "type": "s32"},
       {"kind": "pointer", "tensor": "scratch"}]},
    {"kernel": "twice", "grid": ["T"], "block": [1], "parameters": [
       {"kind": "pointer", "tensor": "scratch"},
       {"kind": "pointer", "tensor": "out"}]}]
})";

// A tile of 8 x 16 from (row, column) = (-3, -8) of a matrix by a bulk tensor
// copy; 33 KiB of dynamic shared memory, more if the JSON says so.
const char *const linattn::testing::kTilePTX = R"(
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd1, %rd1;
  mov.u32 %r2, s;
  add.u32 %r20, %r2, 32768;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r20], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  @%p1 bra ISSUED;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {-8, -3}], [%r20];
ISSUED:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r20], 0;
  @!%p2 bra ISSUED;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd3, %rd2;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  mov.u32 %r5, %r3;
COPY:
  setp.ge.u32 %p3, %r5, 512;
  @%p3 bra END;
  ld.shared.b32 %r6, [%r4];
  st.global.b32 [%rd3], %r6;
  add.u32 %r4, %r4, 128;
  add.u32 %r5, %r5, 128;
  add.u64 %rd3, %rd3, 128;
  bra COPY;
END:
  ret;
}
)";

const char *const linattn::testing::kTileJSON = R"({
  "format": "linattn", "version": 1, "name": "tile", "target": "sm_90a",
  "arguments": [
    {"name": "x", "dtype": "f32", "shape": ["R", "C"], "strides": ["free", 1]}],
  "results": [
    {"name": "out", "dtype": "f32", "shape": [8, 16], "strides": [16, 1]}],
  "launches": [
    {"kernel": "tile", "grid": [1], "block": [32], "dynamic_shared_bytes": 33792,
     "tensor_maps": [{"tensor": "x", "dimensions": [1, 0], "box": [16, 8]}],
     "parameters": [
       {"kind": "tensor_map", "map": 0},
       {"kind": "pointer", "tensor": "out"}]}]
})";

// Each block writes its rank in the cluster.
const char *const linattn::testing::kClusterPTX = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.b32 [%rd3], %r2;
  ret;
}
)";

const char *const linattn::testing::kClusterJSON = R"({
  "format": "linattn", "version": 1, "name": "ranks", "target": "sm_90",
  "arguments": [
    {"name": "x", "dtype": "i32", "shape": ["T"], "strides": [1], "role": "unused"}],
  "sizes": {"T": {"tensor": "x", "dimension": 0}},
  "results": [
    {"name": "out", "dtype": "i32", "shape": ["T"], "strides": [1]}],
  "launches": [
    {"kernel": "ranks", "grid": ["T"], "block": [1], "cluster": [2], "parameters": [
       {"kind": "pointer", "tensor": "out"}]}]
})";
