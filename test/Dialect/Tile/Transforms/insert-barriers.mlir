// RUN: linattn-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-insert-barriers)))' | FileCheck %s

#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!f = tensor<64x64xbf16, #acc>

// Written, read, written again; the second read of the same needs none.
// CHECK-LABEL: gpu.func @straight
gpu.module @m {
  gpu.func @straight(%x: !f) kernel {
    %s = tile.alloc : !tile
    tile.local_store %x, %s : !f, !tile
    // CHECK:      tile.local_store
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_load
    // CHECK-NEXT: tile.local_load
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_store
    // CHECK-NEXT: gpu.return
    %a = tile.local_load %s : !tile -> !f
    %b = tile.local_load %s : !tile -> !f
    tile.local_store %b, %s : !f, !tile
    gpu.return
  }
}

// -----

// Tiles that share bytes conflict; one barrier serves two of them.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!f = tensor<64x64xbf16, #acc>
// CHECK-LABEL: gpu.func @share
gpu.module @m {
  gpu.func @share(%x: !f) kernel {
    %s = tile.alloc {offset = 0} : !tile
    %t = tile.alloc {offset = 8192} : !tile
    %u = tile.alloc {offset = 4096} : !tile
    // CHECK-COUNT-2: tile.local_store
    // CHECK-NEXT:    tile.barrier
    // CHECK-NEXT:    tile.local_load
    // CHECK-NEXT:    tile.local_load
    // CHECK-NEXT:    tile.barrier
    // CHECK-NEXT:    tile.local_store
    tile.local_store %x, %s : !f, !tile
    tile.local_store %x, %t : !f, !tile
    %a = tile.local_load %s : !tile -> !f
    %b = tile.local_load %t : !tile -> !f
    tile.local_store %b, %u : !f, !tile
    gpu.return
  }
}

// -----

// Slices that do not meet.
#acc = #tile.acc<warps = 1>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!slice = !tile.smem<16x32xbf16, swizzle = 128, of 64x64>
!slicet = !tile.smem<32x16xbf16, swizzle = 128, transposed, of 64x64>
!f = tensor<16x32xbf16, #acc>
// CHECK-LABEL: gpu.func @slices
gpu.module @m {
  gpu.func @slices(%x: !f) kernel {
    %s = tile.alloc : !tile
    %a = tile.smem_view %s[16, 0] : !tile -> !slice
    %b = tile.smem_view %s[16, 32] : !tile -> !slice
    %c = tile.smem_view %s[24, 0] transposed : !tile -> !slicet
    // CHECK:      tile.local_store
    // CHECK-NEXT: tile.local_load
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_load
    tile.local_store %x, %a : !f, !slice
    %y = tile.local_load %b : !slice -> !f
    %z = tile.local_load %c : !slicet -> tensor<32x16xbf16, #acc>
    gpu.return
  }
}

// -----

// A tile of a loop's body: written after the reads of the step before, read after
// it is written.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!f = tensor<64x64xbf16, #acc>
// CHECK-LABEL: gpu.func @loop
gpu.module @m {
  gpu.func @loop(%x: !f, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.alloc : !tile
    // CHECK:      scf.for
    // CHECK-NEXT:   tile.barrier
    // CHECK-NEXT:   tile.local_store
    // CHECK-NEXT:   tile.barrier
    // CHECK-NEXT:   tile.local_load
    // CHECK-NOT:  tile.barrier
    scf.for %i = %c0 to %n step %c1 {
      tile.local_store %x, %s : !f, !tile
      %a = tile.local_load %s : !tile -> !f
    }
    gpu.return
  }
}

// -----

// What the loop only reads: one barrier before it, none in it. After a loop that may
// run no step.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!f = tensor<64x64xbf16, #acc>
// CHECK-LABEL: gpu.func @invariant
gpu.module @m {
  gpu.func @invariant(%x: !f, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.alloc : !tile
    // CHECK:      tile.local_store
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: scf.for
    // CHECK-NEXT:   tile.local_load
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_store
    tile.local_store %x, %s : !f, !tile
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.local_load %s : !tile -> !f
    }
    tile.local_store %x, %s : !f, !tile
    gpu.return
  }
}

