// RUN: linattn-opt %s | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -mlir-print-op-generic | linattn-opt | FileCheck %s

// Each operation outside of roles (those: roles.mlir) as in its example.

#acc = #tile.acc<warps = 4>
#row = #tile.row<warps = 4>
#lanes = #tile.strided<vec = 2>
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64xf32>>

// CHECK-DAG: #[[ACC:.*]] = #tile.acc<warps = 4>
// CHECK-DAG: #[[ROW:.*]] = #tile.row<warps = 4>
// CHECK-DAG: #[[LANES:.*]] = #tile.strided<vec = 2>
// CHECK-DAG: #[[COL:.*]] = #tile.col

// CHECK-LABEL: func.func @global
func.func @global(%gates: memref<?x?x32xf32, strided<[?, ?, ?]>>, %k: memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>,
                  %s: !tile.smem<64x128xbf16, swizzle = 128>, %b: index, %t: index, %rows: index) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims = [1] bounds(%{{.*}}) : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #[[LANES]]>
  %g = tile.load %gates[%b, %t, %b] dims = [1] bounds(%rows) : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #lanes>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims = [1] : tensor<64xf32, #[[LANES]]>, memref
  tile.store %g, %gates[%b, %t, %b] dims = [1] : tensor<64xf32, #lanes>, memref<?x?x32xf32, strided<[?, ?, ?]>>
  // CHECK: tile.store %{{.*}} dims = [1, 3] bounds(%{{.*}}, %{{.*}}) align = 4 : !tile.smem<64x128xbf16, swizzle = 128>, memref
  tile.store %s, %k[%b, %t, %b, %b] dims = [1, 3] bounds(%rows, %rows) align = 4 : !tile.smem<64x128xbf16, swizzle = 128>, memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>
  // CHECK: tile.load_async %{{.*}} dims = [1, 3] bounds(%{{.*}}, %{{.*}}) align = 8 into %{{.*}} : memref
  tile.load_async %k[%b, %t, %b, %b] dims = [1, 3] bounds(%rows, %rows) align = 8 into %s : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !tile.smem<64x128xbf16, swizzle = 128>
  // CHECK: tile.load_async %{{.*}} dims = [1, 3] bounds(%{{.*}}, %{{.*}}) from(%{{.*}}) align = 8 into %{{.*}} : memref
  tile.load_async %k[%b, %t, %b, %b] dims = [1, 3] bounds(%rows, %rows) from(%t) align = 8 into %s : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !tile.smem<64x128xbf16, swizzle = 128>
  // CHECK: tile.load_async %{{.*}} dims = [2, 3] group = 8 step = 2 into
  tile.load_async %k[%b, %t, %b, %b] dims = [2, 3] group = 8 step = 2 into %s : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !tile.smem<64x128xbf16, swizzle = 128>
  // CHECK: tile.load_async %{{.*}} dims = [1, 3] multicast into
  tile.load_async %k[%b, %t, %b, %b] dims = [1, 3] multicast into %s : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !tile.smem<64x128xbf16, swizzle = 128>
  // CHECK: tile.store_async %{{.*}}, %{{.*}} dims = [1, 3] bounds(%{{.*}}, %{{.*}}) :
  tile.store_async %s, %k[%b, %t, %b, %b] dims = [1, 3] bounds(%rows, %rows) : !tile.smem<64x128xbf16, swizzle = 128>, memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>
  return
}

