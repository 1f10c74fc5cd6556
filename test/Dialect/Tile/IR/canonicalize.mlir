// RUN: linattn-opt %s -canonicalize | FileCheck %s

#acc = #tile.acc<warps = 4>
#lanes = #tile.strided<vec = 2>
!tile = !tile.smem<64x128xbf16, swizzle = 128>

// CHECK-LABEL: func.func @same_view
// CHECK-NEXT:    return %arg0
func.func @same_view(%s: !tile) -> !tile {
  %v = tile.smem_view %s : !tile -> !tile
  return %v : !tile
}

// CHECK-LABEL: func.func @twice_transposed
// CHECK-NEXT:    return %arg0
func.func @twice_transposed(%s: !tile) -> !tile {
  %v = tile.smem_view %s transposed : !tile -> !tile.smem<128x64xbf16, swizzle = 128, transposed>
  %w = tile.smem_view %v transposed : !tile.smem<128x64xbf16, swizzle = 128, transposed> -> !tile
  return %w : !tile
}

// A slice [8, 16] of the transposed slice [16, 64] begins at row 16 + 16, column 64 + 8.
// CHECK-LABEL: func.func @view_of_view
// CHECK-NEXT:    %[[V:.*]] = tile.smem_view %arg0 [32, 72] transposed : <64x128xbf16, swizzle = 128> -> <8x16xbf16, swizzle = 128, transposed, of 64x128>
// CHECK-NEXT:    return %[[V]]
func.func @view_of_view(%s: !tile) -> !tile.smem<8x16xbf16, swizzle = 128, transposed, of 64x128> {
  %v = tile.smem_view %s[16, 64] transposed : !tile -> !tile.smem<64x32xbf16, swizzle = 128, transposed, of 64x128>
  %w = tile.smem_view %v[8, 16] : !tile.smem<64x32xbf16, swizzle = 128, transposed, of 64x128> -> !tile.smem<8x16xbf16, swizzle = 128, transposed, of 64x128>
  return %w : !tile.smem<8x16xbf16, swizzle = 128, transposed, of 64x128>
}

// CHECK-LABEL: func.func @same_layout
// CHECK-NEXT:    return %arg0
func.func @same_layout(%x: tensor<64xf32, #lanes>) -> tensor<64xf32, #lanes> {
  %y = tile.convert %x : tensor<64xf32, #lanes> -> tensor<64xf32, #lanes>
  return %y : tensor<64xf32, #lanes>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT:    return %arg0
func.func @there_and_back(%x: tensor<64xf32, #lanes>) -> tensor<64xf32, #lanes> {
  %y = tile.convert %x : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
  %z = tile.convert %y : tensor<64xf32, #tile.col> -> tensor<64xf32, #lanes>
  return %z : tensor<64xf32, #lanes>
}

// CHECK-LABEL: func.func @two_conversions
// CHECK-NEXT:    %[[C:.*]] = tile.convert %arg0 : tensor<64xf32, #{{.*}}> -> tensor<64xf32, #row>
// CHECK-NEXT:    return %[[C]]
func.func @two_conversions(%x: tensor<64xf32, #lanes>) -> tensor<64xf32, #tile.row<warps = 4>> {
  %y = tile.convert %x : tensor<64xf32, #lanes> -> tensor<64xf32, #tile.col>
  %z = tile.convert %y : tensor<64xf32, #tile.col> -> tensor<64xf32, #tile.row<warps = 4>>
  return %z : tensor<64xf32, #tile.row<warps = 4>>
}

// Operations on registers alone go where nothing uses them.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    return
func.func @dead(%x: tensor<64xf32, #lanes>) {
  %hi, %lo = tile.scan %x : tensor<64xf32, #lanes>
  %i = tile.iota axis = 0 : tensor<64x64xi32, #acc>
  return
}
