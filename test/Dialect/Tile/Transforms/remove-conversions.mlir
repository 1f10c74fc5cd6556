// RUN: linattn-opt %s -tile-remove-conversions | FileCheck %s

#acc = #tile.acc<warps = 4>
#lanes = #tile.strided<vec = 2>
!l = tensor<64xf32, #lanes>
!c = tensor<64xf32, #tile.col>
!r = tensor<64xf32, #tile.row<warps = 4>>

// Two conversions become one, of the product with a splat.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[X:.*]]: tensor<64xf32, #lanes>, %[[Y:.*]]: tensor<64xf32, #lanes>, %[[F:.*]]: f32
// CHECK-DAG:     %[[S:.*]] = tensor.splat %[[F]] : tensor<64xf32, #lanes>
// CHECK-DAG:     %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : tensor<64xf32, #lanes>
// CHECK:         %[[Q:.*]] = arith.mulf %[[P]], %[[S]] : tensor<64xf32, #lanes>
// CHECK:         %[[C:.*]] = tile.convert %[[Q]]
// CHECK-NOT:     tile.convert
// CHECK:         return %[[C]]
func.func @product(%x: !l, %y: !l, %f: f32) -> !c {
  %a = tile.convert %x : !l -> !c
  %b = tile.convert %y : !l -> !c
  %s = tensor.splat %f : !c
  %p = arith.mulf %a, %b : !c
  %q = arith.mulf %p, %s : !c
  return %q : !c
}

// CHECK-LABEL: func.func @splats
// CHECK-NOT:     tile.convert
// CHECK:         return
func.func @splats(%f: f32) -> (!c, !r) {
  %s = tensor.splat %f : !l
  %z = arith.constant dense<1.0> : !l
  %a = tile.convert %s : !l -> !c
  %b = tile.convert %z : !l -> !r
  return %a, %b : !c, !r
}

// CHECK-LABEL: func.func @widened
// CHECK-NEXT:    %[[C:.*]] = tile.convert %{{.*}} : tensor<64xbf16, #lanes> -> tensor<64xbf16, #col>
// CHECK-NEXT:    %[[W:.*]] = arith.extf %[[C]]
// CHECK-NEXT:    return %[[W]]
func.func @widened(%x: tensor<64xbf16, #lanes>) -> !c {
  %w = arith.extf %x : tensor<64xbf16, #lanes> to !l
  %a = tile.convert %w : !l -> !c
  return %a : !c
}

// Layouts that differ stay.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: tile.convert
// CHECK:         arith.addf
func.func @different(%x: !l, %y: tensor<64xf32, #tile.strided<vec = 1>>) -> !c {
  %a = tile.convert %x : !l -> !c
  %b = tile.convert %y : tensor<64xf32, #tile.strided<vec = 1>> -> !c
  %p = arith.addf %a, %b : !c
  return %p : !c
}
