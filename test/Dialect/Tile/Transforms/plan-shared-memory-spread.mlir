// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{chip=sm_90a spread})))' | FileCheck %s
// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{shared-bytes=8192 spread})))' | FileCheck %s --check-prefix=SHORT

// Eight warps: no bytes are shared while all fits, and both tiles are in one place
// where it does not. Four warps share.
#acc = #tile.acc<warps = 8, columns = 2>
!tile = !tile.smem<64x64xbf16, swizzle = 128>

// CHECK-LABEL: gpu.func @eight
// CHECK-SAME:  tile.shared_bytes = 16384 : i64
// CHECK:       tile.alloc {offset = 0 : i64}
// CHECK:       tile.alloc {offset = 8192 : i64}
// SHORT-LABEL: gpu.func @eight
// SHORT-SAME:  tile.shared_bytes = 8192 : i64
gpu.module @m {
  gpu.func @eight() kernel attributes {tile.warps = 8 : i64} {
    %m = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
    %a = tile.alloc : !tile
    tile.local_store %m, %a : tensor<64x64xbf16, #acc>, !tile
    %b = tile.alloc : !tile
    tile.local_store %m, %b : tensor<64x64xbf16, #acc>, !tile
    gpu.return
  }
}

// -----

#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>

// CHECK-LABEL: gpu.func @four
// CHECK-SAME:  tile.shared_bytes = 8192 : i64
gpu.module @m {
  gpu.func @four() kernel attributes {tile.warps = 4 : i64} {
    %m = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
    %a = tile.alloc : !tile
    tile.local_store %m, %a : tensor<64x64xbf16, #acc>, !tile
    %b = tile.alloc : !tile
    tile.local_store %m, %b : tensor<64x64xbf16, #acc>, !tile
    gpu.return
  }
}
