// RUN: linattn-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{stages=2})))'
// RUN: not linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-pipeline-loads{stages=17})))' 2>&1 | FileCheck %s

// CHECK: error: stages lie in [0, 16], got 17

!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
!mem = memref<?x64xbf16, strided<[?, 1]>>

gpu.module @m {
  gpu.func @carried(%k: !mem, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create : !one
    // expected-remark @below {{loads are not pipelined: what is loaded depends on the loop's variable alone}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%row = %c0) -> index {
      %a = tile.channel.acquire %ch[%i] : !one -> !tile
      tile.load_async %k[%row, %c0] dims = [0, 1] into %a : !mem, !tile
      tile.channel.commit %ch[%i] : !one
      %w = tile.channel.wait %ch[%i] : !one -> !tile
      %next = arith.addi %row, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
!mem = memref<?x64xbf16, strided<[?, 1]>>

gpu.module @m {
  gpu.func @step(%k: !mem, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %ch = tile.channel.create : !one
    // expected-remark @below {{loads are not pipelined: the loop's step is 1}}
    scf.for %i = %c0 to %n step %c2 {
      tile.channel.commit %ch[%i] : !one
    }
    gpu.return
  }
}

// -----

!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
!mem = memref<?x64xbf16, strided<[?, 1]>>

gpu.module @m {
  gpu.func @written(%k: !mem, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create : !one
    // expected-remark @below {{loads are not pipelined: what is loaded is not written in the loop}}
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.channel.acquire %ch[%i] : !one -> !tile
      tile.load_async %k[%i, %c0] dims = [0, 1] into %a : !mem, !tile
      tile.channel.commit %ch[%i] : !one
      %w = tile.channel.wait %ch[%i] : !one -> !tile
      tile.store %x, %k[%i, %c0] dims = [0, 1] : tensor<64x64xbf16, #tile.acc<warps = 4>>, !mem
    }
    gpu.return
  }

  gpu.func @twice(%k: !mem, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create : !one
    // expected-remark @below {{a channel is acquired, committed, waited for and released once per step}}
    scf.for %i = %c0 to %n step %c1 {
      tile.channel.commit %ch[%i] : !one
      tile.channel.commit %ch[%i] : !one
    }
    gpu.return
  }
}
