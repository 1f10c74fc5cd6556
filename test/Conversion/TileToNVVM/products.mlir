// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_80 --split-input-file %s | FileCheck %s

// One 16 x 16 step of k: operand a by ldmatrix, b transposed in memory by plain
// ldmatrix and once for both products; between two mma on one accumulator lie all
// others.

#acc = #tile.acc<warps = 4>
!keys = !tile.smem<64x16xbf16, swizzle = 32>
!keysT = !tile.smem<16x64xbf16, swizzle = 32, transposed>
// CHECK-LABEL: gpu.module @shared_b
// CHECK: llvm.mlir.global external @tile_arena() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @shared_b(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
// CHECK-SAME: gpu.kernel
// CHECK-SAME: nvvm.minctasm = 1
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>, num = 4
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.ldmatrix
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
gpu.module @shared_b {
  gpu.func @shared_b(%out: memref<?x64xf32, strided<[?, 1]>>) kernel attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %k = tile.alloc {offset = 0 : i64} : !keys
    %q = tile.alloc {offset = 2048 : i64} : !keys
    %kT = tile.smem_view %k transposed : !keys -> !keysT
    %a = tile.mma %k, %kT, %zero : !keys, !keysT, tensor<64x64xf32, #acc>
    %b = tile.mma %q, %kT, %zero : !keys, !keysT, tensor<64x64xf32, #acc>
    %c = arith.addf %a, %b : tensor<64x64xf32, #acc>
    tile.store %c, %out[%c0, %c0] dims = [0, 1] : tensor<64x64xf32, #acc>, memref<?x64xf32, strided<[?, 1]>>
    gpu.return
  }
}

// -----

// A chained product: the accumulator, rounded in pairs, is operand a as it is; b
// as it lies by transposing ldmatrix.

#acc = #tile.acc<warps = 1>
!b = !tile.smem<16x16xf16, swizzle = 32>
// CHECK-LABEL: llvm.func @chained
// CHECK-COUNT-4: arith.truncf %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-NOT: nvvm.shfl
// CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>, num = 4
// CHECK-COUNT-2: nvvm.mma.sync
gpu.module @chained {
  gpu.func @chained(%x: memref<16x16xf32>) kernel attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %f = tile.load %x[%c0, %c0] dims = [0, 1] : memref<16x16xf32> -> tensor<16x16xf32, #acc>
    %h = arith.truncf %f : tensor<16x16xf32, #acc> to tensor<16x16xf16, #acc>
    %b = tile.alloc {offset = 0 : i64} : !b
    %d = tile.mma %h, %b, %f : tensor<16x16xf16, #acc>, !b, tensor<16x16xf32, #acc>
    tile.store %d, %x[%c0, %c0] dims = [0, 1] : tensor<16x16xf32, #acc>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Three products of tf32 terms, the small ones first; no shuffle, since b is read
// in the order of columns that an accumulator's lanes hold.

#acc = #tile.acc<warps = 1>
!b = !tile.smem<8x8xf32, swizzle = 32>
// CHECK-LABEL: llvm.func @three_terms
// CHECK: nvvm.convert.float.to.tf32
// CHECK: arith.subf
// CHECK: nvvm.convert.float.to.tf32
// CHECK-NOT: nvvm.shfl
// CHECK-COUNT-3: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 8>
gpu.module @three_terms {
  gpu.func @three_terms(%x: memref<16x8xf32>) kernel attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %f = tile.load %x[%c0, %c0] dims = [0, 1] : memref<16x8xf32> -> tensor<16x8xf32, #acc>
    %b = tile.alloc {offset = 0 : i64} : !b
    %d = tile.mma %f, %b, %f terms = 3 : tensor<16x8xf32, #acc>, !b, tensor<16x8xf32, #acc>
    tile.store %d, %x[%c0, %c0] dims = [0, 1] : tensor<16x8xf32, #acc>, memref<16x8xf32>
    gpu.return
  }
}
