// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{stages=2},canonicalize,cse)))' | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{stages=3},canonicalize,cse)))' | FileCheck %s --check-prefixes=CHECK,THREE

#acc = #tile.acc<warps = 4>
#lanes = #tile.strided<vec = 2>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>

// One channel, gates and a scalar.
// CHECK-LABEL: gpu.func @one(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
gpu.module @m {
  gpu.func @one(%k: memref<?x64xbf16, strided<[?, 1]>>, %g: memref<?xf32, strided<[?]>>,
                %a: memref<?xf32>, %o: memref<?x64xf32, strided<[?, 1]>>, %t: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ch = tile.channel.create : !one
    // TWO:       tile.channel.create : <2,
    // THREE:     tile.channel.create : <3,

    // CHECK:     %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c0
    // CHECK:     %[[A0:.*]] = tile.channel.acquire %[[CH:.*]][%c0]
    // CHECK-NEXT: scf.if %[[SOME]] {
    // CHECK-NEXT:   tile.load_async %{{.*}}[%c0, %c0] dims = [0, 1] bounds(%[[T]], %c64) into %[[A0]]
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.channel.commit %[[CH]][%c0]

    // THREE-NEXT: %[[SECOND:.*]] = arith.cmpi sgt, %[[N]], %c1
    // THREE-NEXT: %[[A1:.*]] = tile.channel.acquire %[[CH]][%c1]
    // THREE-NEXT: scf.if %[[SECOND]] {
    // THREE-NEXT:   %[[R1:.*]] = arith.subi %[[T]], %c64
    // THREE-NEXT:   tile.load_async %{{.*}}[%c64, %c0] dims = [0, 1] bounds(%[[R1]], %c64) into %[[A1]]
    // THREE-NEXT: }
    // THREE-NEXT: tile.channel.commit %[[CH]][%c1]

    // The gates and the scalar of step 0.
    // CHECK:     %[[B0:.*]] = arith.select %[[SOME]], %[[T]], %c0
    // CHECK:     %[[G0:.*]] = tile.load %{{.*}}[%c0] dims = [0] bounds(%[[B0]])
    // CHECK:     %[[X0:.*]] = scf.if %[[SOME]] -> (f32) {
    // CHECK-NEXT:  memref.load %{{.*}}[%c0]
    // CHECK:     } else {
    // CHECK-NEXT:  scf.yield %cst

    // CHECK:     scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args(%[[G:.*]] = %[[G0]], %[[X:.*]] = %[[X0]])
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.muli %i, %c64 : index
      %rows = arith.subi %t, %row : index
      %s = tile.channel.acquire %ch[%i] : !one -> !tile
      tile.load_async %k[%row, %c0] dims = [0, 1] bounds(%rows, %c64) into %s : memref<?x64xbf16, strided<[?, 1]>>, !tile
      tile.channel.commit %ch[%i] : !one
      %gate = tile.load %g[%row] dims = [0] bounds(%rows) : memref<?xf32, strided<[?]>> -> tensor<64xf32, #lanes>
      %x = memref.load %a[%i] : memref<?xf32>
      // CHECK:     %[[NEXT:.*]] = arith.addi %[[I]], %c1
      // CHECK:     %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
      // CHECK:     %[[ROW:.*]] = arith.muli %[[NEXT]], %c64
      // CHECK:     %[[ROWS:.*]] = arith.subi %[[T]], %[[ROW]]
      // CHECK:     %[[B:.*]] = arith.select %[[MORE]], %[[ROWS]], %c0
      // CHECK:     %[[G1:.*]] = tile.load %{{.*}}[%[[ROW]]] dims = [0] bounds(%[[B]])
      // CHECK:     %[[J:.*]] = arith.select %[[MORE]], %[[NEXT]], %[[I]]
      // CHECK:     %[[X1:.*]] = memref.load %{{.*}}[%[[J]]]
      %w = tile.channel.wait %ch[%i] : !one -> !tile
      // TWO:       tile.channel.wait %[[CH]][%[[I]]] :
      // TWO-NEXT:  %[[A:.*]] = tile.channel.acquire %[[CH]][%[[NEXT]]]
      // TWO-NEXT:  scf.if %[[MORE]] {
      // TWO-NEXT:    tile.load_async %{{.*}}[%[[ROW]], %c0] dims = [0, 1] bounds(%[[ROWS]], %c64) into %[[A]]
      // TWO-NEXT:  }
      // TWO-NEXT:  tile.channel.commit %[[CH]][%[[NEXT]]]

      // THREE:      tile.channel.wait %[[CH]][%[[I]]] pending = 1
      // THREE-NEXT: %[[AHEAD:.*]] = arith.addi %[[I]], %c2
      // THREE-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[AHEAD]], %[[N]]
      // THREE-NEXT: %[[A:.*]] = tile.channel.acquire %[[CH]][%[[AHEAD]]]
      // THREE-NEXT: scf.if %[[EXISTS]] {
      // THREE-NEXT:   arith.muli %[[AHEAD]], %c64
      // THREE:        tile.load_async
      // THREE-NEXT: }
      // THREE-NEXT: tile.channel.commit %[[CH]][%[[AHEAD]]]

      // CHECK:     tile.local_load
      // CHECK:     tile.convert %[[G]]
      // CHECK:     tensor.splat %[[X]]
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      %e = arith.extf %f : tensor<64x64xbf16, #acc> to tensor<64x64xf32, #acc>
      %gr = tile.convert %gate : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.row<warps = 4>>
      %gm = tile.splat_row %gr : tensor<64xf32, #tile.row<warps = 4>> -> tensor<64x64xf32, #acc>
      %xm = tensor.splat %x : tensor<64x64xf32, #acc>
      %p = arith.mulf %e, %gm : tensor<64x64xf32, #acc>
      %q = arith.mulf %p, %xm : tensor<64x64xf32, #acc>
      tile.store %q, %o[%row, %c0] dims = [0, 1] bounds(%rows, %c64) : tensor<64x64xf32, #acc>, memref<?x64xf32, strided<[?, 1]>>
      tile.channel.release %ch[%i] : !one
      // CHECK-NOT: tile.channel.acquire
      // CHECK:     scf.yield %[[G1]], %[[X1]]
    }
    gpu.return
  }
}

