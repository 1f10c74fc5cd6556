// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// Wrong uses of each operation of the tile dialect, with the rule that they break.

// load_c1
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op has one index per dimension of 'memref<?x?x64xf32, strided<[?, ?, 1]>>', got 1}}
  %x = tile.load %m[%i] dims = [0] : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64xf32, #tile.strided<vec = 2>>
  return
}

// -----

// load_c2
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op dims name one dimension of the memref for each of the tile's 1, got 2}}
  %x = tile.load %m[%i, %i, %i] dims = [0, 1] : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64xf32, #tile.strided<vec = 2>>
  return
}

// -----

// load_c2
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op dims lie in [0, 3), got 3}}
  %x = tile.load %m[%i, %i, %i] dims = [3] : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64xf32, #tile.strided<vec = 2>>
  return
}

// -----

// load_c2
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op dims differ, got 2 twice}}
  %x = tile.load %m[%i, %i, %i] dims = [2, 2] : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// load_c5
func.func @group_along_first(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op groups and steps are positive, and a group of several rows runs along a dimension that is not the first, got group = 4, step = 1 and dims = [0, 2]}}
  %x = tile.load %m[%i, %i, %i] dims = [0, 2] group = 4 : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// load_c2
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op has a bound for each of the tile's 2 dimensions or none, got 1}}
  %x = tile.load %m[%i, %i, %i] dims = [1, 2] bounds(%i) : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// load_c3
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %i: index) {
  // expected-error @below {{'tile.load' op element types are equal, got 'f32' and 'bf16'}}
  %x = tile.load %m[%i, %i, %i] dims = [1, 2] : memref<?x?x64xf32, strided<[?, ?, 1]>> -> tensor<64x64xbf16, #tile.acc<warps = 4>>
  return
}

// -----

// store_c1
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %x: tensor<64xf32, #tile.strided<vec = 2>>, %i: index) {
  // expected-error @below {{'tile.store' op has one index per dimension of 'memref<?x?x64xf32, strided<[?, ?, 1]>>', got 2}}
  tile.store %x, %m[%i, %i] dims = [0] : tensor<64xf32, #tile.strided<vec = 2>>, memref<?x?x64xf32, strided<[?, ?, 1]>>
  return
}

// -----

// store_c3
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %x: !tile.smem<64x64xbf16, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.store' op element types are equal, got 'f32' and 'bf16'}}
  tile.store %x, %m[%i, %i, %i] dims = [1, 2] : !tile.smem<64x64xbf16, swizzle = 128>, memref<?x?x64xf32, strided<[?, ?, 1]>>
  return
}

// -----

// store_c4
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %x: tensor<64xf32, #tile.strided<vec = 2>>, %i: index) {
  // expected-error @below {{'tile.store' op align is 16, 8, 4 or 2, got 3}}
  tile.store %x, %m[%i, %i, %i] dims = [0] align = 3 : tensor<64xf32, #tile.strided<vec = 2>>, memref<?x?x64xf32, strided<[?, ?, 1]>>
  return
}

// -----

// load_async_c4
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %s: !tile.smem<64x64xf32, swizzle = 128, transposed>, %i: index) {
  // expected-error @below {{'tile.load_async' op copies a whole tile, got '!tile.smem<64x64xf32, swizzle = 128, transposed>'}}
  tile.load_async %m[%i, %i, %i] dims = [1, 2] into %s : memref<?x?x64xf32, strided<[?, ?, 1]>>, !tile.smem<64x64xf32, swizzle = 128, transposed>
  return
}

// -----

// load_async_c4
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %s: !tile.smem<64x64xf32, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.load_async' op the tile's last dimension runs along the memref's last one, which is contiguous, got 'memref<?x?x64xf32, strided<[?, ?, 1]>>' and dims = [0, 1]}}
  tile.load_async %m[%i, %i, %i] dims = [0, 1] into %s : memref<?x?x64xf32, strided<[?, ?, 1]>>, !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// load_async_c4
