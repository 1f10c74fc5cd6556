// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// Wrong uses of the tile dialect's products, inverses and scans of rows, with the
// rule that they break.

// mma_c1
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xbf16, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op the accumulator is f32 in layout acc, got 'tensor<64x64xbf16, #tile.acc<warps = 4>>'}}
  %d = tile.mma %a, %b, %c : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xbf16, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c1
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<32x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op multiplies [M, K] by [K, N] into [M, N], got 'tensor<64x64xbf16, #tile.acc<warps = 4>>', '!tile.smem<32x64xbf16, swizzle = 128>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %d = tile.mma %a, %b, %c : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<32x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c1
func.func @f(%a: tensor<64xf32, #tile.strided<vec = 2>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op multiplies [M, K] by [K, N] into [M, N], got 'tensor<64xf32, #tile.strided<vec = 2>>', '!tile.smem<64x64xbf16, swizzle = 128>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %d = tile.mma %a, %b, %c : tensor<64xf32, #tile.strided<vec = 2>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c2
func.func @f(%a: tensor<64x64xf32, #tile.acc<warps = 4>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op a and b are both bf16, f16 or f32, got 'f32' and 'bf16'}}
  %d = tile.mma %a, %b, %c : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c2
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op terms is 1, or 3 for f32, got 3 for 'bf16'}}
  %d = tile.mma %a, %b, %c terms = 3 : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c3
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 2>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op a in registers has the layout of the accumulator, with one part of columns, got 'tensor<64x64xbf16, #tile.acc<warps = 2>>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %d = tile.mma %a, %b, %c : tensor<64x64xbf16, #tile.acc<warps = 2>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c4
func.func @f(%a: tensor<64x8xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<8x64xbf16>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op K is a multiple of 16 for 'bf16', got 8}}
  %d = tile.mma %a, %b, %c : tensor<64x8xbf16, #tile.acc<warps = 4>>, !tile.smem<8x64xbf16>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c5
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op the result of an async product is used by mma_wait or as the accumulator of one further async product of its block, got arith.addf}}
  %d = tile.mma %a, %b, %c async : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  %e = arith.addf %d, %d : tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_c5
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %b: !tile.smem<64x64xbf16, swizzle = 128>, %c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma' op the result of an async product is used by mma_wait or as the accumulator of one further async product of its block, got tile.mma}}
  %d = tile.mma %a, %b, %c async : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  %e = tile.mma %a, %b, %d : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>, tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// mma_wait_c1
func.func @f(%c: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.mma_wait' op waits for the results of async mma, got}}
  %d = tile.mma_wait %c : tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_inverse_c1
func.func @f(%a: tensor<64x64xbf16, #tile.acc<warps = 4>>, %s: !tile.smem<37120xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op the matrix is square in f32 and layout acc with one part of columns, of 16, 32, 64 or 128 rows, got 'tensor<64x64xbf16, #tile.acc<warps = 4>>'}}
  %t = tile.unit_lower_inverse %a scratch(%s) : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<37120xi8>
  return
}

// -----

// unit_lower_inverse_c1
func.func @f(%a: tensor<64x128xf32, #tile.acc<warps = 4>>, %s: !tile.smem<37120xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op the matrix is square in f32 and layout acc with one part of columns, of 16, 32, 64 or 128 rows, got 'tensor<64x128xf32, #tile.acc<warps = 4>>'}}
  %t = tile.unit_lower_inverse %a scratch(%s) : tensor<64x128xf32, #tile.acc<warps = 4>>, !tile.smem<37120xi8>
  return
}

// -----

// unit_lower_inverse_c1
func.func @f(%a: tensor<64xf32, #tile.strided<vec = 2>>, %s: !tile.smem<37120xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op the matrix is square in f32 and layout acc with one part of columns, of 16, 32, 64 or 128 rows, got 'tensor<64xf32, #tile.strided<vec = 2>>'}}
  %t = tile.unit_lower_inverse %a scratch(%s) : tensor<64xf32, #tile.strided<vec = 2>>, !tile.smem<37120xi8>
  return
}

// -----

// unit_lower_inverse_c2
func.func @f(%a: tensor<64x64xf32, #tile.acc<warps = 4>>, %s: !tile.smem<64xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op the scratch is a vector of at least 20480 i8, got '!tile.smem<64xi8>'}}
  %t = tile.unit_lower_inverse %a scratch(%s) : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64xi8>
  return
}

// -----

// unit_lower_inverse_c2
func.func @f(%a: tensor<64x64xf32, #tile.acc<warps = 4>>, %s: !tile.smem<64xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op the scratch is a vector of at least 14016 i8, got '!tile.smem<64xi8>'}}
  %t = tile.unit_lower_inverse %a scratch(%s) terms = 1 : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64xi8>
  return
}

// -----

// unit_lower_inverse_c3
func.func @f(%a: tensor<64x64xf32, #tile.acc<warps = 4>>, %s: !tile.smem<37120xi8>) {
  // expected-error @below {{'tile.unit_lower_inverse' op terms is 1 or 2, got 3}}
  %t = tile.unit_lower_inverse %a scratch(%s) terms = 3 : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<37120xi8>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%x: tensor<64x32xbf16, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op the right side is [N, C] in f32 and layout acc with one part of columns, got 'tensor<64x32xbf16, #tile.acc<warps = 4>>'}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xbf16, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xbf16, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4, columns = 2>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op the right side is [N, C] in f32 and layout acc with one part of columns, got 'tensor<64x32xf32, #tile.acc<warps = 4, columns = 2>>'}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4, columns = 2>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4, columns = 2>>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %r: tensor<32x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op rates have the type of the right side, 'tensor<64x32xf32, #tile.acc<warps = 4>>', got 'tensor<32x32xf32, #tile.acc<warps = 4>>'}}
  %u = tile.unit_lower_solve %x rates(%r : tensor<32x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op there are as many matrices as rates, at least one, got 2 and 1}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a, %a : !tile.smem<32x32xf32, swizzle = 128>, !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c2
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.unit_lower_solve' op there are as many matrices as rates, at least one, got 0 and 0}}
  %u = tile.unit_lower_solve %x rates() matrices() : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<64x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op a matrix of 32 columns of the right side is 32 x 32 in f32, not transposed, got '!tile.smem<64x32xf32, swizzle = 128>'}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<64x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c3
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128, transposed>) {
  // expected-error @below {{'tile.unit_lower_solve' op a matrix of 32 columns of the right side is 32 x 32 in f32, not transposed, got '!tile.smem<32x32xf32, swizzle = 128, transposed>'}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128, transposed>) : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c1
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %y: tensor<32x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op right sides have one type, 'tensor<64x32xf32, #tile.acc<warps = 4>>', got 'tensor<32x32xf32, #tile.acc<warps = 4>>'}}
  %u:2 = tile.unit_lower_solve %x, %y rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) rows [0] from [1] : tensor<64x32xf32, #tile.acc<warps = 4>>, tensor<32x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c4
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op there are as many rows as matrices, 1, got 0}}
  %u:2 = tile.unit_lower_solve %x, %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4>>, tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c4
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op a row is one of 2 right sides, got 2}}
  %u:2 = tile.unit_lower_solve %x, %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) rows [1] from [2] : tensor<64x32xf32, #tile.acc<warps = 4>>, tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// unit_lower_solve_c4
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %a: !tile.smem<32x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.unit_lower_solve' op there are as many rows as matrices, 1, got 2}}
  %u = tile.unit_lower_solve %x rates(%x : tensor<64x32xf32, #tile.acc<warps = 4>>) matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) rows [0, 0] from [0] : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c1
func.func @f(%x: !tile.smem<32x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op xs, y and decays are [C, K] in bf16, f16 or f32, K a multiple of 16, not transposed, got '!tile.smem<32x32xbf16, swizzle = 64>'}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [] () in bf16 : (!tile.smem<32x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c1
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op results are [C, C] in f32 and layout acc with one part of columns and C / 16 warps or more, got 'tensor<64x64xf32, #tile.acc<warps = 2>>'}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [] () in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 2>>
  return
}

