// RUN: linattn-opt %s --linattn-tile-attention="query-tile=16 key-tile=32" --canonicalize --cse --linattn-attention-tiles-to-tile="split-keys=64" --canonicalize --cse | FileCheck %s

// Keys in parts: a block per part and head of keys, with the query heads of it as
// rows (two launches, scratch buffers of a row per part), and a block per query
// tile that combines the parts in order.

// CHECK:      gpu.module @decode attributes {linattn.kernel = {
// CHECK-SAME: grid = [{of = {of = {divide = 64 : i64, of = "S", plus = {divide = 4 : i64, of = "T"}, round = "up"}, times = "N"}, times = 2 : i64}], kernel = "decode_parts"
// CHECK-SAME: grid = [{of = {of = {divide = 4 : i64, of = "T", round = "up"}, times = "N"}, times = 2 : i64}], kernel = "decode"
// CHECK-SAME: heads_per_tile = 4 : i64
// CHECK-SAME: name = "attention mma.sync, split keys"
// CHECK-SAME: split_keys = 64 : i64
// CHECK-SAME: name = "scratch_2", shape = [{{.*}}, 2, 16, 64]

// CHECK:      gpu.func @decode_parts(%[[Q:[a-z0-9]+]]: memref<?x?x8x64xbf16,
// CHECK-SAME: memref<?x2x16xf32>, {{.*}} memref<?x2x16xf32>, %[[ACC:[a-z0-9]+]]: memref<?x2x16x64xf32>
// CHECK:      tile.load_async %[[Q]][{{.*}}] dims = [2, 3] bounds({{.*}}) group = 4 into
// CHECK:      scf.for
// CHECK-COUNT-2: tile.load_async {{.*}} dims = [1, 3]
// CHECK:        tile.channel.release
// CHECK-COUNT-2: tile.store {{.*}} dims = [2] bounds(
// CHECK:      tile.store {{.*}}, %[[ACC]][{{.*}}] dims = [2, 3]
// CHECK-NOT:  tile.store

// CHECK:      gpu.func @decode(
// CHECK:      scf.for %{{.*}} iter_args(%[[M:[a-z0-9_]+]] = {{.*}}, %[[L:[a-z0-9_]+]] = {{.*}}, %[[A:[a-z0-9_]+]] = {{.*}})
// CHECK-COUNT-3:  tile.load_async
// CHECK:        %[[MJ:[a-z0-9_]+]] = tile.local_load
// CHECK:        %[[LJ:[a-z0-9_]+]] = tile.local_load
// CHECK:        arith.maximumf %[[M]], %[[MJ]]
// CHECK-COUNT-2: math.exp2
// CHECK:        arith.mulf %[[L]],
// CHECK:        arith.mulf %[[LJ]],
// CHECK:      tile.store {{.*}} dims = [2, 3] bounds({{.*}}) group = 4
func.func @decode(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>)
  return %o : tensor<?x?x8x64xbf16>
}

// Rows of several tokens: what is allowed differs by token, not by row.
// CHECK:      gpu.func @causal_parts(
// CHECK:        %[[ROW:[a-z0-9_]+]] = tile.iota {{.*}}tensor<16xi32, #row>
// CHECK:        arith.divui %[[ROW]],
// CHECK-NOT:    tile.band
// CHECK:      gpu.func @causal(
func.func @causal(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>)
  return %o : tensor<?x?x8x64xbf16>
}
