// RUN: linattn-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads)))' | FileCheck %s --check-prefix=FOUR
// RUN: linattn-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{chip=sm_86})))' | FileCheck %s --check-prefix=TWO
// RUN: linattn-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{shared-bytes=66000})))' | FileCheck %s --check-prefix=ONE

// A stage has 32 KiB, the rest of the kernel 32 KiB.
!tile = !tile.smem<128x128xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
!mem = memref<?x128xbf16, strided<[?, 1]>>
// FOUR: tile.channel.create : <4,
// TWO:  tile.channel.create : <2,
// ONE:  tile.channel.create : <1,
// ONE:  scf.for
// ONE:    tile.load_async
gpu.module @m {
  gpu.func @k(%k: !mem, %x: tensor<128x128xbf16, #tile.acc<warps = 4>>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.alloc : !tile
    tile.local_store %x, %s : tensor<128x128xbf16, #tile.acc<warps = 4>>, !tile
    %ch = tile.channel.create : !one
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.channel.acquire %ch[%i] : !one -> !tile
      tile.load_async %k[%i, %c0] dims = [0, 1] into %a : !mem, !tile
      tile.channel.commit %ch[%i] : !one
      %w = tile.channel.wait %ch[%i] : !one -> !tile
      %y = tile.local_load %w : !tile -> tensor<128x128xbf16, #tile.acc<warps = 4>>
      tile.channel.release %ch[%i] : !one
    }
    %z = tile.local_load %s : !tile -> tensor<128x128xbf16, #tile.acc<warps = 4>>
    gpu.return
  }
}
