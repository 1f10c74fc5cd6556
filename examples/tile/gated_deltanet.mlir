// Gated DeltaNet, forward, written by hand as tiles: a block of 4 warps runs all
// chunks of 64 tokens of one head for 64 of its 128 value columns. The state
// stays in registers, transposed, and is the operand a of its products:
//
//   G_t = g_0 + .. + g_t,   A_ts = -beta_t e^(G_t - G_s) k_t.k_s (s < t)
//   T = (I - A)^-1,        P_ts = K^-1/2 e^(G_t - G_s) q_t.k_s (s <= t)
//   U^T = (beta (V^T - e^G (S^T K^T))) T^T
//   O^T = K^-1/2 e^G (S^T Q^T) + U^T P^T
//   S^T = e^G_63 S^T + (e^(G_63 - G) U^T) K
#acc = #tile.acc<warps = 4>
#row = #tile.row<warps = 4>
#col = #tile.col
#lanes = #tile.strided<vec = 2>
!keys = !tile.smem<64x128xbf16, swizzle = 128>
!keysT = !tile.smem<128x64xbf16, swizzle = 128, transposed>
!square = !tile.smem<64x64xbf16, swizzle = 128>
!squareT = !tile.smem<64x64xbf16, swizzle = 128, transposed>
!ring = !tile.channel<2, !keys, !keys, !square>
!vector = !tile.smem<64xf32>
!state = !tile.smem<128x64xf32, swizzle = 128>
!stateT = !tile.smem<64x128xf32, swizzle = 128, transposed>

