// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-raise-stores{chip=sm_90a})))' | FileCheck %s
// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-raise-stores{chip=sm_90a},tile-plan-shared-memory{chip=sm_90a spread},tile-insert-barriers)))' | FileCheck %s --check-prefix=BARRIERS

// The state goes to the front; %d, made of what a product gave, behind %e, which it
// needs; f32 and tiles that were read before stay.
#acc = #tile.acc<warps = 8, columns = 2>
!in = !tile.smem<64x64xbf16, swizzle = 128>
!turned = !tile.smem<64x64xbf16, swizzle = 128, transposed>

// CHECK-LABEL: gpu.func @raise
// CHECK:       scf.for
// CHECK-NEXT:    %[[S:.*]] = arith.truncf %{{.*}} : tensor<64x64xf32
// CHECK-NEXT:    %[[A:.*]] = tile.alloc
// CHECK-NEXT:    %[[V:.*]] = tile.smem_view %[[A]] transposed
// CHECK-NEXT:    tile.local_store %[[S]], %[[V]]
// CHECK:         tile.mma
// CHECK-NEXT:    %[[E:.*]] = math.exp
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[E]]
// CHECK-NEXT:    arith.truncf %[[N]]
// CHECK-NEXT:    tile.alloc
// CHECK-NEXT:    tile.local_store
// CHECK-NEXT:    tile.mma
// CHECK:         tile.alloc : <64x64xf32>
// CHECK-NEXT:    tile.local_store

// Unless they share bytes, all of a step needs one barrier, and one for the next.
// BARRIERS-LABEL: gpu.func @raise
// BARRIERS:         scf.for
// BARRIERS-COUNT-2:   tile.barrier
// BARRIERS-NOT:       tile.barrier
// BARRIERS:           scf.yield
gpu.module @m {
  gpu.func @raise(%n: index, %s0: tensor<64x64xf32, #acc>) kernel attributes {tile.warps = 8 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %k = tile.alloc : !in
    %z = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
    tile.local_store %z, %k : tensor<64x64xbf16, #acc>, !in
    tile.barrier
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) -> tensor<64x64xf32, #acc> {
      %p = tile.mma %k, %k, %zero : !in, !in, tensor<64x64xf32, #acc>
      %e = math.exp %p : tensor<64x64xf32, #acc>
      %sb = arith.truncf %s : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %st = tile.alloc : !in
      %sv = tile.smem_view %st transposed : !in -> !turned
      tile.local_store %sb, %sv : tensor<64x64xbf16, #acc>, !turned
      %q = tile.mma %k, %k, %e : !in, !in, tensor<64x64xf32, #acc>
      %d = arith.negf %e : tensor<64x64xf32, #acc>
      %db = arith.truncf %d : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %dt = tile.alloc : !in
      tile.local_store %db, %dt : tensor<64x64xbf16, #acc>, !in
      %wide = tile.alloc : !tile.smem<64x64xf32>
      tile.local_store %s, %wide : tensor<64x64xf32, #acc>, !tile.smem<64x64xf32>
      %next = tile.mma %dt, %st, %q : !in, !in, tensor<64x64xf32, #acc>
      scf.yield %next : tensor<64x64xf32, #acc>
    }
    gpu.return
  }
}

// -----

// Four warps leave room for a second block, whose memory this would take.
#acc = #tile.acc<warps = 4>
!in = !tile.smem<64x64xbf16, swizzle = 128>

// CHECK-LABEL: gpu.func @stay
// CHECK:         tile.mma
// CHECK-NEXT:    arith.truncf
gpu.module @m {
  gpu.func @stay(%n: index, %s0: tensor<64x64xf32, #acc>) kernel attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = tile.alloc : !in
    scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) -> tensor<64x64xf32, #acc> {
      %p = tile.mma %k, %k, %s : !in, !in, tensor<64x64xf32, #acc>
      %sb = arith.truncf %s : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %st = tile.alloc : !in
      tile.local_store %sb, %st : tensor<64x64xbf16, #acc>, !in
      %q = tile.mma %st, %k, %p : !in, !in, tensor<64x64xf32, #acc>
      scf.yield %q : tensor<64x64xf32, #acc>
    }
    gpu.return
  }
}