// -----

// Two channels. Behind the first wait (of c0) stands the commit of c1 of the same
// step; the second wait is behind the loads of the step ahead.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>

// CHECK-LABEL: gpu.func @two(
gpu.module @m {
  gpu.func @two(%k: memref<?x64xbf16, strided<[?, 1]>>, %o: memref<?x64xbf16, strided<[?, 1]>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c64 = arith.constant 64 : index
    %ck = tile.channel.create : !one
    %cv = tile.channel.create : !one
    // CHECK:          %[[K:.*]] = tile.channel.create
    // CHECK:          %[[V:.*]] = tile.channel.create
    // A step that is known to exist is not asked for.
    // CHECK-NOT:      scf.if
    // CHECK:          tile.channel.acquire %[[K]][%c3]
    // CHECK-NEXT:     tile.load_async
    // CHECK-NEXT:     tile.channel.commit %[[K]][%c3]
    // CHECK-NEXT:     tile.channel.acquire %[[V]][%c3]
    // CHECK-NEXT:     tile.load_async
    // CHECK-NEXT:     tile.channel.commit %[[V]][%c3]
    // THREE:          tile.channel.commit %[[K]][%c4]
    // THREE:          tile.channel.commit %[[V]][%c4]
    // CHECK-NOT:      tile.channel.commit
    // CHECK:          scf.for
    scf.for %i = %c3 to %c7 step %c1 {
      %row = arith.muli %i, %c64 : index
      %a = tile.channel.acquire %ck[%i] : !one -> !tile
      tile.load_async %k[%row, %c0] dims = [0, 1] into %a : memref<?x64xbf16, strided<[?, 1]>>, !tile
      tile.channel.commit %ck[%i] : !one
      %b = tile.channel.acquire %cv[%i] : !one -> !tile
      tile.load_async %k[%row, %c0] dims = [0, 1] into %b : memref<?x64xbf16, strided<[?, 1]>>, !tile
      tile.channel.commit %cv[%i] : !one
      // TWO:          tile.channel.wait %[[K]][%{{.*}}] pending = 1
      // THREE:        tile.channel.wait %[[K]][%{{.*}}] pending = 3
      // CHECK:        tile.channel.commit %[[K]]
      // CHECK:        tile.channel.commit %[[V]]
      // CHECK:        tile.local_load
      // TWO:          tile.channel.wait %[[V]][%{{.*}}] pending = 2
      // THREE:        tile.channel.wait %[[V]][%{{.*}}] pending = 4
      %w = tile.channel.wait %ck[%i] : !one -> !tile
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      tile.channel.release %ck[%i] : !one
      %x = tile.channel.wait %cv[%i] : !one -> !tile
      %g = tile.local_load %x : !tile -> tensor<64x64xbf16, #acc>
      tile.channel.release %cv[%i] : !one
      %h = arith.addf %f, %g : tensor<64x64xbf16, #acc>
      tile.store %h, %o[%row, %c0] dims = [0, 1] : tensor<64x64xbf16, #acc>, memref<?x64xbf16, strided<[?, 1]>>
    }
    gpu.return
  }
}