gpu.module @gated_deltanet {
  gpu.func @gated_deltanet(
      %q: memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>> {llvm.noalias, llvm.readonly},
      %k: memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>> {llvm.noalias, llvm.readonly},
      %v: memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>> {llvm.noalias, llvm.readonly},
      %g: memref<?x?x32xf32, strided<[?, ?, ?]>> {llvm.noalias, llvm.readonly},
      %beta: memref<?x?x32xf32, strided<[?, ?, ?]>> {llvm.noalias, llvm.readonly},
      %s0: memref<?x32x128x128xf32, strided<[?, ?, ?, 1]>> {llvm.noalias, llvm.readonly},
      %o: memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>> {llvm.noalias},
      %sT: memref<?x32x128x128xf32, strided<[?, ?, ?, 1]>> {llvm.noalias},
      %size: index) kernel attributes {tile.warps = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %block = gpu.block_id x
    %slice = arith.remui %block, %c2 : index
    %v0 = arith.muli %slice, %c64 : index
    %nh = arith.divui %block, %c2 : index
    %h = arith.remui %nh, %c32 : index
    %n = arith.divui %nh, %c32 : index
    %kh = arith.divui %h, %c2 : index
    %round = arith.addi %size, %c63 : index
    %chunks = arith.divui %round, %c64 : index

    %ring = tile.channel.create {offset = 0 : i64} : !ring
    %tT = tile.alloc {offset = 81920 : i64} : !square
    %tP = tile.alloc {offset = 90112 : i64} : !square
    %tO = tile.alloc {offset = 98304 : i64} : !square
    %scratch = tile.alloc {offset = 106496 : i64} : !tile.smem<20480xi8>
    %sBeta = tile.alloc {offset = 126976 : i64} : !vector
    %sRate = tile.alloc {offset = 127232 : i64} : !vector
    %sStart = tile.alloc {offset = 127488 : i64} : !vector
    %sEnd = tile.alloc {offset = 127744 : i64} : !vector
    %sHi = tile.alloc {offset = 128000 : i64} : !vector
    %sLo = tile.alloc {offset = 128256 : i64} : !vector
    %sNegBeta = tile.alloc {offset = 128512 : i64} : !vector
    %tS = tile.alloc {offset = 0 : i64} : !state
    %TT = tile.smem_view %tT transposed : !square -> !squareT
    %PT = tile.smem_view %tP transposed : !square -> !squareT
    %OT = tile.smem_view %tO transposed : !square -> !squareT
    %ST = tile.smem_view %tS transposed : !state -> !stateT

    %zero64 = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %minusInf = arith.constant dense<0xFF800000> : tensor<64x64xf32, #acc>
    %minusOne = arith.constant dense<-1.0> : tensor<64xf32, #lanes>
    %log2e = arith.constant dense<1.44269502> : tensor<64xf32, #lanes>
    %scaleVector = arith.constant dense<0.08838834764831845> : tensor<64xf32, #lanes>
    %scale = arith.constant dense<0.08838834764831845> : tensor<64x64xf32, #acc>
    %i = tile.iota axis = 0 : tensor<64x64xi32, #acc>
    %j = tile.iota axis = 1 : tensor<64x64xi32, #acc>
    %causal = arith.cmpi sge, %i, %j : tensor<64x64xi32, #acc>

    // The state in memory is [K, V]: through shared memory it is transposed.
    tile.load_async %s0[%n, %h, %c0, %v0] dims = [2, 3] into %tS
        : memref<?x32x128x128xf32, strided<[?, ?, ?, 1]>>, !state
    tile.channel.commit %ring[%c0] : !ring
    %a0, %a1, %a2 = tile.channel.wait %ring[%c0] : !ring -> !keys, !keys, !square
    tile.barrier
    %state0 = tile.local_load %ST : !stateT -> tensor<64x128xf32, #acc>
    tile.barrier

    %kr, %qr, %vr = tile.channel.acquire %ring[%c0] : !ring -> !keys, !keys, !square
    tile.load_async %k[%n, %c0, %kh, %c0] dims = [1, 3] bounds(%size, %c128) into %kr
        : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !keys
    tile.load_async %q[%n, %c0, %kh, %c0] dims = [1, 3] bounds(%size, %c128) into %qr
        : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !keys
    tile.load_async %v[%n, %c0, %h, %v0] dims = [1, 3] bounds(%size, %c64) into %vr
        : memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>, !square
    tile.channel.commit %ring[%c0] : !ring
    %g0l = tile.load %g[%n, %c0, %h] dims = [1] bounds(%size)
        : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #lanes>
    %g0 = arith.mulf %g0l, %log2e : tensor<64xf32, #lanes>
    %b0 = tile.load %beta[%n, %c0, %h] dims = [1] bounds(%size)
        : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #lanes>

    %final, %gEnd, %bEnd = scf.for %chunk = %c0 to %chunks step %c1
        iter_args(%S = %state0, %gt = %g0, %bt = %b0)
        -> (tensor<64x128xf32, #acc>, tensor<64xf32, #lanes>, tensor<64xf32, #lanes>) {
      // Decays: sums of g log2(e), of which powers of two are one instruction.
      %hi, %lo = tile.scan %gt : tensor<64xf32, #lanes>
      %hiEnd = tensor.extract %hi[%c63] : tensor<64xf32, #lanes>
      %loEnd = tensor.extract %lo[%c63] : tensor<64xf32, #lanes>
      %sum = arith.addf %hi, %lo : tensor<64xf32, #lanes>
      %fromStart = math.exp2 %sum fastmath<afn> : tensor<64xf32, #lanes>
      %hiEnds = tensor.splat %hiEnd : tensor<64xf32, #lanes>
      %loEnds = tensor.splat %loEnd : tensor<64xf32, #lanes>
      %dHi = arith.subf %hiEnds, %hi : tensor<64xf32, #lanes>
      %dLo = arith.subf %loEnds, %lo : tensor<64xf32, #lanes>
      %toEndSum = arith.addf %dHi, %dLo : tensor<64xf32, #lanes>
      %toEnd = math.exp2 %toEndSum fastmath<afn> : tensor<64xf32, #lanes>
      %whole = arith.addf %hiEnd, %loEnd : f32
      %decay = math.exp2 %whole fastmath<afn> : f32
      %negBeta = arith.mulf %bt, %minusOne : tensor<64xf32, #lanes>
      %negRate = arith.mulf %negBeta, %fromStart : tensor<64xf32, #lanes>
      %start = arith.mulf %fromStart, %scaleVector : tensor<64xf32, #lanes>
      tile.local_store %bt, %sBeta : tensor<64xf32, #lanes>, !vector
      tile.local_store %negRate, %sRate : tensor<64xf32, #lanes>, !vector
      tile.local_store %start, %sStart : tensor<64xf32, #lanes>, !vector
      tile.local_store %toEnd, %sEnd : tensor<64xf32, #lanes>, !vector
      tile.local_store %hi, %sHi : tensor<64xf32, #lanes>, !vector
      tile.local_store %lo, %sLo : tensor<64xf32, #lanes>, !vector
      tile.local_store %negBeta, %sNegBeta : tensor<64xf32, #lanes>, !vector

      %tK, %tQ, %tV = tile.channel.wait %ring[%chunk] : !ring -> !keys, !keys, !square
      tile.barrier
      // The next chunk.
      %next = arith.addi %chunk, %c1 : index
      %t1 = arith.muli %next, %c64 : index
      %rows1 = arith.subi %size, %t1 : index
      %k1, %q1, %v1 = tile.channel.acquire %ring[%next] : !ring -> !keys, !keys, !square
      tile.load_async %k[%n, %t1, %kh, %c0] dims = [1, 3] bounds(%rows1, %c128) into %k1
          : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !keys
      tile.load_async %q[%n, %t1, %kh, %c0] dims = [1, 3] bounds(%rows1, %c128) into %q1
          : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !keys
      tile.load_async %v[%n, %t1, %h, %v0] dims = [1, 3] bounds(%rows1, %c64) into %v1
          : memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>, !square
      tile.channel.commit %ring[%next] : !ring
      %g1l = tile.load %g[%n, %t1, %h] dims = [1] bounds(%rows1)
          : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #lanes>
      %b1 = tile.load %beta[%n, %t1, %h] dims = [1] bounds(%rows1)
          : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #lanes>

      // All products with K^T, which share its loads.
      %KT = tile.smem_view %tK transposed : !keys -> !keysT
      %QT = tile.smem_view %tQ transposed : !keys -> !keysT
      %VT = tile.smem_view %tV transposed : !square -> !squareT
      %kk = tile.mma %tK, %KT, %zero64 : !keys, !keysT, tensor<64x64xf32, #acc>
      %qk = tile.mma %tQ, %KT, %zero64 : !keys, !keysT, tensor<64x64xf32, #acc>


      // P and A; e^(G_t - G_s) is 0 for s > t.
      %hiR = tile.local_load %sHi : !vector -> tensor<64xf32, #row>
      %loR = tile.local_load %sLo : !vector -> tensor<64xf32, #row>
      %hiC = tile.local_load %sHi : !vector -> tensor<64xf32, #col>
      %loC = tile.local_load %sLo : !vector -> tensor<64xf32, #col>
      %hiRows = tile.splat_row %hiR : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      %hiCols = tile.splat_col %hiC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %loRows = tile.splat_row %loR : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      %loCols = tile.splat_col %loC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %dh = arith.subf %hiRows, %hiCols : tensor<64x64xf32, #acc>
      %dl = arith.subf %loRows, %loCols : tensor<64x64xf32, #acc>
      %d = arith.addf %dh, %dl : tensor<64x64xf32, #acc>
      %dMask = arith.select %causal, %d, %minusInf : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
      %gamma = math.exp2 %dMask fastmath<afn> : tensor<64x64xf32, #acc>
      %qg = arith.mulf %qk, %gamma : tensor<64x64xf32, #acc>
      %P = arith.mulf %qg, %scale : tensor<64x64xf32, #acc>
      %Pb = arith.truncf %P : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      tile.local_store %Pb, %tP : tensor<64x64xbf16, #acc>, !square
      %negBetaR = tile.local_load %sNegBeta : !vector -> tensor<64xf32, #row>
      %negBetas = tile.splat_row %negBetaR : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      %kg = arith.mulf %kk, %gamma : tensor<64x64xf32, #acc>
      %A = arith.mulf %kg, %negBetas : tensor<64x64xf32, #acc>
      %T = tile.unit_lower_inverse %A scratch(%scratch) : tensor<64x64xf32, #acc>, !tile.smem<20480xi8>
      %Tb = arith.truncf %T : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      tile.local_store %Tb, %tT : tensor<64x64xbf16, #acc>, !square
      tile.barrier

      // The chain.
      %Sb = arith.truncf %S : tensor<64x128xf32, #acc> to tensor<64x128xbf16, #acc>
      %R = tile.mma %Sb, %KT, %zero64 : tensor<64x128xbf16, #acc>, !keysT, tensor<64x64xf32, #acc>
      // X, the right side of the solve. Vectors come through shared memory, without
      // shuffles.
      %betaC = tile.local_load %sBeta : !vector -> tensor<64xf32, #col>
      %rateC = tile.local_load %sRate : !vector -> tensor<64xf32, #col>
      %Vb = tile.local_load %VT : !squareT -> tensor<64x64xbf16, #acc>
      %Vf = arith.extf %Vb : tensor<64x64xbf16, #acc> to tensor<64x64xf32, #acc>
      %betas = tile.splat_col %betaC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %negRates = tile.splat_col %rateC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %bv = arith.mulf %betas, %Vf : tensor<64x64xf32, #acc>
      %X = math.fma %negRates, %R, %bv : tensor<64x64xf32, #acc>
      %Xb = arith.truncf %X : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %O1 = tile.mma %Sb, %QT, %zero64 : tensor<64x128xbf16, #acc>, !keysT, tensor<64x64xf32, #acc>
      %startC = tile.local_load %sStart : !vector -> tensor<64xf32, #col>
      %starts = tile.splat_col %startC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %O3 = arith.mulf %O1, %starts : tensor<64x64xf32, #acc>
      %U = tile.mma %Xb, %TT, %zero64 : tensor<64x64xbf16, #acc>, !squareT, tensor<64x64xf32, #acc>
      %Ub = arith.truncf %U : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %O4 = tile.mma %Ub, %PT, %O3 : tensor<64x64xbf16, #acc>, !squareT, tensor<64x64xf32, #acc>
      %endC = tile.local_load %sEnd : !vector -> tensor<64xf32, #col>
      %ends = tile.splat_col %endC : tensor<64xf32, #col> -> tensor<64x64xf32, #acc>
      %W = arith.mulf %U, %ends : tensor<64x64xf32, #acc>
      %Wb = arith.truncf %W : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      %decays = tensor.splat %decay : tensor<64x128xf32, #acc>
      %S1 = arith.mulf %S, %decays : tensor<64x128xf32, #acc>
      %S2 = tile.mma %Wb, %tK, %S1 : tensor<64x64xbf16, #acc>, !keys, tensor<64x128xf32, #acc>
      %Ob = arith.truncf %O4 : tensor<64x64xf32, #acc> to tensor<64x64xbf16, #acc>
      tile.local_store %Ob, %OT : tensor<64x64xbf16, #acc>, !squareT
      tile.barrier
      %t0 = arith.muli %chunk, %c64 : index
      %rows0 = arith.subi %size, %t0 : index
      tile.store %tO, %o[%n, %t0, %h, %v0] dims = [1, 3] bounds(%rows0, %c64)
          : !square, memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>
      tile.channel.release %ring[%chunk] : !ring
      %g1 = arith.mulf %g1l, %log2e : tensor<64xf32, #lanes>
      scf.yield %S2, %g1, %b1 : tensor<64x128xf32, #acc>, tensor<64xf32, #lanes>, tensor<64xf32, #lanes>
    }
    %e0, %e1, %e2 = tile.channel.wait %ring[%chunks] : !ring -> !keys, !keys, !square
    tile.barrier
    tile.local_store %final, %ST : tensor<64x128xf32, #acc>, !stateT
    tile.barrier
    tile.store %tS, %sT[%n, %h, %c0, %v0] dims = [2, 3]
        : !state, memref<?x32x128x128xf32, strided<[?, ?, ?, 1]>>
    gpu.return
  }
}
