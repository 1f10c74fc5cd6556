// RUN: linattn-opt %s -split-input-file | linattn-opt -split-input-file | FileCheck %s

// The twins of the faults in roles-invalid.mlir.

!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>

// CHECK-LABEL: gpu.func @simple
// CHECK:         tile.roles chunks(%{{.*}}) {
// CHECK-NEXT:      tile.role @w warps(1) regs(24) ahead(1) {
// CHECK:           tile.role @r warps(1) regs(24) {
// CHECK:             tile.channel.stage
gpu.module @m {
  gpu.func @simple(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(1) regs(24) ahead(1) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(1) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          %b = tile.channel.stage %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// Two blocks fill the stages in turn, two roles each stage; @look reads its own steps
// and says so by what it commits.
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
// CHECK-LABEL: gpu.func @cluster
// CHECK:         tile.channel.create every(2) parts [@a, @b] :
gpu.module @m {
  gpu.func @cluster(%n: index, %items: index) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %in = tile.channel.create : !ch
    %ch = tile.channel.create every(2) parts [@a, @b] : !ch
    %t = tile.channel.create own(2) : !ch
    scf.for %item = %c0 to %items step %c1 {
      tile.roles chunks(%n) {
        tile.role @l warps(4) regs(24) {
          scf.for %i = %c0 to %n step %c1 {
            %x = tile.channel.acquire %in[%i] : !ch -> !tile
            tile.channel.commit %in[%i] : !ch
          }
        }
        tile.role @a warps(4) regs(24) {
          scf.for %i = %rank to %n step %c2 {
            %y = tile.channel.wait %in[%i] : !ch -> !tile
            %x = tile.channel.acquire %ch[%i] : !ch -> !tile
            tile.channel.commit %ch[%i] : !ch
            %z = tile.channel.acquire %t[%i] : !ch -> !tile
            tile.channel.commit %t[%i] : !ch
          }
        }
        tile.role @b warps(4) regs(24) {
          scf.for %i = %rank to %n step %c2 {
            %z = tile.channel.wait %t[%i] : !ch -> !tile
            %x = tile.channel.acquire %ch[%i] : !ch -> !tile
            tile.channel.commit %ch[%i] : !ch
            tile.channel.release %t[%i] : !ch
          }
        }
        tile.role @r warps(4) regs(24) {
          scf.for %i = %c0 to %n step %c1 {
            %y = tile.channel.wait %in[%i] : !ch -> !tile
            %x = tile.channel.wait %ch[%i] : !ch -> !tile
            tile.channel.release %ch[%i] : !ch
            tile.channel.release %in[%i] : !ch
          }
        }
      }
    }
    gpu.return
  }
}

// -----

// A cycle with a free stage: @b is one step behind @a.
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<1, !tile>
// CHECK-LABEL: gpu.func @cycle
gpu.module @m {
  gpu.func @cycle(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ab = tile.channel.create : !ch
    %ba = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @a warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %x = tile.channel.acquire %ab[%i] : !ch -> !tile
          tile.channel.commit %ab[%i] : !ch
          %y = tile.channel.wait %ba[%i] : !ch -> !tile
          tile.channel.release %ba[%i] : !ch
        }
      }
      tile.role @b warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %y = tile.channel.wait %ab[%i] : !ch -> !tile
          tile.channel.release %ab[%i] : !ch
          %x = tile.channel.acquire %ba[%i] : !ch -> !tile
          tile.channel.commit %ba[%i] : !ch
        }
      }
    }
    gpu.return
  }
}
