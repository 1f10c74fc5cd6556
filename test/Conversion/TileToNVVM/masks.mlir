// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_80 %s | FileCheck %s

// Of a band each element is a comparison with its column, for each side that is
// given: 16x8 on a warp has four elements a lane, in two rows. A vote makes one
// condition of a warp.

#acc = #tile.acc<warps = 1>
#row = #tile.row<warps = 1>
// CHECK-LABEL: llvm.func @masks
// CHECK-COUNT-4: arith.cmpi sge, %{{.*}}, %c{{[01]}}
// CHECK:       nvvm.vote.sync any
// CHECK-NEXT:  scf.if
gpu.module @masks {
  gpu.func @masks(%in: memref<16x8xf32>, %out: memref<16x8xf32>, %d: index) kernel attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %x = tile.load %in[%c0, %c0] dims = [0, 1] : memref<16x8xf32> -> tensor<16x8xf32, #acc>
    %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
    %allowed = tile.band upper(%d) : tensor<16x8xi1, #acc>
    %y = arith.select %allowed, %x, %zero : tensor<16x8xi1, #acc>, tensor<16x8xf32, #acc>
    %sums = tile.reduce add %y axis = 1 : tensor<16x8xf32, #acc> -> tensor<16xf32, #row>
    %one = arith.constant dense<1.0> : tensor<16xf32, #row>
    %large = arith.cmpf ogt, %sums, %one : tensor<16xf32, #row>
    %some = tile.warp_any %large : tensor<16xi1, #row>
    %z = scf.if %some -> tensor<16x8xf32, #acc> {
      %twice = arith.addf %y, %y : tensor<16x8xf32, #acc>
      scf.yield %twice : tensor<16x8xf32, #acc>
    } else {
      scf.yield %y : tensor<16x8xf32, #acc>
    }
    tile.store %z, %out[%c0, %c0] dims = [0, 1] : tensor<16x8xf32, #acc>, memref<16x8xf32>
    gpu.return
  }
}