// -----

// decay_mma_c2
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op positions are 0 or 1, got 2}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 2 inclusive = [false] targets [] () in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c2
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op has a result, a position and a flag for each x, got 1, 2 and 1 for 1}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1, 1] y_position = 1 inclusive = [false] targets [] () in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c3
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op operands are rounded to bf16, f16 or f32, got 'f64'}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [] () in f64 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c4
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>) {
  // expected-error @below {{'tile.decay_mma' op has a number of rows for each target, got 1 for 0}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [0] () in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c4
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>, %t: !tile.smem<64x32xbf16, swizzle = 64>) {
  // expected-error @below {{'tile.decay_mma' op targets are of an x or, after them, of y, got 2}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [2] (%t : !tile.smem<64x32xbf16, swizzle = 64>) in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c4
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<12288xi8>, %t: !tile.smem<64x32xf32, swizzle = 128>) {
  // expected-error @below {{'tile.decay_mma' op targets are [C, K] in the element type of the operands, not transposed, got '!tile.smem<64x32xf32, swizzle = 128>'}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [0] (%t : !tile.smem<64x32xf32, swizzle = 128>) in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<12288xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// decay_mma_c5
func.func @f(%x: !tile.smem<64x32xbf16, swizzle = 64>, %y: !tile.smem<64x32xbf16, swizzle = 64>, %g: !tile.smem<64x32xf32, swizzle = 128>, %s: !tile.smem<64xi8>) {
  // expected-error @below {{'tile.decay_mma' op the scratch is a vector of at least 12288 i8, got '!tile.smem<64xi8>'}}
  %p = tile.decay_mma (%x), %y decay(%g) scratch(%s) x_positions = [1] y_position = 1 inclusive = [false] targets [] () in bf16 : (!tile.smem<64x32xbf16, swizzle = 64>), !tile.smem<64x32xbf16, swizzle = 64>, !tile.smem<64x32xf32, swizzle = 128>, !tile.smem<64xi8> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// scan_rows_c1
func.func @f(%x: tensor<64x32xbf16, #tile.acc<warps = 4>>, %s: !tile.smem<4x32xf32>) {
  // expected-error @below {{'tile.scan_rows' op the source is f32 in layout acc with one part of columns, got 'tensor<64x32xbf16, #tile.acc<warps = 4>>'}}
  %y = tile.scan_rows %x scratch(%s : !tile.smem<4x32xf32>) : tensor<64x32xbf16, #tile.acc<warps = 4>>
  return
}

// -----

// scan_rows_c2
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.scan_rows' op scratch is given for more than 16 rows, and only then, got 'tensor<64x32xf32, #tile.acc<warps = 4>>'}}
  %y = tile.scan_rows %x : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}

// -----

// scan_rows_c2
func.func @f(%x: tensor<64x32xf32, #tile.acc<warps = 4>>, %s: !tile.smem<2x32xf32>) {
  // expected-error @below {{'tile.scan_rows' op the scratch has a row for each 16 rows, got '!tile.smem<2x32xf32>'}}
  %y = tile.scan_rows %x scratch(%s : !tile.smem<2x32xf32>) : tensor<64x32xf32, #tile.acc<warps = 4>>
  return
}
