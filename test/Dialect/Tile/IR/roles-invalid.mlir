// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// One fault for each rule of tile.roles; the twins without are in roles.mlir.

// roles_c1
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      // expected-error @below {{'tile.role' op roles have different names, got @w twice}}
      tile.role @w warps(4) regs(24) {
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c2
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          // expected-error @below {{'tile.local_store' op only channels, scalars and memrefs cross into a role, got 'tensor<64x64xbf16, #tile.acc<warps = 4>>'}}
          tile.local_store %x, %a : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c3
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
          // expected-error @below {{'tile.iota' op a fragment in role @r is of its 4 warps, got 'tensor<64x64xi32, #tile.acc<warps = 8>>'}}
          %y = tile.iota axis = 0 : tensor<64x64xi32, #tile.acc<warps = 8>>
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c4: registers
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    // expected-error @below {{'tile.roles' op the roles have at most 65536 registers, got 71680 in 4 warpgroups}}
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @s warps(4) regs(256) {
      }
      tile.role @t warps(4) regs(256) {
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c4: warps
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    // expected-error @below {{'tile.roles' op a block has at most 32 warps, got 40}}
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @s warps(32) regs(24) {
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c4: a warpgroup
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @s warps(1) regs(24) {
      }
      // expected-error @below {{'tile.role' op shares a warpgroup with a role of 24 registers and has as many, got 32}}
      tile.role @t warps(1) regs(32) {
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c5
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    %big = tile.alloc : !tile.smem<221184xi8>
    // expected-error @below {{'tile.roles' op channels and tiles have at most 232448 bytes, got 237568}}
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c6: a step
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-error @below {{'tile.channel.acquire' op the step is a function of the number of chunks, of loops and of the rank of the block alone}}
          %a = tile.channel.acquire %ch[%k] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c6: a loop, so that trip counts are equal
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        // expected-error @below {{'scf.for' op the range is a function of the number of chunks, of loops and of the rank of the block alone}}
        scf.for %i = %c0 to %k step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: a trip count
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = arith.subi %n, %c1 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op role @w in block 0 of 2 is to acquire step 0 of 1 chunks, got none}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %m step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: twice
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
          // expected-error @below {{'tile.channel.commit' op role @w in block 0 of 2 is to commit no further step of 1 chunks, got step 0}}
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: not released in order
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op role @w acquires a step before it commits it, got the commit of step 0 first}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          tile.channel.commit %ch[%i] : !ch
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: two writers
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op is filled by one role unless parts name several, got @w and @v}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @v warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: a part that fills nothing
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op part @r is a role that fills the channel}}
    %ch = tile.channel.create parts [@w, @r] : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: a writer that is no part
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op is filled by its parts alone, got @v}}
    %ch = tile.channel.create parts [@w] : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @v warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: the other block
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create every(2) : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-error @below {{'tile.channel.acquire' op role @w in block 1 of 2 is to acquire no further step of 1 chunks, got step 0}}
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: a period that is not the cluster
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op the period is the number of blocks of a cluster, 2, got 4}}
    %ch = tile.channel.create every(4) : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c7: nobody fills
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op is filled by a role}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c8: nobody releases
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op is released by a role}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c8: looks, and nobody knows when it is done
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @look warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-error @below {{'tile.channel.wait' op role @look does not release step 0, nor commit what those who release it wait for before}}
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c8: released before it was waited for
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op role @r waits for a step before it releases it, got the release of step 0 first}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          tile.channel.release %ch[%i] : !ch
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c8: looked at after the release
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
          // expected-error @below {{'tile.channel.stage' op role @r has not waited for step 0, or has released it}}
          %b = tile.channel.stage %ch[%i] : !ch -> !tile
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c9
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    // expected-error @below {{'tile.channel.create' op has more stages than role @w is ahead, got 2 for ahead(2)}}
    %ch = tile.channel.create : !ch
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) ahead(2) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c10: each waits for the other first
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!ch = !tile.channel<2, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !ch
    %back = tile.channel.create : !ch
    // expected-error @below {{'tile.roles' op the roles wait for each other for ever, with 1 chunks}}
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-note @below {{in block 0 is to wait for step 0}}
          // expected-note @below {{in block 1 is to wait for step 0}}
          %y = tile.channel.wait %back[%i] : !ch -> !tile
          tile.channel.release %back[%i] : !ch
          %a = tile.channel.acquire %ch[%i] : !ch -> !tile
          tile.channel.commit %ch[%i] : !ch
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-note @below {{in block 0 is to wait for step 0}}
          // expected-note @below {{in block 1 is to wait for step 0}}
          %a = tile.channel.wait %ch[%i] : !ch -> !tile
          tile.channel.release %ch[%i] : !ch
          %z = tile.channel.acquire %back[%i] : !ch -> !tile
          tile.channel.commit %back[%i] : !ch
        }
      }
    }
    gpu.return
  }
}

// -----

// roles_c10: one stage is too few
!tile = !tile.smem<64x64xbf16, swizzle = 128>
!one = !tile.channel<1, !tile>
gpu.module @m {
  gpu.func @f(%n: index, %k: index, %x: tensor<64x64xbf16, #tile.acc<warps = 4>>) kernel attributes {tile.cluster = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = gpu.cluster_block_id x
    %ch = tile.channel.create : !one
    // expected-error @below {{'tile.roles' op the roles wait for each other for ever, with 2 chunks}}
    tile.roles chunks(%n) {
      tile.role @w warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-note @below {{in block 0 is to acquire step 1}}
          // expected-note @below {{in block 1 is to acquire step 1}}
          %a = tile.channel.acquire %ch[%i] : !one -> !tile
          tile.channel.commit %ch[%i] : !one
        }
      }
      tile.role @r warps(4) regs(24) {
        scf.for %i = %c0 to %n step %c2 {
          // Both steps of a pair before one is released.
          %i1 = arith.addi %i, %c1 : index
          %a = tile.channel.wait %ch[%i] : !one -> !tile
          %more = arith.cmpi slt, %i1, %n : index
          scf.if %more {
            // expected-note @below {{in block 0 is to wait for step 1}}
            // expected-note @below {{in block 1 is to wait for step 1}}
            %b = tile.channel.wait %ch[%i1] : !one -> !tile
          }
          tile.channel.release %ch[%i] : !one
          scf.if %more {
            tile.channel.release %ch[%i1] : !one
          }
        }
      }
    }
    gpu.return
  }
}
