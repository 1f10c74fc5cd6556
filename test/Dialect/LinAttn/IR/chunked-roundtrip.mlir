// RUN: linattn-opt %s | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -mlir-print-op-generic | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -emit-bytecode | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func @chunked
// CHECK: linattn.chunked chunk = 4 tokens(%{{.*}} : tensor<?x?x2x8xf32>, %{{.*}} : tensor<?x?x2x8xf32>)
// CHECK-SAME: state(%{{.*}} : tensor<?x2x8x8xf32>)
// CHECK-SAME: -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xi1>, %{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>):
// CHECK: linattn.yield %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
// GENERIC-LABEL: sym_name = "chunked"
// GENERIC: "linattn.chunked"(%{{.*}}, %{{.*}}, %{{.*}}) <{chunk = 4 : i64, operandSegmentSizes = array<i32: 2, 0, 1, 0, 0>}>
func.func @chunked(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf32>)
    -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  %o, %sT = linattn.chunked chunk = 4
      tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>)
      state(%s0 : tensor<?x2x8x8xf32>)
      -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x8xf32>, %vt: tensor<4x8xf32>, %s: tensor<8x8xf32>):
    linattn.yield %vt, %s : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return %o, %sT : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}

// Every optional part at once. The state is carried in f32, whatever it is
// stored in, and keys are shared by two heads.
// CHECK-LABEL: func @everything
// CHECK: linattn.chunked chunk = 16 plan = "p" tokens(%{{.*}} : tensor<?x1x8xbf16>, %{{.*}} : tensor<?x2xf32>)
// CHECK-SAME: params(%{{.*}} : tensor<2xf32>, %{{.*}} : tensor<2x8xf32>)
// CHECK-SAME: state(%{{.*}} : tensor<?x2x8x4xbf16>)
// CHECK-SAME: seqlens(%{{.*}} : tensor<?xi32>)
// CHECK-SAME: slots(%{{.*}} : tensor<?xi64>, padding = 7)
// CHECK-SAME: snapshots(every = 32)
// CHECK-SAME: attributes {note = 1 : i32}
// CHECK-SAME: -> (tensor<?x2xf32>, tensor<?x2x8x4xbf16>, tensor<?x2x8x4xbf16>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<16xi1>, %{{.*}}: tensor<16x8xbf16>, %{{.*}}: tensor<16xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8x4xf32>):
// GENERIC-LABEL: sym_name = "everything"
// GENERIC: <{chunk = 16 : i64, operandSegmentSizes = array<i32: 2, 2, 1, 1, 1>, padding = 7 : i64, plan = "p", snapshots = 32 : i64}>
func.func @everything(%k: tensor<?x1x8xbf16>, %g: tensor<?x2xf32>, %a: tensor<2xf32>, %w: tensor<2x8xf32>,
                      %s0: tensor<?x2x8x4xbf16>, %cu: tensor<?xi32>, %sl: tensor<?xi64>)
    -> (tensor<?x2xf32>, tensor<?x2x8x4xbf16>, tensor<?x2x8x4xbf16>) {
  %o, %sT, %snap = linattn.chunked chunk = 16 plan = "p"
      tokens(%k : tensor<?x1x8xbf16>, %g : tensor<?x2xf32>)
      params(%a : tensor<2xf32>, %w : tensor<2x8xf32>)
      state(%s0 : tensor<?x2x8x4xbf16>) seqlens(%cu : tensor<?xi32>)
      slots(%sl : tensor<?xi64>, padding = 7) snapshots(every = 32)
      attributes {note = 1 : i32}
      -> (tensor<?x2xf32>, tensor<?x2x8x4xbf16>, tensor<?x2x8x4xbf16>) {
  ^chunk(%valid: tensor<16xi1>, %kt: tensor<16x8xbf16>, %gt: tensor<16xf32>, %at: tensor<f32>,
         %wt: tensor<8xf32>, %s: tensor<8x4xf32>):
    linattn.yield %gt, %s : tensor<16xf32>, tensor<8x4xf32>
  }
  return %o, %sT, %snap : tensor<?x2xf32>, tensor<?x2x8x4xbf16>, tensor<?x2x8x4xbf16>
}

