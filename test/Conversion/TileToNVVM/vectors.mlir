// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_80 %s | FileCheck %s

// Two elements a lane: a sum inside the lane, then five steps over lanes in two
// floats. A constant element by one shuffle. The approximation of e^x is one
// instruction, where it is allowed. Rows are reduced over the four lanes that hold
// them, columns through shared memory.

#acc = #tile.acc<warps = 2>
#lanes = #tile.strided<vec = 2>
// CHECK-LABEL: llvm.func @vectors
// CHECK-COUNT-12: nvvm.shfl.sync up
// CHECK-NOT: nvvm.shfl.sync up
// CHECK: nvvm.shfl.sync idx
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.mulf
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-COUNT-16: nvvm.shfl.sync idx
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK: scf.if
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
gpu.module @vectors {
  gpu.func @vectors(%in: memref<?xf32, strided<[1]>>, %out: memref<?x64xf32, strided<[?, 1]>>,
      %rows: memref<32xf32>, %cols: memref<64xf32>) kernel attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %g = tile.load %in[%c0] dims = [0] : memref<?xf32, strided<[1]>> -> tensor<64xf32, #lanes>
    %hi, %lo = tile.scan %g : tensor<64xf32, #lanes>
    %end = tensor.extract %hi[%c63] : tensor<64xf32, #lanes>
    %e = math.exp %end : f32
    %es = tensor.splat %e : tensor<64xf32, #lanes>
    %a = math.exp %es fastmath<afn> : tensor<64xf32, #lanes>
    %c = tile.convert %a : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
    %m = tile.splat_col %c : tensor<64xf32, #tile.col> -> tensor<32x64xf32, #acc>
    %r = tile.reduce add %m axis = 1 : tensor<32x64xf32, #acc> -> tensor<32xf32, #tile.row<warps = 2>>
    %s = tile.alloc {offset = 0 : i64} : !tile.smem<2x64xf32>
    %x = tile.reduce max %m axis = 0 scratch(%s : !tile.smem<2x64xf32>) : tensor<32x64xf32, #acc> -> tensor<64xf32, #tile.col>
    tile.store %r, %rows[%c0] dims = [0] : tensor<32xf32, #tile.row<warps = 2>>, memref<32xf32>
    tile.store %x, %cols[%c0] dims = [0] : tensor<64xf32, #tile.col>, memref<64xf32>
    gpu.return
  }
}