func.func @f(%m: memref<?x?xf32, strided<[1, ?]>>, %s: !tile.smem<64x64xf32, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.load_async' op the tile's last dimension runs along the memref's last one, which is contiguous, got 'memref<?x?xf32, strided<[1, ?]>>' and dims = [0, 1]}}
  tile.load_async %m[%i, %i] dims = [0, 1] into %s : memref<?x?xf32, strided<[1, ?]>>, !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// load_async_c6
func.func @load_async_from(%m: memref<?x64xf32, strided<[?, 1]>>, %s: !tile.smem<64xf32>, %i: index) {
  // expected-error @below {{'tile.load_async' op 'from' counts rows of a tile of rank 2, got '!tile.smem<64xf32>'}}
  tile.load_async %m[%i, %i] dims = [1] from(%i) into %s : memref<?x64xf32, strided<[?, 1]>>, !tile.smem<64xf32>
  return
}

// -----

// load_async: align
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %s: !tile.smem<64x64xf32, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.load_async' op align is 16, 8 or 4, got 2}}
  tile.load_async %m[%i, %i, %i] dims = [1, 2] align = 2 into %s : memref<?x?x64xf32, strided<[?, ?, 1]>>, !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// store_async_c4
func.func @f(%m: memref<?x?x64xf32, strided<[?, ?, 1]>>, %s: !tile.smem<64x64xf32, swizzle = 128, transposed>, %i: index) {
  // expected-error @below {{'tile.store_async' op copies a whole tile, got '!tile.smem<64x64xf32, swizzle = 128, transposed>'}}
  tile.store_async %s, %m[%i, %i, %i] dims = [1, 2] : !tile.smem<64x64xf32, swizzle = 128, transposed>, memref<?x?x64xf32, strided<[?, ?, 1]>>
  return
}

// -----

// store_async_c4
func.func @f(%m: memref<?x?xf32, strided<[1, ?]>>, %s: !tile.smem<64x64xf32, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.store_async' op the tile's last dimension runs along the memref's last one, which is contiguous, got 'memref<?x?xf32, strided<[1, ?]>>' and dims = [0, 1]}}
  tile.store_async %s, %m[%i, %i] dims = [0, 1] : !tile.smem<64x64xf32, swizzle = 128>, memref<?x?xf32, strided<[1, ?]>>
  return
}

// -----

// store_async_c1
func.func @f(%m: memref<?x?xf32, strided<[1, ?]>>, %s: !tile.smem<64x64xf32, swizzle = 128>, %i: index) {
  // expected-error @below {{'tile.store_async' op has one index per dimension of 'memref<?x?xf32, strided<[1, ?]>>', got 1}}
  tile.store_async %s, %m[%i] dims = [0, 1] : !tile.smem<64x64xf32, swizzle = 128>, memref<?x?xf32, strided<[1, ?]>>
  return
}

// -----

// alloc_c1
func.func @f() {
  // expected-error @below {{'tile.alloc' op makes a whole tile, got '!tile.smem<64x64xf32, swizzle = 128, transposed>'}}
  %s = tile.alloc : !tile.smem<64x64xf32, swizzle = 128, transposed>
  return
}

// -----

// alloc_c2
func.func @f() {
  // expected-error @below {{'tile.alloc' op offset is a multiple of 1024, got 512}}
  %s = tile.alloc {offset = 512} : !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// alloc_c2
func.func @f() {
  // expected-error @below {{'tile.alloc' op offset is a multiple of 16, got 8}}
  %s = tile.alloc {offset = 8} : !tile.smem<64xf32>
  return
}

// -----

// smem_view_c1
func.func @f(%s: !tile.smem<64x64xbf16, swizzle = 128>) {
  // expected-error @below {{'tile.smem_view' op the result is '!tile.smem<16x64xbf16, swizzle = 128, of 64x64>', got '!tile.smem<16x64xbf16, swizzle = 128>'}}
  %v = tile.smem_view %s : !tile.smem<64x64xbf16, swizzle = 128> -> !tile.smem<16x64xbf16, swizzle = 128>
  return
}

// -----

// smem_view_c2
func.func @f(%s: !tile.smem<64x64xbf16, swizzle = 128>) {
  // expected-error @below {{'tile.smem_view' op the slice lies inside the source, got [56, 72) of 64}}
  %v = tile.smem_view %s[56, 0] : !tile.smem<64x64xbf16, swizzle = 128> -> !tile.smem<16x64xbf16, swizzle = 128, of 64x64>
  return
}

// -----

// smem_view_c2
func.func @f(%s: !tile.smem<64x64xbf16, swizzle = 128>) {
  // expected-error @below {{'tile.smem_view' op a slice begins at a column of the storage that is a multiple of 8, got 4}}
  %v = tile.smem_view %s[0, 4] : !tile.smem<64x64xbf16, swizzle = 128> -> !tile.smem<64x16xbf16, swizzle = 128, of 64x64>
  return
}

// -----

// smem_view_c3
func.func @f(%s: !tile.smem<64xf32>) {
  // expected-error @below {{'tile.smem_view' op views are of rank 2, got '!tile.smem<64xf32>' and '!tile.smem<64xf32>'}}
  %v = tile.smem_view %s : !tile.smem<64xf32> -> !tile.smem<64xf32>
  return
}

// -----

// local_load_c1
func.func @f(%s: !tile.smem<64x64xbf16, swizzle = 128>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_load' op shapes and element types are equal, got '!tile.smem<64x64xbf16, swizzle = 128>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %x = tile.local_load %s : !tile.smem<64x64xbf16, swizzle = 128> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// local_load_c1
func.func @f(%s: !tile.smem<64x32xf32>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_load' op shapes and element types are equal, got '!tile.smem<64x32xf32>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %x = tile.local_load %s : !tile.smem<64x32xf32> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// local_load_c1
func.func @f(%s: !tile.smem<64xf32>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_load' op shapes and element types are equal, got '!tile.smem<64xf32>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %x = tile.local_load %s : !tile.smem<64xf32> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// local_store_c1
func.func @f(%s: !tile.smem<64x64xbf16, swizzle = 128>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_store' op shapes and element types are equal, got 'tensor<64x64xf32, #tile.acc<warps = 4>>' and '!tile.smem<64x64xbf16, swizzle = 128>'}}
  tile.local_store %t, %s : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// local_store_c1
func.func @f(%s: !tile.smem<64x32xf32>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_store' op shapes and element types are equal, got 'tensor<64x64xf32, #tile.acc<warps = 4>>' and '!tile.smem<64x32xf32>'}}
  tile.local_store %t, %s : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64x32xf32>
  return
}

// -----

// local_store_c1
func.func @f(%s: !tile.smem<64xf32>, %t: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.local_store' op shapes and element types are equal, got 'tensor<64x64xf32, #tile.acc<warps = 4>>' and '!tile.smem<64xf32>'}}
  tile.local_store %t, %s : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<64xf32>
  return
}

// -----

// channel_create_c1
func.func @f() {
  // expected-error @below {{'tile.channel.create' op offset is a multiple of 1024, got 128}}
  %c = tile.channel.create {offset = 128} : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
  return
}

// -----

// channel_create_c1
func.func @f() {
  // expected-error @below {{'tile.channel.create' op offset is a multiple of 128, got 64}}
  %c = tile.channel.create {offset = 64} : !tile.channel<2, !tile.smem<64xf32>>
  return
}

// -----

// channel_create_c2
func.func @f() {
  // expected-error @below {{'tile.channel.create' op the period lies in [2, 8], got 1}}
  %c = tile.channel.create every(1) : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
  return
}

// -----

// channel_create_c2
func.func @f() {
  // expected-error @below {{'tile.channel.create' op has a period of all blocks (every) or of its own (own), got both}}
  %c = tile.channel.create every(2) own(2) : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
  return
}

// -----

// channel_acquire_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.acquire' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got}}
  %t:2 = tile.channel.acquire %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>, !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// channel_acquire_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.acquire' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got '!tile.smem<64x64xf32, swizzle = 128>'}}
  %t = tile.channel.acquire %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// channel_wait_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.wait' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got}}
  %t:2 = tile.channel.wait %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>, !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// channel_wait_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.wait' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got '!tile.smem<64x64xf32, swizzle = 128>'}}
  %t = tile.channel.wait %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// channel_stage_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.stage' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got}}
  %t:2 = tile.channel.stage %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>, !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// channel_stage_c1
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.stage' op gives the 1 tiles of '!tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>', got '!tile.smem<64x64xf32, swizzle = 128>'}}
  %t = tile.channel.stage %c[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xf32, swizzle = 128>
  return
}

// -----

// channel_wait_c2
func.func @f(%c: !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>, %i: index) {
  // expected-error @below {{'tile.channel.wait' op pending is not negative, got -1}}
  %t = tile.channel.wait %c[%i] pending = -1 : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>
  return
}

// -----

// convert_c1
func.func @f(%x: tensor<64xf32, #tile.strided<vec = 2>>) {
  // expected-error @below {{'tile.convert' op shapes and element types are equal, got 'tensor<64xf32, #tile.strided<vec = 2>>' and 'tensor<32xf32, #tile.strided<vec = 2>>'}}
  %y = tile.convert %x : tensor<64xf32, #tile.strided<vec = 2>> -> tensor<32xf32, #tile.strided<vec = 2>>
  return
}

// -----

// convert_c2
func.func @f(%x: tensor<64xf32, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.convert' op no shuffle inside a warp makes 'tensor<64xf32, #tile.col>' from 'tensor<64xf32, #tile.row<warps = 4>>'; go through shared memory (local_store, local_load)}}
  %y = tile.convert %x : tensor<64xf32, #tile.row<warps = 4>> -> tensor<64xf32, #tile.col>
  return
}

// -----

// convert_c2
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.convert' op no shuffle inside a warp makes}}
  %y = tile.convert %x : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64x64xf32, #tile.acc<warps = 2>>
  return
}

// -----

// splat_row_c1
func.func @f(%x: tensor<64xf32, #tile.col>) {
  // expected-error @below {{'tile.splat_row' op makes a matrix in acc from a vector in row of its rows, got 'tensor<64xf32, #tile.col>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %y = tile.splat_row %x : tensor<64xf32, #tile.col> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// splat_row_c1
func.func @f(%x: tensor<64xf32, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.splat_row' op makes a matrix in acc from a vector in row of its rows, got 'tensor<64xf32, #tile.row<warps = 4>>' and 'tensor<128x64xf32, #tile.acc<warps = 4>>'}}
  %y = tile.splat_row %x : tensor<64xf32, #tile.row<warps = 4>> -> tensor<128x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// splat_row_c1
func.func @f(%x: tensor<64xf32, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.splat_row' op makes a matrix in acc from a vector in row of its rows, got 'tensor<64xf32, #tile.row<warps = 4>>' and 'tensor<64xf32, #tile.strided<vec = 2>>'}}
  %y = tile.splat_row %x : tensor<64xf32, #tile.row<warps = 4>> -> tensor<64xf32, #tile.strided<vec = 2>>
  return
}

// -----

// splat_col_c1
func.func @f(%x: tensor<64xf32, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.splat_col' op makes a matrix in acc from a vector in col of its columns, got 'tensor<64xf32, #tile.row<warps = 4>>' and 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %y = tile.splat_col %x : tensor<64xf32, #tile.row<warps = 4>> -> tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// splat_col_c1
func.func @f(%x: tensor<64xf32, #tile.col>) {
  // expected-error @below {{'tile.splat_col' op makes a matrix in acc from a vector in col of its columns, got 'tensor<64xf32, #tile.col>' and 'tensor<64x128xf32, #tile.acc<warps = 4>>'}}
  %y = tile.splat_col %x : tensor<64xf32, #tile.col> -> tensor<64x128xf32, #tile.acc<warps = 4>>
  return
}

// -----

// splat_col_c1
func.func @f(%x: tensor<64xf32, #tile.col>) {
  // expected-error @below {{'tile.splat_col' op makes a matrix in acc from a vector in col of its columns, got 'tensor<64xf32, #tile.col>' and 'tensor<64x64xbf16, #tile.acc<warps = 4>>'}}
  %y = tile.splat_col %x : tensor<64xf32, #tile.col> -> tensor<64x64xbf16, #tile.acc<warps = 4>>
  return
}

// -----

// reduce_c1
func.func @f(%x: tensor<64x64xbf16, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.reduce' op reduces f32 in layout acc along axis 0 or 1, got 'tensor<64x64xbf16, #tile.acc<warps = 4>>' along 1}}
  %y = tile.reduce add %x axis = 1 : tensor<64x64xbf16, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.row<warps = 4>>
  return
}

// -----

// reduce_c1
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.reduce' op reduces f32 in layout acc along axis 0 or 1, got 'tensor<64x64xf32, #tile.acc<warps = 4>>' along -1}}
  %y = tile.reduce add %x axis = -1 : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.row<warps = 4>>
  return
}

// -----

// reduce_c1
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.reduce' op the result is 'tensor<64xf32, #tile.row<warps = 4>>', got 'tensor<64xf32, #tile.col>'}}
  %y = tile.reduce add %x axis = 1 : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.col>
  return
}

// -----

// reduce_c2
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>) {
  // expected-error @below {{'tile.reduce' op reduces over several warps and needs scratch}}
  %y = tile.reduce add %x axis = 0 : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.col>
  return
}

// -----

// reduce_c2
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>, %s: !tile.smem<2x64xf32>) {
  // expected-error @below {{'tile.reduce' op the scratch is '!tile.smem<4x64xf32>', got '!tile.smem<2x64xf32>'}}
  %y = tile.reduce add %x axis = 0 scratch(%s : !tile.smem<2x64xf32>) : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.col>
  return
}

// -----

// reduce_c2
func.func @f(%x: tensor<64x64xf32, #tile.acc<warps = 4>>, %s: !tile.smem<2x64xf32>) {
  // expected-error @below {{'tile.reduce' op needs no scratch}}
  %y = tile.reduce add %x axis = 1 scratch(%s : !tile.smem<2x64xf32>) : tensor<64x64xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.row<warps = 4>>
  return
}

// -----

// scan_c1
func.func @f(%x: tensor<64xf32, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.scan' op sums f32 in layout strided, got 'tensor<64xf32, #tile.row<warps = 4>>'}}
  %a, %b = tile.scan %x : tensor<64xf32, #tile.row<warps = 4>>
  return
}

// -----

// scan_c1
func.func @f(%x: tensor<64xf32, #tile.col>) {
  // expected-error @below {{'tile.scan' op sums f32 in layout strided, got 'tensor<64xf32, #tile.col>'}}
  %a, %b = tile.scan %x : tensor<64xf32, #tile.col>
  return
}

// -----

// scan_c1
func.func @f(%x: tensor<64xf16, #tile.strided<vec = 2>>) {
  // expected-error @below {{'tile.scan' op sums f32 in layout strided, got 'tensor<64xf16, #tile.strided<vec = 2>>'}}
  %a, %b = tile.scan %x : tensor<64xf16, #tile.strided<vec = 2>>
  return
}

// -----

// iota_c1
func.func @f() {
  // expected-error @below {{'tile.iota' op counts in i32, got 'tensor<64x64xf32, #tile.acc<warps = 4>>'}}
  %i = tile.iota axis = 0 : tensor<64x64xf32, #tile.acc<warps = 4>>
  return
}

// -----

// iota_c1
func.func @f() {
  // expected-error @below {{'tile.iota' op the axis lies in [0, 2), got 2}}
  %i = tile.iota axis = 2 : tensor<64x64xi32, #tile.acc<warps = 4>>
  return
}

// -----

// iota_c1
func.func @f() {
  // expected-error @below {{'tile.iota' op the axis lies in [0, 2), got -1}}
  %i = tile.iota axis = -1 : tensor<64x64xi32, #tile.acc<warps = 4>>
  return
}

// -----

// role_c1
func.func @f(%n: index) {
  tile.roles chunks(%n) {
    // expected-error @below {{'tile.role' op warps is 1, 2, 4, 8, 16 or 32, got 3}}
    tile.role @a warps(3) regs(24) {
    }
  }
  return
}

// -----

// role_c2
func.func @f(%n: index) {
  tile.roles chunks(%n) {
    // expected-error @below {{'tile.role' op regs is a multiple of 8 from 24 to 256, got 20}}
    tile.role @a warps(4) regs(20) {
    }
  }
  return
}

// -----

// role_c2
func.func @f(%n: index) {
  tile.roles chunks(%n) {
    // expected-error @below {{'tile.role' op regs is a multiple of 8 from 24 to 256, got 264}}
    tile.role @a warps(4) regs(264) {
    }
  }
  return
}

// -----

// role_c1
func.func @f(%n: index) {
  tile.roles chunks(%n) {
    // expected-error @below {{'tile.role' op warps is 1, 2, 4, 8, 16 or 32, got 0}}
    tile.role @a warps(0) regs(24) {
    }
  }
  return
}

// -----

// role: parent
func.func @f(%n: index) {
  // expected-error @below {{'tile.role' op expects parent op 'tile.roles'}}
  tile.role @a warps(4) regs(24) {
  }
  return
}

// -----

// roles_c1
func.func @f(%n: index) {
  // expected-error @below {{'tile.roles' op holds roles, got tile.barrier}}
  tile.roles chunks(%n) {
    tile.barrier
  }
  return
}

// -----

// band_c1
func.func @f(%d: index) {
  // expected-error @below {{'tile.band' op marks elements by i1 in layout acc, got 'tensor<64x64xi32, #tile.acc<warps = 4>>'}}
  %a = tile.band upper(%d) : tensor<64x64xi32, #tile.acc<warps = 4>>
  return
}

// -----

// band_c1
func.func @f(%d: index) {
  // expected-error @below {{'tile.band' op marks elements by i1 in layout acc, got 'tensor<64xi1, #tile.row<warps = 4>>'}}
  %a = tile.band upper(%d) : tensor<64xi1, #tile.row<warps = 4>>
  return
}

// -----

// band_c2
func.func @f() {
  // expected-error @below {{'tile.band' op has a bound: lower, upper or columns}}
  %a = tile.band : tensor<64x64xi1, #tile.acc<warps = 4>>
  return
}

// -----

// warp_any_c1
func.func @f(%x: tensor<64xi1, #tile.col>) {
  // expected-error @below {{'tile.warp_any' op takes i1 in layout row, got 'tensor<64xi1, #tile.col>'}}
  %a = tile.warp_any %x : tensor<64xi1, #tile.col>
  return
}

// -----

// warp_any_c2
func.func @f(%x: tensor<64xi1, #tile.row<warps = 4>>) {
  // expected-error @below {{'tile.warp_any' op differs by warp: operations under it are pure, got tile.barrier}}
  %a = tile.warp_any %x : tensor<64xi1, #tile.row<warps = 4>>
  scf.if %a {
    tile.barrier
  }
  return
}

// -----

// warp_any_c2
func.func @f(%x: tensor<64xi1, #tile.row<warps = 4>>) -> i1 {
  // expected-error @below {{'tile.warp_any' op differs by warp and is the condition of scf.if, got func.return}}
  %a = tile.warp_any %x : tensor<64xi1, #tile.row<warps = 4>>
  return %a : i1
}
