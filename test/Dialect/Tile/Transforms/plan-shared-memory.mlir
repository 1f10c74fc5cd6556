// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{chip=sm_80})))' | FileCheck %s

#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>

// %a is dead when %b begins; %v, a vector, lives with both.
// CHECK-LABEL: gpu.func @share
// CHECK-SAME:  tile.shared_bytes = 8448 : i64
gpu.module @m {
  gpu.func @share(%x: f32) kernel {
    %v = tile.alloc : !tile.smem<64xf32>
    // CHECK:     tile.alloc {offset = 8192 : i64} : <64xf32>
    %z = arith.constant dense<0.0> : tensor<64xf32, #tile.col>
    tile.local_store %z, %v : tensor<64xf32, #tile.col>, !tile.smem<64xf32>
    %m = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
    %a = tile.alloc : !tile
    // CHECK:     tile.alloc {offset = 0 : i64} : <64x64xbf16, swizzle = 128>
    tile.local_store %m, %a : tensor<64x64xbf16, #acc>, !tile
    %at = tile.smem_view %a transposed : !tile -> !tile.smem<64x64xbf16, swizzle = 128, transposed>
    %y = tile.local_load %at : !tile.smem<64x64xbf16, swizzle = 128, transposed> -> tensor<64x64xbf16, #acc>
    %b = tile.alloc : !tile
    // CHECK:     tile.alloc {offset = 0 : i64} : <64x64xbf16, swizzle = 128>
    tile.local_store %y, %b : tensor<64x64xbf16, #acc>, !tile
    %w = tile.local_load %v : !tile.smem<64xf32> -> tensor<64xf32, #tile.col>
    gpu.return
  }
}

// -----

// %out is made outside of the loop and lives through all of it, though its last use
// stands first; %p and %q of the body share; %end may lie where they do.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>

// CHECK-LABEL: gpu.func @loop
// CHECK-SAME:  tile.shared_bytes = 32768 : i64
gpu.module @m {
  gpu.func @loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
    %ch = tile.channel.create : !ch
    // CHECK:     tile.channel.create {offset = 0 : i64}
    %out = tile.alloc : !tile
    // CHECK:     tile.alloc {offset = 16384 : i64}
    scf.for %i = %c0 to %n step %c1 {
      %o = tile.local_load %out : !tile -> tensor<64x64xbf16, #acc>
      %w = tile.channel.wait %ch[%i] : !ch -> !tile
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      %p = tile.alloc : !tile
      // CHECK:   tile.alloc {offset = 24576 : i64}
      tile.local_store %f, %p : tensor<64x64xbf16, #acc>, !tile
      %g = tile.local_load %p : !tile -> tensor<64x64xbf16, #acc>
      %q = tile.alloc : !tile
      // CHECK:   tile.alloc {offset = 24576 : i64}
      tile.local_store %g, %q : tensor<64x64xbf16, #acc>, !tile
      %h = tile.local_load %q : !tile -> tensor<64x64xbf16, #acc>
    }
    %end = tile.alloc : !tile
    // CHECK:     tile.alloc {offset = 0 : i64}
    tile.local_store %m, %end : tensor<64x64xbf16, #acc>, !tile
    gpu.return
  }
}

// -----

// A kernel without shared memory.
// CHECK-LABEL: gpu.func @none
// CHECK-SAME:  tile.shared_bytes = 0 : i64
gpu.module @m {
  gpu.func @none() kernel {
    gpu.return
  }
}
