// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// Types and layouts that do not exist.

// expected-error @below {{warps is 1, 2, 4, 8, 16 or 32, got 3}}
func.func private @f(tensor<64x64xf32, #tile.acc<warps = 3>>)

// -----

// expected-error @below {{warps is 1, 2, 4, 8, 16 or 32, got 0}}
func.func private @f(tensor<64x64xf32, #tile.acc<warps = 0>>)

// -----

// expected-error @below {{layout 'acc' is for rank 2, got rank 0}}
func.func private @f(tensor<f32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' is for rank 2, got rank 1}}
func.func private @f(tensor<64xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' is for static sizes from 1 to 4096}}
func.func private @f(tensor<64x0xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' is for static sizes from 1 to 4096}}
func.func private @f(tensor<?x8xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' is for static sizes from 1 to 4096}}
func.func private @f(tensor<64x999999999999xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' on 4 warps is for rows in tiles of 16 that divide over the warps, got 8 rows}}
func.func private @f(tensor<8x8xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' on 4 warps is for rows in tiles of 16 that divide over the warps, got 48 rows}}
func.func private @f(tensor<48x8xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'acc' is for a multiple of 8 columns, got 12}}
func.func private @f(tensor<64x12xf32, #tile.acc<warps = 4>>)

// -----

// expected-error @below {{layout 'row' is for rank 1, got rank 2}}
func.func private @f(tensor<64x64xf32, #tile.row<warps = 4>>)

// -----

// expected-error @below {{layout 'row' on 1 warps is for rows in tiles of 16 that divide over the warps, got 8 rows}}
func.func private @f(tensor<8xf32, #tile.row<warps = 1>>)

// -----

// expected-error @below {{warps is 1, 2, 4, 8, 16 or 32, got 64}}
func.func private @f(tensor<64xf32, #tile.row<warps = 64>>)

// -----

// expected-error @below {{layout 'col' is for rank 1, got rank 0}}
func.func private @f(tensor<f32, #tile.col>)

// -----

// expected-error @below {{layout 'col' is for a multiple of 8 columns, got 4}}
func.func private @f(tensor<4xf32, #tile.col>)

// -----

// expected-error @below {{layout 'col' is for static sizes from 1 to 4096}}
func.func private @f(tensor<0xf32, #tile.col>)

// -----

// expected-error @below {{vec is 1, 2, 4, 8, 16 or 32, got 5}}
func.func private @f(tensor<64xf32, #tile.strided<vec = 5>>)

// -----

// expected-error @below {{layout 'strided' with vec = 2 is for a power of 2 of at least vec elements, got 48}}
func.func private @f(tensor<48xf32, #tile.strided<vec = 2>>)

// -----

// expected-error @below {{layout 'strided' with vec = 8 is for a power of 2 of at least vec elements, got 4}}
func.func private @f(tensor<4xf32, #tile.strided<vec = 8>>)

// -----

// expected-error @below {{a tile in shared memory has rank 1 or 2, got rank 0}}
func.func private @f(!tile.smem<bf16>)

// -----

// expected-error @below {{a tile in shared memory has rank 1 or 2, got rank 3}}
func.func private @f(!tile.smem<2x2x2xbf16>)

// -----

// expected-error @below {{sizes of a tile in shared memory lie in [1, 2^18], got 0}}
func.func private @f(!tile.smem<0x64xbf16>)

// -----

// expected-error @below {{elements in shared memory have 8, 16, 32 or 64 bits, got 'index'}}
func.func private @f(!tile.smem<64xindex>)

// -----

// expected-error @below {{elements in shared memory have 8, 16, 32 or 64 bits, got 'i1'}}
func.func private @f(!tile.smem<64xi1>)

// -----

// expected-error @below {{swizzle is 0, 32, 64 or 128 bytes, got 48}}
func.func private @f(!tile.smem<64x64xbf16, swizzle = 48>)

// -----

// expected-error @below {{a vector in shared memory has no swizzle and is not transposed}}
func.func private @f(!tile.smem<64xbf16, swizzle = 128>)

// -----

// expected-error @below {{swizzle = 128 is for rows of a multiple of as many bytes, got 64}}
func.func private @f(!tile.smem<64x32xbf16, swizzle = 128>)

// -----

// expected-error @below {{a slice of 128 does not fit in 64}}
func.func private @f(!tile.smem<128x64xbf16, of 64x64>)

// -----

// expected-error @below {{a channel has 1 to 16 stages, got 0}}
func.func private @f(!tile.channel<0, !tile.smem<64xf32>>)

// -----

// expected-error @below {{a channel has 1 to 16 stages, got 17}}
func.func private @f(!tile.channel<17, !tile.smem<64xf32>>)

// -----

// expected-error @below {{a channel holds whole tiles in shared memory, got 'f32'}}
func.func private @f(!tile.channel<2, f32>)

// -----

// expected-error @below {{a channel holds whole tiles in shared memory, got}}
func.func private @f(!tile.channel<2, !tile.smem<8x8xf32, of 64x64>>)
