// Gated DeltaNet forward on Hopper, the measured schedule (design: cluster): two
// blocks share a value head. Block r owns the value columns 64 r .. 64 r + 63, and
// makes T and P of the chunks n = r mod 2 for both. Per chunk of 64 tokens:
//
//   @load   K, Q (half by each block, to both), its half of V
//   @A      T = (I + beta K K^T o Gamma)^-1 diag(beta)       every second chunk
//   @B      P = scale Q K^T o Gamma, the decays, and the tables of its next chunk
//   @chain  U = (V - e^G K S) T^T, O = scale e^G Q S + P U, S = e^Gend S + K^T U
//   @store  O
//
// All of @chain is transposed (value columns are rows), so that its products take A
// from registers. No role is lowered yet; the verifier proves the channels.

#acc = #tile.acc<warps = 4>
#row = #tile.row<warps = 4>
#lanes = #tile.strided<vec = 2>
!wide = !tile.smem<64x128xbf16, swizzle = 128>
!wideT = !tile.smem<128x64xbf16, swizzle = 128, transposed>
!half = !tile.smem<64x64xbf16, swizzle = 128>
!halfT = !tile.smem<64x64xbf16, swizzle = 128, transposed>
!vec = !tile.smem<64xf32>
!load = !tile.channel<4, !wide, !wide, !half>
!aux = !tile.channel<2, !half, !half, !vec, !vec, !vec, !vec>
!tables = !tile.channel<2, !vec, !vec>
!out = !tile.channel<2, !half>
!keys = memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>
!values = memref<?x?x64x128xbf16, strided<[?, ?, ?, 1]>>
!gates = memref<?x?x64xf32, strided<[?, ?, ?]>>
!states = memref<?x64x128x128xf32, strided<[?, ?, ?, 1]>>
!m = tensor<64x64xf32, #acc>
!mb = tensor<64x64xbf16, #acc>
!s = tensor<64x128xf32, #acc>
!r = tensor<64xf32, #row>
!c = tensor<64xf32, #tile.col>
!l = tensor<64xf32, #lanes>