// -----

// Before a branch, not in it, so that both ways have it.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!f = tensor<64x64xbf16, #acc>
// CHECK-LABEL: gpu.func @branch
gpu.module @m {
  gpu.func @branch(%x: !f, %c: i1) kernel {
    %s = tile.alloc : !tile
    // CHECK:      tile.local_store
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: scf.if
    // CHECK-NEXT:   tile.local_load
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.local_load
    tile.local_store %x, %s : !f, !tile
    scf.if %c {
      %a = tile.local_load %s : !tile -> !f
    }
    %b = tile.local_load %s : !tile -> !f
    gpu.return
  }
}

// -----

// Scratch is written at once, and read to the end.
#acc = #tile.acc<warps = 4>
!m = tensor<64x64xf32, #acc>
!w = !tile.smem<4x64xf32>
// CHECK-LABEL: gpu.func @scratch
gpu.module @m {
  gpu.func @scratch(%x: !m) kernel {
    %s = tile.alloc : !w
    // CHECK:      tile.reduce
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.reduce
    %a = tile.reduce add %x axis = 0 scratch(%s : !w) : !m -> tensor<64xf32, #tile.col>
    %b = tile.reduce max %x axis = 0 scratch(%s : !w) : !m -> tensor<64xf32, #tile.col>
    gpu.return
  }
}

// -----

// A pipelined loop: one barrier between the wait and everything else serves the
// reads of step i and the copies of step i + 1, which fill the stage of step i - 1.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
!mem = memref<?x64xbf16, strided<[?, 1]>>
// CHECK-LABEL: gpu.func @pipelined
gpu.module @m {
  gpu.func @pipelined(%k: !mem, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create {offset = 0} : !ch
    %a0 = tile.channel.acquire %ch[%c0] : !ch -> !tile
    tile.load_async %k[%c0, %c0] dims = [0, 1] into %a0 : !mem, !tile
    tile.channel.commit %ch[%c0] : !ch
    // CHECK-NOT:  tile.barrier
    // CHECK:      scf.for
    // CHECK-NEXT:   tile.channel.wait
    // CHECK-NEXT:   arith.addi
    // CHECK-NEXT:   arith.cmpi
    // CHECK-NEXT:   tile.channel.acquire
    // CHECK-NEXT:   tile.barrier
    // CHECK-NEXT:   scf.if
    // CHECK-NOT:  tile.barrier
    // CHECK:      gpu.return
    scf.for %i = %c0 to %n step %c1 {
      %w = tile.channel.wait %ch[%i] : !ch -> !tile
      %i1 = arith.addi %i, %c1 : index
      %exists = arith.cmpi slt, %i1, %n : index
      %a = tile.channel.acquire %ch[%i1] : !ch -> !tile
      scf.if %exists {
        tile.load_async %k[%i1, %c0] dims = [0, 1] into %a : !mem, !tile
      }
      tile.channel.commit %ch[%i1] : !ch
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      tile.channel.release %ch[%i] : !ch
    }
    gpu.return
  }
}

// -----

// The same with one stage: the copies wait for the reads of the step before, the
// reads for the copies.
#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<1, !tile>
!mem = memref<?x64xbf16, strided<[?, 1]>>
// CHECK-LABEL: gpu.func @one_stage
gpu.module @m {
  gpu.func @one_stage(%k: !mem, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create {offset = 0} : !ch
    // CHECK:      tile.channel.acquire
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.load_async
    // CHECK:      tile.channel.wait
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_load
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.channel.acquire %ch[%i] : !ch -> !tile
      tile.load_async %k[%i, %c0] dims = [0, 1] into %a : !mem, !tile
      tile.channel.commit %ch[%i] : !ch
      %w = tile.channel.wait %ch[%i] : !ch -> !tile
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      tile.channel.release %ch[%i] : !ch
    }
    gpu.return
  }
}
