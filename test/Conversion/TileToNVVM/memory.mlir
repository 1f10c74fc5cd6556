// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_90a %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_80 %s | FileCheck %s --check-prefixes=CHECK,SM80

// Copies of 16 bytes, those of rows behind the end with 0 bytes of source; the
// stage of a ring of three; stmatrix where the GPU has it; the launch that the
// kernel asks for.

#acc = #tile.acc<warps = 4>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ring = !tile.channel<3, !tile>
// CHECK: llvm.func @memory(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: launches = [{block = [128], dynamic_shared_bytes = 32768 : i64, kernel = "memory"}]
// CHECK: scf.for
// CHECK: arith.remui
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %
// CHECK-NOT: nvvm.cp.async.shared
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.barrier
// CHECK-COUNT-4: nvvm.ldmatrix
// SM90-COUNT-4: nvvm.stmatrix
// SM80-COUNT-16: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
gpu.module @memory {
  gpu.func @memory(%in: memref<?x?x64xbf16, strided<[?, ?, 1]>> {llvm.noalias, llvm.readonly},
      %out: memref<?x64xbf16, strided<[?, 1]>>, %n: index)
      kernel attributes {tile.warps = 4 : i64, linattn.kernel = {launches = [{kernel = "memory"}]}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %h = gpu.block_id x
    %ring = tile.channel.create {offset = 0 : i64} : !ring
    %s = tile.alloc {offset = 24576 : i64} : !tile
    scf.for %i = %c0 to %n step %c1 {
      %t = tile.channel.acquire %ring[%i] : !ring -> !tile
      tile.load_async %in[%c0, %h, %c0] dims = [0, 2] bounds(%n, %c64) into %t
          : memref<?x?x64xbf16, strided<[?, ?, 1]>>, !tile
      tile.channel.commit %ring[%i] : !ring
      %w = tile.channel.wait %ring[%i] pending = 1 : !ring -> !tile
      tile.barrier
      %f = tile.local_load %w : !tile -> tensor<64x64xbf16, #acc>
      tile.local_store %f, %s : tensor<64x64xbf16, #acc>, !tile
      tile.barrier
      tile.store %s, %out[%c0, %c0] dims = [0, 1] : !tile, memref<?x64xbf16, strided<[?, 1]>>
      tile.channel.release %ring[%i] : !ring
    }
    gpu.return
  }
}