gpu.module @gated_deltanet {
  gpu.func @gated_deltanet(%q: !keys, %k: !keys, %v: !values, %g: !gates, %beta: !gates,
                           %s0: !states, %o: !values, %sT: !states, %T: index) kernel
      attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %scale = arith.constant 0.0883883461 : f32
    %log2e = arith.constant 1.44269502 : f32
    %masked = arith.constant -1.280000e+02 : f32
    %minus = arith.constant -1.0 : f32
    %rank = gpu.cluster_block_id x
    %bx = gpu.block_id x
    %b = gpu.block_id y
    %h = arith.divui %bx, %c2 : index
    %hk = arith.divui %h, %c4 : index
    %v0 = arith.muli %rank, %c64 : index
    %T63 = arith.addi %T, %c63 : index
    %n = arith.divui %T63, %c64 : index

    %load = tile.channel.create : !load
    %aux = tile.channel.create every(2) parts [@A, @B] : !aux
    %tables = tile.channel.create own(2) : !tables
    %out = tile.channel.create : !out

    tile.roles chunks(%n) {
      tile.role @A warps(4) regs(120) {
        %scratchA = tile.alloc : !tile.smem<14016xi8>
        %zero = arith.constant dense<0.0> : !m
        %i0 = tile.iota axis = 0 : tensor<64x64xi32, #acc>
        %i1 = tile.iota axis = 1 : tensor<64x64xi32, #acc>
        %strict = arith.cmpi sgt, %i0, %i1 : tensor<64x64xi32, #acc>
        %maskM = tensor.splat %masked : !m
        %minusR = tensor.splat %minus : !r
        scf.for %i = %rank to %n step %c2 {
          %kt, %qt, %vt = tile.channel.wait %load[%i] : !load -> !wide, !wide, !half
          %ktT = tile.smem_view %kt transposed : !wide -> !wideT
          %kk0 = tile.mma %kt, %ktT, %zero async : !wide, !wideT, !m
          %gt, %bt = tile.channel.wait %tables[%i] : !tables -> !vec, !vec
          %gr = tile.local_load %gt : !vec -> !r
          %gc = tile.local_load %gt : !vec -> !c
          %br = tile.local_load %bt : !vec -> !r
          %bc = tile.local_load %bt : !vec -> !c
          tile.channel.release %tables[%i] : !tables
          %gi = tile.splat_row %gr : !r -> !m
          %gj = tile.splat_col %gc : !c -> !m
          %d = arith.subf %gi, %gj : !m
          %dm = arith.select %strict, %d, %maskM : tensor<64x64xi1, #acc>, !m
          %gamma = math.exp2 %dm fastmath<afn> : !m
          %nbr = arith.mulf %br, %minusR : !r
          %nb = tile.splat_row %nbr : !r -> !m
          %gb = arith.mulf %gamma, %nb : !m
          %kk = tile.mma_wait %kk0 : !m
          %a = arith.mulf %kk, %gb : !m
          %t = tile.unit_lower_inverse %a scratch(%scratchA) terms = 1 : !m, !tile.smem<14016xi8>
          %bm = tile.splat_col %bc : !c -> !m
          %tb = arith.mulf %t, %bm : !m
          %tm = arith.truncf %tb : !m to !mb
          %at, %ap, %x0, %x1, %x2, %x3 = tile.channel.acquire %aux[%i] : !aux -> !half, !half, !vec, !vec, !vec, !vec
          tile.local_store %tm, %at : !mb, !half
          tile.channel.commit %aux[%i] : !aux
        }
      }

      tile.role @B warps(4) regs(120) ahead(1) {
        %zero = arith.constant dense<0.0> : !m
        %i0 = tile.iota axis = 0 : tensor<64x64xi32, #acc>
        %i1 = tile.iota axis = 1 : tensor<64x64xi32, #acc>
        %lower = arith.cmpi sge, %i0, %i1 : tensor<64x64xi32, #acc>
        %maskM = tensor.splat %masked : !m
        %scaleM = tensor.splat %scale : !m
        %scaleR = tensor.splat %scale : !r
        %log2eL = tensor.splat %log2e : !l
        %any = arith.cmpi slt, %rank, %n : index
        scf.if %any {
          %t0 = arith.muli %rank, %c64 : index
          %rows = arith.subi %T, %t0 : index
          %gl = tile.load %g[%b, %t0, %h] dims = [1] bounds(%rows) : !gates -> !l
          %bl = tile.load %beta[%b, %t0, %h] dims = [1] bounds(%rows) : !gates -> !l
          %g2 = arith.mulf %gl, %log2eL : !l
          %sum, %error = tile.scan %g2 : !l
          %gt, %bt = tile.channel.acquire %tables[%rank] : !tables -> !vec, !vec
          tile.local_store %sum, %gt : !l, !vec
          tile.local_store %bl, %bt : !l, !vec
          tile.channel.commit %tables[%rank] : !tables
        }
        scf.for %i = %rank to %n step %c2 {
          %kt, %qt, %vt = tile.channel.wait %load[%i] : !load -> !wide, !wide, !half
          %ktT = tile.smem_view %kt transposed : !wide -> !wideT
          %qk0 = tile.mma %qt, %ktT, %zero async : !wide, !wideT, !m
          %gt, %bt = tile.channel.wait %tables[%i] : !tables -> !vec, !vec
          %gr = tile.local_load %gt : !vec -> !r
          %gc = tile.local_load %gt : !vec -> !c
          tile.channel.release %tables[%i] : !tables
          %gi = tile.splat_row %gr : !r -> !m
          %gj = tile.splat_col %gc : !c -> !m
          %d = arith.subf %gi, %gj : !m
          %dm = arith.select %lower, %d, %maskM : tensor<64x64xi1, #acc>, !m
          %gamma = math.exp2 %dm fastmath<afn> : !m
          %gs = arith.mulf %gamma, %scaleM : !m
          // Log decays only fall: the last sum is the least.
          %end = tile.reduce min %gj axis = 1 : !m -> !r
          %eg = math.exp2 %gr fastmath<afn> : !r
          %seg = arith.mulf %eg, %scaleR : !r
          %rest = arith.subf %end, %gr : !r
          %dec = math.exp2 %rest fastmath<afn> : !r
          %eend = math.exp2 %end fastmath<afn> : !r
          %qk = tile.mma_wait %qk0 : !m
          %pf = arith.mulf %qk, %gs : !m
          %p = arith.truncf %pf : !m to !mb
          %at, %ap, %x0, %x1, %x2, %x3 = tile.channel.acquire %aux[%i] : !aux -> !half, !half, !vec, !vec, !vec, !vec
          tile.local_store %p, %ap : !mb, !half
          tile.local_store %eg, %x0 : !r, !vec
          tile.local_store %seg, %x1 : !r, !vec
          tile.local_store %dec, %x2 : !r, !vec
          tile.local_store %eend, %x3 : !r, !vec
          tile.channel.commit %aux[%i] : !aux
          %next = arith.addi %i, %c2 : index
          %more = arith.cmpi slt, %next, %n : index
          scf.if %more {
            %t0 = arith.muli %next, %c64 : index
            %rows = arith.subi %T, %t0 : index
            %gl = tile.load %g[%b, %t0, %h] dims = [1] bounds(%rows) : !gates -> !l
            %bl = tile.load %beta[%b, %t0, %h] dims = [1] bounds(%rows) : !gates -> !l
            %g2 = arith.mulf %gl, %log2eL : !l
            %sum, %error = tile.scan %g2 : !l
            %gn, %bn = tile.channel.acquire %tables[%next] : !tables -> !vec, !vec
            tile.local_store %sum, %gn : !l, !vec
            tile.local_store %bl, %bn : !l, !vec
            tile.channel.commit %tables[%next] : !tables
          }
        }
      }

      tile.role @chain warps(4) regs(248) {
        %zero = arith.constant dense<0.0> : !m
        %first = tile.load %s0[%b, %h, %c0, %v0] dims = [3, 2] : !states -> !s
        %any = arith.cmpi slt, %c0, %n : index
        %r0 = scf.if %any -> !m {
          %kt, %qt, %vt = tile.channel.wait %load[%c0] : !load -> !wide, !wide, !half
          %ktT = tile.smem_view %kt transposed : !wide -> !wideT
          %sb = arith.truncf %first : !s to tensor<64x128xbf16, #acc>
          %r = tile.mma %sb, %ktT, %zero : tensor<64x128xbf16, #acc>, !wideT, !m
          scf.yield %r : !m
        } else {
          scf.yield %zero : !m
        }
        // r = S K^T of this chunk. A product of the k-steps of which some are issued
        // later is one product here.
        %last, %unused = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first, %r = %r0) -> (!s, !m) {
          %kt, %qt, %vt = tile.channel.stage %load[%i] : !load -> !wide, !wide, !half
          // 1
          %sb = arith.truncf %s : !s to tensor<64x128xbf16, #acc>
          %qtT = tile.smem_view %qt transposed : !wide -> !wideT
          %o1 = tile.mma %sb, %qtT, %zero async : tensor<64x128xbf16, #acc>, !wideT, !m
          // 2
          %at, %ap, %x0, %x1, %x2, %x3 = tile.channel.wait %aux[%i] : !aux -> !half, !half, !vec, !vec, !vec, !vec
          %vtT = tile.smem_view %vt transposed : !half -> !halfT
          %vb = tile.local_load %vtT : !halfT -> !mb
          %vf = arith.extf %vb : !mb to !m
          %eg = tile.local_load %x0 : !vec -> !c
          %egm = tile.splat_col %eg : !c -> !m
          %er = arith.mulf %egm, %r : !m
          %rf = arith.subf %vf, %er : !m
          %rb = arith.truncf %rf : !m to !mb
          %atT = tile.smem_view %at transposed : !half -> !halfT
          %u0 = tile.mma %rb, %atT, %zero async : !mb, !halfT, !m
          // 4
          %eend = tile.local_load %x3 : !vec -> !r
          %eendm = tile.splat_row %eend : !r -> !s
          %sd = arith.mulf %s, %eendm : !s
          %dec = tile.local_load %x2 : !vec -> !c
          // 5
          %u = tile.mma_wait %u0 : !m
          %decm = tile.splat_col %dec : !c -> !m
          %ue = arith.mulf %u, %decm : !m
          %ud = arith.truncf %ue : !m to !mb
          %s1 = tile.mma %ud, %kt, %sd async : !mb, !wide, !s
          // 6
          %ub = arith.truncf %u : !m to !mb
          %next = arith.addi %i, %c1 : index
          %more = arith.cmpi slt, %next, %n : index
          scf.if %more {
            %kn, %qn, %vn = tile.channel.wait %load[%next] : !load -> !wide, !wide, !half
          }
          %o2 = tile.mma_wait %o1 : !m
          %seg = tile.local_load %x1 : !vec -> !c
          %segm = tile.splat_col %seg : !c -> !m
          %o3 = arith.mulf %o2, %segm : !m
          %apT = tile.smem_view %ap transposed : !half -> !halfT
          %o4 = tile.mma %ub, %apT, %o3 async : !mb, !halfT, !m
          // 7: r of the next chunk; of the last one its own again, which nothing uses
          // and nobody loads over.
          %s2 = tile.mma_wait %s1 : !s
          %sb1 = arith.truncf %s2 : !s to tensor<64x128xbf16, #acc>
          %ahead = arith.select %more, %next, %i : index
          %kn, %qn, %vn = tile.channel.stage %load[%ahead] : !load -> !wide, !wide, !half
          %knT = tile.smem_view %kn transposed : !wide -> !wideT
          %r1 = tile.mma %sb1, %knT, %zero async : tensor<64x128xbf16, #acc>, !wideT, !m
          // 8
          %of = tile.mma_wait %o4 : !m
          tile.channel.release %load[%i] : !load
          tile.channel.release %aux[%i] : !aux
          %ob = arith.truncf %of : !m to !mb
          %ot = tile.channel.acquire %out[%i] : !out -> !half
          %otT = tile.smem_view %ot transposed : !half -> !halfT
          tile.local_store %ob, %otT : !mb, !halfT
          tile.channel.commit %out[%i] : !out
          // 9
          %rn = tile.mma_wait %r1 : !m
          scf.yield %s2, %rn : !s, !m
        }
        tile.store %last, %sT[%b, %h, %c0, %v0] dims = [3, 2] : !s, !states
      }

      tile.role @load warps(1) regs(24) ahead(3) {
        scf.for %i = %c0 to %n step %c1 {
          %t0 = arith.muli %i, %c64 : index
          %rows = arith.subi %T, %t0 : index
          %kt, %qt, %vt = tile.channel.acquire %load[%i] : !load -> !wide, !wide, !half
          tile.load_async %k[%b, %t0, %hk, %c0] dims = [1, 3] bounds(%rows, %c128) multicast into %kt : !keys, !wide
          tile.load_async %q[%b, %t0, %hk, %c0] dims = [1, 3] bounds(%rows, %c128) multicast into %qt : !keys, !wide
          tile.load_async %v[%b, %t0, %h, %v0] dims = [1, 3] bounds(%rows, %c64) into %vt : !values, !half
          tile.channel.commit %load[%i] : !load
        }
      }

      tile.role @store warps(1) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %t0 = arith.muli %i, %c64 : index
          %rows = arith.subi %T, %t0 : index
          %ot = tile.channel.wait %out[%i] : !out -> !half
          tile.store_async %ot, %o[%b, %t0, %h, %v0] dims = [1, 3] bounds(%rows, %c64) : !half, !values
          tile.channel.release %out[%i] : !out
        }
      }
    }
    gpu.return
  }
}