// No state: every chunk is on its own. A state in f64 is carried in f64.
// CHECK-LABEL: func @states
// CHECK: linattn.chunked chunk = 128 tokens(%{{.*}} : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
// CHECK: linattn.chunked chunk = 64 tokens({{.*}}) state(
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<64xi1>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<2x3xf64>):
func.func @states(%g: tensor<?x?x1xf32>, %s0: tensor<?x1x2x3xf64>) -> (tensor<?x?x1xf32>, tensor<?x1x2x3xf64>) {
  %o = linattn.chunked chunk = 128 tokens(%g : tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) {
  ^chunk(%valid: tensor<128xi1>, %gt: tensor<128xf32>):
    linattn.yield %gt : tensor<128xf32>
  }
  %sT = linattn.chunked chunk = 64 tokens(%g : tensor<?x?x1xf32>) state(%s0 : tensor<?x1x2x3xf64>)
      -> (tensor<?x1x2x3xf64>) {
  ^chunk(%valid: tensor<64xi1>, %gt: tensor<64xf32>, %s: tensor<2x3xf64>):
    linattn.yield %s : tensor<2x3xf64>
  }
  return %o, %sT : tensor<?x?x1xf32>, tensor<?x1x2x3xf64>
}

// CHECK-LABEL: func @decay_product
// CHECK: linattn.decay_product %{{.*}}, %{{.*}} x_positions = [0] x_order = [1] y_positions = [0] y_order = [0] outs(%{{.*}} : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
// CHECK: linattn.decay_product %{{.*}}, %{{.*}} decay(%{{.*}} : tensor<4xf32>) x_positions = [1] x_order = [2] y_positions = [1] y_order = [1] mma = bf16 outs(
// Two decays per token over K, two writes between them, f64.
// CHECK: linattn.decay_product %{{.*}}, %{{.*}} decay(%{{.*}} : tensor<8x8xf64>) x_positions = [2] x_order = [2] y_positions = [0, 2] y_order = [0, 1] outs(%{{.*}} : tensor<4x8xf64>) : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
// GENERIC-LABEL: sym_name = "decay_product"
// GENERIC: "linattn.decay_product"(%{{.*}}, %{{.*}}, %{{.*}}) <{mma = 0 : i32, xOrder = array<i64: 1>, xPositions = array<i64: 0>, yOrder = array<i64: 0>, yPositions = array<i64: 0>}>
func.func @decay_product(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<4xf32>, %e: tensor<4x4xf32>,
                         %xd: tensor<4x8xf64>, %yd: tensor<8x8xf64>, %gd: tensor<8x8xf64>, %ed: tensor<4x8xf64>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf64>) {
  %0 = linattn.decay_product %x, %y x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %1 = linattn.decay_product %x, %y decay(%g : tensor<4xf32>)
      x_positions = [1] x_order = [2] y_positions = [1] y_order = [1] mma = bf16
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %2 = linattn.decay_product %xd, %yd decay(%gd : tensor<8x8xf64>)
      x_positions = [2] x_order = [2] y_positions = [0, 2] y_order = [0, 1]
      outs(%ed : tensor<4x8xf64>) : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf64>
}

