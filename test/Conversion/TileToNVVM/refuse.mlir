// RUN: linattn-opt --convert-tile-to-nvvm=chip=sm_80 --split-input-file --verify-diagnostics %s

gpu.module @offset {
  gpu.func @offset() kernel attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{'tile.alloc' op has no offset in the arena; run --tile-plan-shared-memory first}}
    %s = tile.alloc : !tile.smem<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @warps {
  gpu.func @warps() kernel attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{'arith.constant' op layouts are for the 1 warps of the kernel, got 'tensor<32x16xf32, #tile.acc<warps = 2>>'}}
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #tile.acc<warps = 2>>
    gpu.return
  }
}

// -----

gpu.module @thread {
  gpu.func @thread() kernel attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{'gpu.thread_id' op has no translation in a kernel on tiles}}
    %t = gpu.thread_id x
    gpu.return
  }
}

// -----

gpu.module @constants {
  gpu.func @constants() kernel attributes {tile.warps = 1 : i64} {
    // expected-error @+1 {{'arith.constant' op constants in registers have one value, got dense<[1.000000e+00, 2.000000e+00]>}}
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, #tile.strided<vec = 1>>
    gpu.return
  }
}

// -----

gpu.module @rows {
  // expected-error @+1 {{'gpu.func' op tile.warps is 1, 2, 4, 8, 16 or 32, got 3 : i64}}
  gpu.func @rows() kernel attributes {tile.warps = 3 : i64} {
    gpu.return
  }
}

// -----

gpu.module @argument {
  // expected-error @+1 {{'gpu.func' op argument 0 is a memref, an index or a scalar, got 'tensor<64xf32, #tile.strided<vec = 2>>'}}
  gpu.func @argument(%x: tensor<64xf32, #tile.strided<vec = 2>>) kernel attributes {tile.warps = 1 : i64} {
    gpu.return
  }
}