// CHECK-LABEL: func.func @shared
func.func @shared(%i: index) {
  // CHECK: tile.alloc : <64x64xbf16, swizzle = 128>
  %s = tile.alloc : !tile
  // CHECK: tile.alloc {offset = 1024 : i64} : <64xf32>
  %v = tile.alloc {offset = 1024 : i64} : !tile.smem<64xf32>
  // CHECK: tile.smem_view %{{.*}}[16, 0] : <64x64xbf16, swizzle = 128> -> <16x16xbf16, swizzle = 128, of 64x64>
  %b = tile.smem_view %s[16, 0] : !tile -> !tile.smem<16x16xbf16, swizzle = 128, of 64x64>
  // CHECK: tile.smem_view %{{.*}} transposed : <64x64xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128, transposed>
  %t = tile.smem_view %s transposed : !tile -> !tile.smem<64x64xbf16, swizzle = 128, transposed>
  // CHECK: tile.local_load %{{.*}} : <64x64xbf16, swizzle = 128> -> tensor<64x64xbf16, #[[ACC]]>
  %f = tile.local_load %s : !tile -> tensor<64x64xbf16, #acc>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.local_store %{{.*}}, %{{.*}} : tensor<64x64xbf16, #[[ACC]]>, <64x64xbf16, swizzle = 128>
  tile.local_store %f, %s : tensor<64x64xbf16, #acc>, !tile
  // CHECK: tile.channel.create : <2, !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64xf32>>
  %c = tile.channel.create : !ch
  // CHECK: %{{.*}}:2 = tile.channel.acquire %{{.*}}[%{{.*}}] :
  %a:2 = tile.channel.acquire %c[%i] : !ch -> !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64xf32>
  // CHECK: tile.channel.commit
  tile.channel.commit %c[%i] : !ch
  // CHECK: tile.channel.wait %{{.*}}[%{{.*}}] pending = 3
  %w:2 = tile.channel.wait %c[%i] pending = 3 : !ch -> !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64xf32>
  // CHECK: tile.channel.stage
  %x:2 = tile.channel.stage %c[%i] : !ch -> !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64xf32>
  // CHECK: tile.channel.release
  tile.channel.release %c[%i] : !ch
  return
}