// CHECK-LABEL: func @unit_lower_solve
// CHECK: linattn.unit_lower_solve matrices(%{{.*}} : tensor<20x20xf32>) outs(%{{.*}} : tensor<20x20xf32>) -> tensor<20x20xf32>
// CHECK: linattn.unit_lower_solve rhs(%{{.*}} : tensor<20x3xf32>) matrices(%{{.*}} : tensor<20x20xf32>) transposed outs(
// CHECK: linattn.unit_lower_solve rhs(%{{.*}} : tensor<20x3xf32>) matrices(%{{.*}} : tensor<20x20xf32>, %{{.*}} : tensor<20x20xf32>) rates(%{{.*}} : tensor<20x3xf32>, %{{.*}} : tensor<20x3xf32>) outs(
// GENERIC-LABEL: sym_name = "unit_lower_solve"
// GENERIC: operandSegmentSizes = array<i32: 0, 1, 0, 1>
// GENERIC: operandSegmentSizes = array<i32: 1, 1, 0, 1>, transposed
// GENERIC: operandSegmentSizes = array<i32: 1, 2, 2, 1>
func.func @unit_lower_solve(%a: tensor<20x20xf32>, %b: tensor<20x20xf32>, %r: tensor<20x3xf32>,
                            %r1: tensor<20x3xf32>, %r2: tensor<20x3xf32>)
    -> (tensor<20x20xf32>, tensor<20x3xf32>, tensor<20x3xf32>) {
  %0 = linattn.unit_lower_solve matrices(%a : tensor<20x20xf32>) outs(%b : tensor<20x20xf32>) -> tensor<20x20xf32>
  %1 = linattn.unit_lower_solve rhs(%r : tensor<20x3xf32>) matrices(%a : tensor<20x20xf32>) transposed
      outs(%r1 : tensor<20x3xf32>) -> tensor<20x3xf32>
  %2 = linattn.unit_lower_solve rhs(%r : tensor<20x3xf32>)
      matrices(%a : tensor<20x20xf32>, %b : tensor<20x20xf32>) rates(%r1 : tensor<20x3xf32>, %r2 : tensor<20x3xf32>)
      outs(%r : tensor<20x3xf32>) -> tensor<20x3xf32>
  return %0, %1, %2 : tensor<20x20xf32>, tensor<20x3xf32>, tensor<20x3xf32>
}

// Two unknowns of each of 20 tokens.
// CHECK-LABEL: func @unit_lower_solve_unknowns
// CHECK: linattn.unit_lower_solve rhs(%{{.*}} : tensor<2x20x3xf32>) matrices({{.*}}) rates(%{{.*}} : tensor<2x20x3xf32>) outs(
func.func @unit_lower_solve_unknowns(%a: tensor<20x20xf32>, %r: tensor<2x20x3xf32>) -> tensor<2x20x3xf32> {
  %0 = linattn.unit_lower_solve rhs(%r : tensor<2x20x3xf32>)
      matrices(%a : tensor<20x20xf32>, %a : tensor<20x20xf32>, %a : tensor<20x20xf32>, %a : tensor<20x20xf32>)
      rates(%r : tensor<2x20x3xf32>) outs(%r : tensor<2x20x3xf32>) -> tensor<2x20x3xf32>
  return %0 : tensor<2x20x3xf32>
}

// CHECK-LABEL: func @decay_scan
// CHECK: linattn.decay_scan start_to_event %{{.*}} positions = [1] outs(%{{.*}} : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK: linattn.decay_scan event_to_end %{{.*}} positions = [0, 2] decays = 2 outs(%{{.*}} : tensor<8xf32>) : tensor<8xf32> -> tensor<8xf32>
// CHECK: linattn.decay_scan start_to_end %{{.*}} outs(%{{.*}} : tensor<8xf32>) : tensor<4x8xf32> -> tensor<8xf32>
// CHECK: linattn.decay_scan start_to_end %{{.*}} decays = 2 outs(%{{.*}} : tensor<f32>) : tensor<8xf32> -> tensor<f32>
// GENERIC-LABEL: sym_name = "decay_scan"
// GENERIC: positions = array<i64: 1>, span = 0 : i32
// GENERIC: decays = 2 : i64, positions = array<i64: 0, 2>, span = 1 : i32
// GENERIC: span = 2 : i32
func.func @decay_scan(%g: tensor<4x8xf32>, %h: tensor<8xf32>, %e: tensor<4x8xf32>, %f: tensor<8xf32>, %n: tensor<f32>)
    -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
  %0 = linattn.decay_scan start_to_event %g positions = [1] outs(%e : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = linattn.decay_scan event_to_end %h positions = [0, 2] decays = 2 outs(%f : tensor<8xf32>) : tensor<8xf32> -> tensor<8xf32>
  %2 = linattn.decay_scan start_to_end %g outs(%f : tensor<8xf32>) : tensor<4x8xf32> -> tensor<8xf32>
  %3 = linattn.decay_scan start_to_end %h decays = 2 outs(%n : tensor<f32>) : tensor<8xf32> -> tensor<f32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>
}
