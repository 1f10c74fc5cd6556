// RUN: linattn-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{chip=sm_86})))'
// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{chip=sm_80})))' | FileCheck %s
// RUN: not linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{chip=sm_75})))' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-plan-shared-memory{shared-bytes=100000})))' 2>&1 | FileCheck %s --check-prefix=BYTES

// CHIP: error: chip is one of sm_80, {{.*}}sm_90a, {{.*}}sm_121f, got 'sm_75'
// BYTES: error: needs 114688 bytes of shared memory, a block may have 100000: 14688 bytes are missing

// %small is dead before the others live.
// CHECK: tile.shared_bytes = 114688
gpu.module @m {
  // expected-error @below {{needs 114688 bytes of shared memory, a block may have 101376 on sm_86: 13312 bytes are missing}}
  gpu.func @large(%x: tensor<64x64xbf16, #tile.acc<warps = 4>>, %y: tensor<128x128xf32, #tile.acc<warps = 4>>, %i: index) kernel {
    %small = tile.alloc : !tile.smem<64x64xbf16, swizzle = 128>
    tile.local_store %x, %small : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>
    // expected-note @below {{a tile of 128x128xf32: 65536 of the 114688 bytes that live together}}
    %state = tile.alloc : !tile.smem<128x128xf32, swizzle = 128>
    // expected-note @below {{3 stages of 64x128xbf16: 49152 of the 114688 bytes that live together}}
    %ch = tile.channel.create : !tile.channel<3, !tile.smem<64x128xbf16, swizzle = 128>>
    tile.local_store %y, %state : tensor<128x128xf32, #tile.acc<warps = 4>>, !tile.smem<128x128xf32, swizzle = 128>
    tile.channel.commit %ch[%i] : !tile.channel<3, !tile.smem<64x128xbf16, swizzle = 128>>
    tile.local_store %y, %state : tensor<128x128xf32, #tile.acc<warps = 4>>, !tile.smem<128x128xf32, swizzle = 128>
    gpu.return
  }
}
