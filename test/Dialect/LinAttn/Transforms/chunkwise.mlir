// The algebra of a chunk: which products, solves and decays a recurrence becomes.
// RUN: linattn-opt %s --linattn-chunkwise | FileCheck %s
// RUN: linattn-opt %s --linattn-chunkwise --mlir-print-op-generic | linattn-opt | FileCheck %s
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 | FileCheck %s --check-prefix=C16
// RUN: linattn-opt %s --linattn-chunkwise=mma=f32 | FileCheck %s --check-prefix=F32
// RUN: linattn-opt %s --linattn-chunkwise="mma=bf16x2" | FileCheck %s --check-prefix=SPLIT

// Linear attention: no decay, so no gate, and no solve. Three products:
// what reads see of the state, of the chunk's writes, and the update.
// CHECK-LABEL: func @linear(
// CHECK: linattn.chunked chunk = 64
// CHECK-NOT: linattn.decay_scan
// CHECK: %[[R0:.+]] = linalg.matmul ins(%{{.+}}, %s : tensor<64x8xf32>, tensor<8x12xf32>)
// CHECK-NOT: linattn.decay_scan
// CHECK: %[[P:.+]] = linattn.decay_product %{{.+}}, %{{.+}} x_positions = [0] x_order = [1] y_positions = [0] y_order = [0] outs(
// CHECK: %[[O:.+]] = linalg.matmul ins(%[[P]], %[[U:.+]] : tensor<64x64xf32>, tensor<64x12xf32>) outs(%[[R0]] :
// CHECK-NOT: linattn.decay_{{scan|product}}
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: %[[S1:.+]] = linalg.matmul ins(%{{.+}}, %[[U]] : tensor<8x64xf32>, tensor<64x12xf32>) outs(%s : tensor<8x12xf32>)
// CHECK-NOT: linalg.matmul
// CHECK: linattn.yield %[[O]], %[[S1]] :
// C16-LABEL: func @linear(
// C16: linattn.chunked chunk = 16
// C16-NEXT: ^bb0(%{{.+}}: tensor<16xi1>, %{{.+}}: tensor<16x8xf32>, %{{.+}}: tensor<16x8xf32>, %{{.+}}: tensor<16x12xf32>, %{{.+}}: tensor<8x12xf32>):
// Two halves of 16 bits each: a product is three.
// SPLIT-LABEL: func @linear(
// SPLIT-COUNT-9: linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<{{[0-9x]+}}xbf16>, tensor<{{[0-9x]+}}xbf16>)
// SPLIT-NOT: linalg.matmul
// SPLIT: linattn.yield
func.func @linear(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %ot = linattn.read %s1, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s1 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// Gated DeltaNet: one solve, a decay product for the coupling of the writes and one
// for the output, five products: reads of the state by k and by q, T c, P U and
// the update. Inputs of 16 bits round the operands of products.
// CHECK-LABEL: func @gated_delta(
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: linattn.decay_scan start_to_event %[[G:.+]] positions = [1]
// CHECK: %[[SB:.+]] = arith.truncf %s : tensor<8x12xf32> to tensor<8x12xbf16>
// CHECK: linalg.matmul ins(%{{.+}}, %[[SB]] : tensor<64x8xbf16>, tensor<8x12xbf16>) outs(%{{.+}} : tensor<64x12xf32>)
// CHECK-NOT: linalg.matmul
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%[[G]] : tensor<64xf32>) x_positions = [1] x_order = [1] y_positions = [1] y_order = [2] mma = bf16
// CHECK-NOT: linalg.matmul
// CHECK: %[[T:.+]] = linattn.unit_lower_solve matrices(%{{.+}} : tensor<64x64xf32>) outs(
// CHECK: %[[TB:.+]] = arith.truncf %[[T]] : tensor<64x64xf32> to tensor<64x64xbf16>
// CHECK: %[[U:.+]] = linalg.matmul ins(%[[TB]], %{{.+}} : tensor<64x64xbf16>, tensor<64x12xbf16>)
// CHECK: linalg.matmul
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%[[G]] : tensor<64xf32>) x_positions = [1] x_order = [3] y_positions = [1] y_order = [2] mma = bf16
// CHECK: linalg.matmul
// CHECK-NOT: linattn.unit_lower_solve
// CHECK-NOT: linattn.decay_product
// CHECK: linattn.decay_scan start_to_end %[[G]] outs(
// CHECK: linattn.decay_scan event_to_end %[[G]] positions = [1]
// CHECK: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: linattn.yield
// C16-LABEL: func @gated_delta(
// C16: linattn.unit_lower_solve matrices(%{{.+}} : tensor<16x16xf32>)
// In f32 nothing but the output is rounded.
// F32-LABEL: func @gated_delta(
// F32-NOT: mma =
// F32-COUNT-5: linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<{{[0-9x]+}}xf32>, tensor<{{[0-9x]+}}xf32>)
// F32-NOT: linalg.matmul
// F32: %[[B:.+]] = arith.truncf %{{.+}} : tensor<64x12xf32> to tensor<64x12xbf16>
// F32-NOT: arith.truncf
// F32: linattn.yield %[[B]],
func.func @gated_delta(%q: tensor<?x?x2x8xbf16>,
    %k: tensor<?x?x2x8xbf16>,
    %v: tensor<?x?x2x12xbf16>,
    %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xbf16>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xbf16>, %k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x12xbf16>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xbf16>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xbf16>, %kt: vector<8xbf16>, %vt: vector<12xbf16>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xbf16>, vector<12xbf16>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xbf16>
    %ob = arith.truncf %ot : vector<12xf32> to vector<12xbf16>
    linattn.yield %ob, %s2 : vector<12xbf16>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xbf16>, tensor<?x2x8x12xf32>
}