// CHECK-LABEL: func.func @registers
func.func @registers(%a: tensor<64x64xbf16, #acc>, %b: !tile.smem<64x128xbf16, swizzle = 128>, %c: tensor<64x128xf32, #acc>,
                     %af: tensor<64x64xf32, #acc>, %bf: !tile.smem<64x128xf32, swizzle = 128>,
                     %s: !tile.smem<37120xi8>, %g: tensor<64xf32, #lanes>, %w: !tile.smem<4x128xf32>) {
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xbf16, #[[ACC]]>, <64x128xbf16, swizzle = 128>
  %d = tile.mma %a, %b, %c : tensor<64x64xbf16, #acc>, !tile.smem<64x128xbf16, swizzle = 128>, tensor<64x128xf32, #acc>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} terms = 3 :
  %e = tile.mma %af, %bf, %c terms = 3 : tensor<64x64xf32, #acc>, !tile.smem<64x128xf32, swizzle = 128>, tensor<64x128xf32, #acc>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} async :
  %p = tile.mma %a, %b, %c async : tensor<64x64xbf16, #acc>, !tile.smem<64x128xbf16, swizzle = 128>, tensor<64x128xf32, #acc>
  // CHECK: tile.mma_wait %{{.*}} : tensor<64x128xf32, #[[ACC]]>
  %q = tile.mma_wait %p : tensor<64x128xf32, #acc>
  // CHECK: tile.unit_lower_inverse %{{.*}} scratch(%{{.*}}) : tensor<64x64xf32, #[[ACC]]>, <37120xi8>
  %t = tile.unit_lower_inverse %af scratch(%s) : tensor<64x64xf32, #acc>, !tile.smem<37120xi8>
  // CHECK: tile.unit_lower_inverse %{{.*}} scratch(%{{.*}}) terms = 1 :
  %u = tile.unit_lower_inverse %af scratch(%s) terms = 1 : tensor<64x64xf32, #acc>, !tile.smem<37120xi8>
  // CHECK: tile.unit_lower_solve %{{.*}} rates(%{{.*}} : tensor<64x64xf32, #[[ACC]]>) matrices(%{{.*}} : !tile.smem<64x64xf32, swizzle = 128>) : tensor<64x64xf32, #[[ACC]]>
  %system = tile.alloc : !tile.smem<64x64xf32, swizzle = 128>
  %v = tile.unit_lower_solve %af rates(%af : tensor<64x64xf32, #acc>) matrices(%system : !tile.smem<64x64xf32, swizzle = 128>) : tensor<64x64xf32, #acc>
  // CHECK: tile.unit_lower_solve %{{.*}}, %{{.*}} rates({{.*}}) matrices({{.*}}) rows [0, 1] from [0, 0] : tensor<64x64xf32, #[[ACC]]>, tensor<64x64xf32, #[[ACC]]>
  %pair:2 = tile.unit_lower_solve %af, %af rates(%af, %af : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) matrices(%system, %system : !tile.smem<64x64xf32, swizzle = 128>, !tile.smem<64x64xf32, swizzle = 128>) rows [0, 1] from [0, 0] : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  // CHECK: tile.scan_rows %{{.*}} exclusive reverse scratch(%{{.*}} : !tile.smem<4x64xf32>) : tensor<64x64xf32, #[[ACC]]>
  %scratch = tile.alloc : !tile.smem<4x64xf32>
  %below = tile.scan_rows %af exclusive reverse scratch(%scratch : !tile.smem<4x64xf32>) : tensor<64x64xf32, #acc>
  // CHECK: tile.convert %{{.*}} : tensor<64xf32, #[[LANES]]> -> tensor<64xf32, #[[COL]]>
  %col = tile.convert %g : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
  // CHECK: tile.convert %{{.*}} : tensor<64xf32, #[[LANES]]> -> tensor<64xf32, #[[ROW]]>
  %row = tile.convert %g : tensor<64xf32, #lanes> -> tensor<64xf32, #row>
  // CHECK: tile.splat_row %{{.*}} : tensor<64xf32, #[[ROW]]> -> tensor<64x64xf32, #[[ACC]]>
  %m = tile.splat_row %row : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
  // CHECK: tile.splat_col %{{.*}} : tensor<64xf32, #[[COL]]> -> tensor<64x64xf32, #[[ACC]]>
  %n = tile.splat_col %col : tensor<64xf32, #tile.col> -> tensor<64x64xf32, #acc>
  // CHECK: tile.reduce add %{{.*}} axis = 1 : tensor<64x64xf32, #[[ACC]]> -> tensor<64xf32, #[[ROW]]>
  %r = tile.reduce add %m axis = 1 : tensor<64x64xf32, #acc> -> tensor<64xf32, #row>
  // CHECK: tile.reduce max %{{.*}} axis = 0 scratch(%{{.*}} : !tile.smem<4x128xf32>) : tensor<64x128xf32, #[[ACC]]> -> tensor<128xf32, #[[COL]]>
  %z = tile.reduce max %c axis = 0 scratch(%w : !tile.smem<4x128xf32>) : tensor<64x128xf32, #acc> -> tensor<128xf32, #tile.col>
  // CHECK: tile.scan %{{.*}} : tensor<64xf32, #[[LANES]]>
  %hi, %lo = tile.scan %g : tensor<64xf32, #lanes>
  // CHECK: tile.scan %{{.*}} exclusive :
  %hx, %lx = tile.scan %g exclusive : tensor<64xf32, #lanes>
  // CHECK: tile.iota axis = 0 : tensor<64x64xi32, #[[ACC]]>
  %i = tile.iota axis = 0 : tensor<64x64xi32, #acc>
  return
}

// CHECK-LABEL: func @decays
func.func @decays(%k: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %t: !tile.smem<64x32xbf16, swizzle = 64>, %sums: !tile.smem<32xf32>, %s: !tile.smem<12288xi8>) -> tensor<64x64xf32, #tile.acc<warps = 4>> {
  // CHECK: tile.decay_mma(%{{.*}}, %{{.*}}), %{{.*}} decay(%{{.*}}) scratch(%{{.*}}) x_positions = [1, 0] y_position = 1 inclusive = [false, true] targets [2](%{{.*}} : !tile.smem<64x32xbf16, swizzle = 64>) sums(%{{.*}} : !tile.smem<32xf32>) in bf16 :
  %p, %q = tile.decay_mma (%k, %k), %k decay(%g) scratch(%s) x_positions = [1, 0] y_position = 1 inclusive = [false, true] targets [2] (%t : !tile.smem<64x32xbf16, swizzle = 64>) sums(%sums : !tile.smem<32xf32>) in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return %q : tensor<64x64xf32, #tile.acc<warps = 4>>
}

// CHECK-LABEL: func.func @masks
func.func @masks(%d: index, %n: index, %changed: tensor<64xi1, #row>, %x: tensor<64x64xf32, #acc>) {
  // CHECK: tile.band upper(%{{.*}}) : tensor<64x64xi1, #[[ACC]]>
  %a = tile.band upper(%d) : tensor<64x64xi1, #acc>
  // CHECK: tile.band lower(%{{.*}}) upper(%{{.*}}) columns(%{{.*}}) : tensor<64x64xi1, #[[ACC]]>
  %b = tile.band lower(%d) upper(%d) columns(%n) : tensor<64x64xi1, #acc>
  // CHECK: tile.warp_any %{{.*}} : tensor<64xi1, #[[ROW]]>
  %some = tile.warp_any %changed : tensor<64xi1, #row>
  %y = scf.if %some -> tensor<64x64xf32, #acc> {
    %twice = arith.addf %x, %x : tensor<64x64xf32, #acc>
    scf.yield %twice : tensor<64x64xf32, #acc>
  } else {
    scf.yield %x : tensor<64x64xf32, #acc>
  }
  return
}
