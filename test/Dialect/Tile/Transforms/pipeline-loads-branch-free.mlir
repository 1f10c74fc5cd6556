// RUN: linattn-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{stages=2 branch-free},canonicalize,cse)))' | FileCheck %s

// The step after the last one loads no rows instead of being skipped; copies of
// nothing are waited for behind the loop. The first step is filled before what
// stands before the loop is waited for.

!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
// CHECK-LABEL: gpu.func @one(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
gpu.module @m {
  gpu.func @one(%k: memref<?x64xbf16, strided<[?, 1]>>, %o: memref<?x64xf32, strided<[?, 1]>>, %t: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %first = tile.channel.create : !one
    %a = tile.channel.acquire %first[%c0] : !one -> !tile
    tile.load_async %k[%c0, %c0] dims = [0, 1] into %a : memref<?x64xbf16, strided<[?, 1]>>, !tile
    tile.channel.commit %first[%c0] : !one
    %b = tile.channel.wait %first[%c0] : !one -> !tile
    %z = tile.local_load %b : !tile -> tensor<64x64xbf16, #tile.acc<warps = 4>>
    %ch = tile.channel.create : !one
    // CHECK:     %[[FIRST:.*]] = tile.channel.create : <1,
    // CHECK:     tile.channel.commit %[[FIRST]]
    // CHECK:     %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c0
    // CHECK:     %[[ROWS0:.*]] = arith.select %[[SOME]], %[[T]], %c0
    // CHECK:     tile.load_async %{{.*}}[%c0, %c0] dims = [0, 1] bounds(%[[ROWS0]], %c64)
    // CHECK-NEXT: tile.channel.commit
    // CHECK-NEXT: tile.channel.wait %[[FIRST]][%c0] pending = 1
    // CHECK-NOT: scf.if
    // CHECK:     scf.for %[[I:.*]] = %c0 to %[[N]] step %c1
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.muli %i, %c64 : index
      %rows = arith.subi %t, %row : index
      %s = tile.channel.acquire %ch[%i] : !one -> !tile
      tile.load_async %k[%row, %c0] dims = [0, 1] bounds(%rows, %c64) into %s : memref<?x64xbf16, strided<[?, 1]>>, !tile
      tile.channel.commit %ch[%i] : !one
      // CHECK:     %[[MORE:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
      // CHECK-NOT: scf.if
      // CHECK:     %[[ROWS:.*]] = arith.select %[[MORE]], %{{.*}}, %c0
      // CHECK:     tile.load_async %{{.*}} bounds(%[[ROWS]], %c64)
      %f = tile.channel.wait %ch[%i] : !one -> !tile
      %x = tile.local_load %f : !tile -> tensor<64x64xbf16, #tile.acc<warps = 4>>
      %xz = arith.addf %x, %z : tensor<64x64xbf16, #tile.acc<warps = 4>>
      %y = arith.extf %xz : tensor<64x64xbf16, #tile.acc<warps = 4>> to tensor<64x64xf32, #tile.acc<warps = 4>>
      tile.store %y, %o[%row, %c0] dims = [0, 1] bounds(%rows, %c64) : tensor<64x64xf32, #tile.acc<warps = 4>>, memref<?x64xf32, strided<[?, 1]>>
      tile.channel.release %ch[%i] : !one
    }
    // CHECK:     tile.channel.release
    // CHECK:     tile.channel.wait %{{.*}}[%[[N]]]
    gpu.return
  }
}