// KDA: the gate goes over K, in the decay products and in the scans.
// CHECK-LABEL: func @kda(
// CHECK: linattn.decay_scan start_to_event %[[G:.+]] positions = [1] outs(%{{.+}} : tensor<64x8xf32>)
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%[[G]] : tensor<64x8xf32>) x_positions = [1] x_order = [1] y_positions = [1] y_order = [2]
// CHECK: linattn.unit_lower_solve
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%[[G]] : tensor<64x8xf32>) x_positions = [1] x_order = [3] y_positions = [1] y_order = [2]
// CHECK-NOT: linattn.decay_product
// CHECK: linattn.decay_scan start_to_end %[[G]] outs(%{{.+}} : tensor<8xf32>)
// CHECK: linattn.decay_scan event_to_end %[[G]] positions = [1] outs(%{{.+}} : tensor<64x8xf32>)
func.func @kda(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %g: tensor<?x?x2x8xf32>,
    %b: tensor<?x?x2xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2x8xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: vector<8xf32>, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, vector<8xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// DeltaProduct: two writes of a token, row by row in one system of 128. The second
// reads the first: its order is between the writes'.
// CHECK-LABEL: func @delta_product(
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%{{.+}} : tensor<64xf32>) x_positions = [1, 1] x_order = [1, 3] y_positions = [1, 1] y_order = [2, 4] outs(%{{.+}} : tensor<128x128xf32>)
// CHECK: linattn.unit_lower_solve matrices(%{{.+}} : tensor<128x128xf32>)
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: linattn.decay_product %{{.+}}, %{{.+}} decay(%{{.+}} : tensor<64xf32>) x_positions = [1] x_order = [5] y_positions = [1, 1] y_order = [2, 4] outs(%{{.+}} : tensor<64x128xf32>)
// CHECK-NOT: linattn.decay_product
// C16-LABEL: func @delta_product(
// C16: linattn.unit_lower_solve matrices(%{{.+}} : tensor<32x32xf32>)
func.func @delta_product(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x2x8xf32>,
    %v: tensor<?x?x2x2x12xf32>,
    %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2x2xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x2x8xf32>, %v : tensor<?x?x2x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<2x8xf32>, %vt: vector<2x12xf32>, %gt: f32, %bt: vector<2xf32>, %s: !linattn.state<8x12xf32>):
    %k1 = vector.extract %kt[0] : vector<8xf32> from vector<2x8xf32>
    %k2 = vector.extract %kt[1] : vector<8xf32> from vector<2x8xf32>
    %v1 = vector.extract %vt[0] : vector<12xf32> from vector<2x12xf32>
    %v2 = vector.extract %vt[1] : vector<12xf32> from vector<2x12xf32>
    %b1 = vector.extract %bt[0] : f32 from vector<2xf32>
    %b2 = vector.extract %bt[1] : f32 from vector<2xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %k1, %v1, %b1 : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %b2 : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s3, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s3 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// A rate per value column: a system for each, solved with its rates, and no matrix T.
// CHECK-LABEL: func @column_rate(
// CHECK: %[[P:.+]] = linattn.decay_product
// CHECK: %[[U:.+]] = linattn.unit_lower_solve rhs(%{{.+}} : tensor<64x12xf32>) matrices(%[[P]] : tensor<64x64xf32>) rates(%{{.+}} : tensor<64x12xf32>) outs(%{{.+}} : tensor<64x12xf32>) -> tensor<64x12xf32>
// CHECK-NOT: linattn.unit_lower_solve
// CHECK: linalg.matmul ins(%{{.+}}, %[[U]] : tensor<64x64xf32>, tensor<64x12xf32>)
// CHECK-NOT: linattn.unit_lower_solve
func.func @column_rate(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2x12xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: vector<12xf32>, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, vector<12xf32>
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// What is around the step stays; chunks end where snapshots are taken.
// CHECK-LABEL: func @kept(
// CHECK: linattn.chunked chunk = 32 tokens(
// CHECK-SAME: seqlens(%{{.+}} : tensor<?xi32>) slots(%{{.+}} : tensor<?xi32>, padding = -1) snapshots(every = 32)
// CHECK-SAME: -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>)
// CHECK-NOT: linattn.recurrence
// C16-LABEL: func @kept(
// C16: linattn.chunked chunk = 16 tokens(
func.func @kept(%q: tensor<?x2x8xf32>,
    %k: tensor<?x2x8xf32>,
    %v: tensor<?x2x12xf32>,
    %g: tensor<?x2xf32>,
    %b: tensor<?x2xf32>,
    %s0: tensor<?x2x8x12xf32>,
    %cu: tensor<?xi32>,
    %slots: tensor<?xi32>)
    -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x2x8xf32>, %k : tensor<?x2x8xf32>, %v : tensor<?x2x12xf32>, %g : tensor<?x2xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) seqlens(%cu : tensor<?xi32>) slots(%slots : tensor<?xi32>, padding = -1) snapshots(every = 32)
      -> (tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x2x8x12xf32>
}
