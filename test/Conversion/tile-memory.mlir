// Memory of the tiles of a chunk: a state that would be made in scratch memory and
// copied home is made at home, unless its old value is still wanted; tiles whose
// lives do not meet share memory.
// RUN: linattn-opt %s --linattn-tiles-to-vectors | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[HOME:.+]]: memref<8x8xf32>, %[[K:.+]]: memref
// CHECK-NOT: memref.alloc() : memref<8x8xf32>
// CHECK: scf.for
// CHECK: vector.load %[[HOME]][
// CHECK: vector.store %{{.+}}, %[[HOME]][
// CHECK-COUNT-6: vector.load %[[HOME]][
// CHECK-COUNT-6: vector.store %{{.+}}, %[[HOME]][
func.func @in_place(%home: memref<8x8xf32>, %k: memref<8x4xf32>, %u: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %half = arith.constant 0.5 : f32
  scf.parallel (%h) = (%c0) to (%c1) step (%c1) {
    scf.for %t = %c0 to %c9 step %c1 {
      %next = memref.alloc() : memref<8x8xf32>
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%home : memref<8x8xf32>) outs(%next : memref<8x8xf32>) {
      ^bb0(%s: f32, %out: f32):
        %d = arith.mulf %s, %half : f32
        linalg.yield %d : f32
      }
      linalg.matmul ins(%k, %u : memref<8x4xf32>, memref<4x8xf32>) outs(%next : memref<8x8xf32>)
      memref.copy %next, %home : memref<8x8xf32> to memref<8x8xf32>
    }
    scf.reduce
  }
  return
}

// The product reads the old state after the new one was begun.
// CHECK-LABEL: func.func @still_read(
// CHECK: memref.alloc() : memref<8x8xf32>
func.func @still_read(%home: memref<8x8xf32>, %k: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%h) = (%c0) to (%c1) step (%c1) {
    scf.for %t = %c0 to %c9 step %c1 {
      %next = memref.alloc() : memref<8x8xf32>
      memref.copy %home, %next : memref<8x8xf32> to memref<8x8xf32>
      linalg.matmul ins(%k, %home : memref<8x8xf32>, memref<8x8xf32>) outs(%next : memref<8x8xf32>)
      memref.copy %next, %home : memref<8x8xf32> to memref<8x8xf32>
    }
    scf.reduce
  }
  return
}

// Element (i, j) of the new state is made of (j, i) of the old one.
// CHECK-LABEL: func.func @other_element(
// CHECK: memref.alloc() : memref<8x8xf32>
func.func @other_element(%home: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%h) = (%c0) to (%c1) step (%c1) {
    scf.for %t = %c0 to %c9 step %c1 {
      %next = memref.alloc() : memref<8x8xf32>
      linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
          ins(%home : memref<8x8xf32>) outs(%next : memref<8x8xf32>) {
      ^bb0(%s: f32, %out: f32):
        %d = arith.addf %s, %s : f32
        linalg.yield %d : f32
      }
      memref.copy %next, %home : memref<8x8xf32> to memref<8x8xf32>
    }
    scf.reduce
  }
  return
}

// %a is used no more when %c begins; %b is, and %d has another type.
// CHECK-LABEL: func.func @shared(
// CHECK: scf.for
// CHECK-COUNT-3: memref.alloc() : memref<{{4x8|8x4}}xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @shared(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %z: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%h) = (%c0) to (%c1) step (%c1) {
    scf.for %t = %c0 to %c9 step %c1 {
      %a = memref.alloc() : memref<4x8xf32>
      memref.copy %x, %a : memref<4x8xf32> to memref<4x8xf32>
      %b = memref.alloc() : memref<4x8xf32>
      linalg.add ins(%a, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%b : memref<4x8xf32>)
      %c = memref.alloc() : memref<4x8xf32>
      linalg.add ins(%b, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%c : memref<4x8xf32>)
      linalg.add ins(%b, %c : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x8xf32>)
      %d = memref.alloc() : memref<8x4xf32>
      memref.copy %z, %d : memref<8x4xf32> to memref<8x4xf32>
      linalg.add ins(%d, %d : memref<8x4xf32>, memref<8x4xf32>) outs(%z : memref<8x4xf32>)
    }
    scf.reduce
  }
  return
}
