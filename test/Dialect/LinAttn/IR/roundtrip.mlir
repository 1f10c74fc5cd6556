// RUN: linattn-opt %s | FileCheck %s
// RUN: linattn-opt %s | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -mlir-print-op-generic | linattn-opt | FileCheck %s
// RUN: linattn-opt %s -emit-bytecode | linattn-opt | FileCheck %s

// CHECK-LABEL: func.func private @state_types(
// CHECK-SAME: !linattn.state<128x64xf32>, !linattn.state<1x1xf64>, !linattn.state<1024x1024xbf16>, !linattn.state<3x5xf16>
func.func private @state_types(!linattn.state<128x64xf32>, !linattn.state<1x1xf64>,
                               !linattn.state<1024x1024xbf16>, !linattn.state<3x5xf16>)

// CHECK-LABEL: func.func private @argument_attributes(
// CHECK-SAME: linattn.dims = ["B", "T", "", ""], linattn.name = "q", linattn.sample = "unit_key"
func.func private @argument_attributes(
    tensor<?x?x2x4xf32> {linattn.dims = ["B", "T", "", ""], linattn.name = "q", linattn.sample = "unit_key"})

// CHECK-LABEL: func.func @step(
func.func @step(%s: !linattn.state<4x8xf32>, %k: vector<4xbf16>, %v: vector<8xf16>, %b: f32,
                %g: vector<4xf32>, %r: vector<8xbf16>) -> (vector<8xf32>, vector<8xf32>) {
  // CHECK: %[[S1:.+]] = linattn.decay %{{.+}}, %{{.+}} : <4x8xf32>, vector<4xf32>
  %s1 = linattn.decay %s, %g : !linattn.state<4x8xf32>, vector<4xf32>
  // CHECK: %[[S2:.+]] = linattn.decay %[[S1]], %{{.+}} linear : <4x8xf32>, f32
  %s2 = linattn.decay %s1, %b linear : !linattn.state<4x8xf32>, f32
  // CHECK: linattn.read %[[S2]], %{{.+}} : <4x8xf32>, vector<4xbf16>
  %r0 = linattn.read %s2, %k : !linattn.state<4x8xf32>, vector<4xbf16>
  // CHECK: linattn.read %[[S2]], %{{.+}} scale 5.000000e-01 : <4x8xf32>, vector<4xbf16>
  %r1 = linattn.read %s2, %k scale 0.5 : !linattn.state<4x8xf32>, vector<4xbf16>
  // CHECK: %[[S3:.+]] = linattn.write %[[S2]], %{{.+}}, %{{.+}} : <4x8xf32>, vector<4xbf16>, vector<8xf16>
  %s3 = linattn.write %s2, %k, %v : !linattn.state<4x8xf32>, vector<4xbf16>, vector<8xf16>
  // CHECK: %[[S4:.+]] = linattn.delta_update %[[S3]], %{{.+}}, %{{.+}}, %{{.+}} : <4x8xf32>, vector<4xbf16>, vector<8xf16>, f32
  %s4 = linattn.delta_update %s3, %k, %v, %b : !linattn.state<4x8xf32>, vector<4xbf16>, vector<8xf16>, f32
  // CHECK: linattn.delta_update %[[S4]], %{{.+}}, %{{.+}}, %{{.+}} : <4x8xf32>, vector<4xbf16>, vector<8xf16>, vector<8xbf16>
  %s5 = linattn.delta_update %s4, %k, %v, %r : !linattn.state<4x8xf32>, vector<4xbf16>, vector<8xf16>, vector<8xbf16>
  return %r0, %r1 : vector<8xf32>, vector<8xf32>
}

// A state of f64 is read in f64, one of 16 bits in f32.
// CHECK-LABEL: func.func @read_types(
// CHECK-SAME: -> (vector<8xf64>, vector<8xf32>)
func.func @read_types(%s: !linattn.state<4x8xf64>, %z: !linattn.state<4x8xbf16>, %k: vector<4xf32>)
    -> (vector<8xf64>, vector<8xf32>) {
  %r = linattn.read %s, %k : !linattn.state<4x8xf64>, vector<4xf32>
  %t = linattn.read %z, %k : !linattn.state<4x8xbf16>, vector<4xf32>
  return %r, %t : vector<8xf64>, vector<8xf32>
}

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: f64, %y: vector<4xbf16>) {
  // CHECK: linattn.sigmoid %{{.+}} : f64
  %0 = linattn.sigmoid %x : f64
  // CHECK: linattn.softplus %{{.+}} : vector<4xbf16>
  %1 = linattn.softplus %y : vector<4xbf16>
  // CHECK: linattn.silu %{{.+}} : vector<4xbf16>
  %2 = linattn.silu %y : vector<4xbf16>
  // The default eps, 1e-6, is not printed.
  // CHECK: linattn.l2norm %{{.+}} : vector<4xbf16> -> vector<4xf32>
  %3 = linattn.l2norm %y eps 1.0e-6 : vector<4xbf16> -> vector<4xf32>
  // CHECK: linattn.l2norm %{{.+}} eps 0.000000e+00 : vector<4xbf16> -> vector<4xf32>
  %4 = linattn.l2norm %y eps 0.0 : vector<4xbf16> -> vector<4xf32>
  return
}

// CHECK-LABEL: func.func @recurrence_all(
func.func @recurrence_all(%q: tensor<?x2x4xbf16>, %v: tensor<?x4x8xbf16>, %d: tensor<2xf32>,
                          %w: tensor<1x8xf32>, %s: tensor<9x4x4x8xf32>, %z: tensor<9x4x4x1xf32>,
                          %cu: tensor<4xi64>, %i: tensor<3xi32>) {
  // CHECK: linattn.recurrence tokens(%{{.+}} : tensor<?x2x4xbf16>, %{{.+}} : tensor<?x4x8xbf16>)
  // CHECK-SAME: params(%{{.+}} : tensor<2xf32>, %{{.+}} : tensor<1x8xf32>)
  // CHECK-SAME: state(%{{.+}} : tensor<9x4x4x8xf32>, %{{.+}} : tensor<9x4x4x1xf32>)
  // CHECK-SAME: seqlens(%{{.+}} : tensor<4xi64>) slots(%{{.+}} : tensor<3xi32>, padding = -7)
  // CHECK-SAME: snapshots(every = 64) precision(<mma = bf16x2, solve = f32>) attributes {note = "kept"}
  // CHECK-SAME: -> (tensor<?x4x8xbf16>, tensor<9x4x4x8xf32>, tensor<9x4x4x1xf32>, tensor<?x4x4x8xf32>, tensor<?x4x4x1xf32>)
  %r:5 = linattn.recurrence tokens(%q : tensor<?x2x4xbf16>, %v : tensor<?x4x8xbf16>)
      params(%d : tensor<2xf32>, %w : tensor<1x8xf32>)
      state(%s : tensor<9x4x4x8xf32>, %z : tensor<9x4x4x1xf32>)
      seqlens(%cu : tensor<4xi64>) slots(%i : tensor<3xi32>, padding = -7) snapshots(every = 64)
      precision(<mma = bf16x2, solve = f32>) attributes {note = "kept"}
      -> (tensor<?x4x8xbf16>, tensor<9x4x4x8xf32>, tensor<9x4x4x1xf32>, tensor<?x4x4x8xf32>,
          tensor<?x4x4x1xf32>) {
  // CHECK: ^bb0(%[[Q:.+]]: vector<4xbf16>, %[[V:.+]]: vector<8xbf16>, %[[D:.+]]: f32, %[[W:.+]]: vector<8xf32>,
  // CHECK-SAME: %[[S:.+]]: !linattn.state<4x8xf32>, %[[Z:.+]]: !linattn.state<4x1xf32>):
  ^step(%qt: vector<4xbf16>, %vt: vector<8xbf16>, %dt: f32, %wt: vector<8xf32>,
        %st: !linattn.state<4x8xf32>, %zt: !linattn.state<4x1xf32>):
    // CHECK: linattn.write %[[S]], %[[Q]], %[[V]]
    %s1 = linattn.write %st, %qt, %vt : !linattn.state<4x8xf32>, vector<4xbf16>, vector<8xbf16>
    // CHECK: linattn.yield %[[V]], %{{.+}}, %[[Z]] : vector<8xbf16>, !linattn.state<4x8xf32>, !linattn.state<4x1xf32>
    linattn.yield %vt, %s1, %zt : vector<8xbf16>, !linattn.state<4x8xf32>, !linattn.state<4x1xf32>
  }
  return
}

// CHECK-LABEL: func.func @recurrence_scalar(
func.func @recurrence_scalar(%x: tensor<2x?x1xf32>, %s: tensor<2x1x1x1xf64>) {
  // CHECK: linattn.recurrence tokens(%{{.+}} : tensor<2x?x1xf32>) state(%{{.+}} : tensor<2x1x1x1xf64>)
  // CHECK-SAME: -> (tensor<2x?x1xf32>, tensor<2x1x1x1xf64>) {
  %o, %sT = linattn.recurrence tokens(%x : tensor<2x?x1xf32>) state(%s : tensor<2x1x1x1xf64>)
      -> (tensor<2x?x1xf32>, tensor<2x1x1x1xf64>) {
  ^step(%xt: f32, %st: !linattn.state<1x1xf64>):
    linattn.yield %xt, %st : f32, !linattn.state<1x1xf64>
  }
  return
}

// A step without a state: a function of each token alone.
// CHECK-LABEL: func.func @recurrence_stateless(
func.func @recurrence_stateless(%x: tensor<?x?x3x2x4xf32>) -> tensor<?x?x3x2x4xf32> {
  // CHECK: linattn.recurrence tokens(%{{.+}} : tensor<?x?x3x2x4xf32>) -> (tensor<?x?x3x2x4xf32>) {
  %o = linattn.recurrence tokens(%x : tensor<?x?x3x2x4xf32>) -> (tensor<?x?x3x2x4xf32>) {
  ^step(%xt: vector<2x4xf32>):
    %y = arith.negf %xt : vector<2x4xf32>
    linattn.yield %y : vector<2x4xf32>
  }
  return %o : tensor<?x?x3x2x4xf32>
}

// CHECK-LABEL: func.func @short_conv(
func.func @short_conv(%x: tensor<?x?x8xbf16>, %p: tensor<?x8xbf16>, %w: tensor<8x4xf32>, %w1: tensor<8x1xf32>,
                      %b: tensor<8xf32>, %win: tensor<?x8x3xbf16>, %cu: tensor<?xi32>) {
  // CHECK: linattn.short_conv %{{.+}}, %{{.+}} : (tensor<?x?x8xbf16>, tensor<8x1xf32>) -> (tensor<?x?x8xbf16>)
  %0 = linattn.short_conv %x, %w1 : (tensor<?x?x8xbf16>, tensor<8x1xf32>) -> (tensor<?x?x8xbf16>)
  // CHECK: linattn.short_conv %{{.+}}, %{{.+}} bias(%{{.+}} : tensor<8xf32>) window(%{{.+}} : tensor<?x8x3xbf16>)
  // CHECK-SAME: seqlens(%{{.+}} : tensor<?xi32>) activation silu
  // CHECK-SAME: : (tensor<?x8xbf16>, tensor<8x4xf32>) -> (tensor<?x8xbf16>, tensor<?x8x3xbf16>)
  %1, %2 = linattn.short_conv %p, %w bias(%b : tensor<8xf32>) window(%win : tensor<?x8x3xbf16>)
      seqlens(%cu : tensor<?xi32>) activation silu
      : (tensor<?x8xbf16>, tensor<8x4xf32>) -> (tensor<?x8xbf16>, tensor<?x8x3xbf16>)
  return
}

// CHECK-LABEL: func.func @softmax_attention(
func.func @softmax_attention(%q: tensor<?x?x4x8xbf16>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x16xbf16>,
                             %pq: tensor<?x4x8xf64>, %pk: tensor<?x2x8xf64>, %cu: tensor<?xi32>, %ck: tensor<?xi64>,
                             %bias: tensor<?x?xf64>) {
  // CHECK: linattn.softmax_attention %{{.+}}, %{{.+}}, %{{.+}} : (tensor<?x?x4x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x16xbf16>) -> (tensor<?x?x4x16xbf16>)
  %0 = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x16xbf16>) -> (tensor<?x?x4x16xbf16>)
  // CHECK: linattn.softmax_attention %{{.+}}, %{{.+}}, %{{.+}} scale 5.000000e-01 causal window 3
  // CHECK-SAME: -> (tensor<?x?x4x16xbf16>, tensor<?x?x4xf32>)
  %1, %2 = linattn.softmax_attention %q, %k, %v scale 0.5 causal window 3
      : (tensor<?x?x4x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x16xbf16>)
     -> (tensor<?x?x4x16xbf16>, tensor<?x?x4xf32>)
  // CHECK: linattn.softmax_attention %{{.+}}, %{{.+}}, %{{.+}} seqlens(%{{.+}} : tensor<?xi32>) kv_seqlens(%{{.+}} : tensor<?xi64>) score {
  // CHECK: ^bb0(%[[S:.+]]: f64, %[[B:.+]]: index, %[[H:.+]]: index, %[[T:.+]]: index, %[[J:.+]]: index):
  // CHECK: tensor.extract %{{.+}}[%[[T]], %[[J]]]
  // CHECK: linattn.yield %{{.+}} : f64
  %3 = linattn.softmax_attention %pq, %pk, %pk seqlens(%cu : tensor<?xi32>) kv_seqlens(%ck : tensor<?xi64>) score {
  ^score(%s: f64, %b: index, %h: index, %t: index, %j: index):
    %x = tensor.extract %bias[%t, %j] : tensor<?x?xf64>
    %y = arith.addf %s, %x : f64
    linattn.yield %y : f64
  } : (tensor<?x4x8xf64>, tensor<?x2x8xf64>, tensor<?x2x8xf64>) -> (tensor<?x4x8xf64>)
  return
}

// CHECK-LABEL: func.func @diff_attention(
func.func @diff_attention(%q: tensor<?x?x8x8xbf16>, %k1: tensor<?x?x4x8xbf16>, %v1: tensor<?x?x2x16xbf16>,
                          %k2: tensor<?x?x2x8xbf16>, %l: tensor<f32>, %lh: tensor<4xf32>, %lt: tensor<?x?x4xf32>,
                          %w: tensor<16xf32>) {
  // CHECK: linattn.diff_attention v1 %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : ({{.+}}, tensor<f32>) -> tensor<?x?x4x16xbf16>
  %0 = linattn.diff_attention v1 %q, %k1, %v1, %l
      : (tensor<?x?x8x8xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x2x16xbf16>, tensor<f32>) -> tensor<?x?x4x16xbf16>
  // CHECK: linattn.diff_attention v1 %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} scale 2.500000e-01 causal window 5
  // CHECK-SAME: norm(%{{.+}} : tensor<16xf32>) eps 1.000000e-03 output_scale 2.000000e-01
  %1 = linattn.diff_attention v1 %q, %k1, %v1, %lh scale 0.25 causal window 5
      norm(%w : tensor<16xf32>) eps 1.0e-3 output_scale 0.2
      : (tensor<?x?x8x8xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x2x16xbf16>, tensor<4xf32>) -> tensor<?x?x4x16xbf16>
  // CHECK: linattn.diff_attention v2 %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} score {
  // CHECK: linattn.yield
  %2 = linattn.diff_attention v2 %q, %k2, %k2, %lt score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    linattn.yield %s : f32
  } : (tensor<?x?x8x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x4xf32>) -> tensor<?x?x4x8xbf16>
  return
}

// CHECK-LABEL: func.func private @precision()
// CHECK-SAME: #linattn.precision<mma = tf32x3, solve = bf16>
func.func private @precision() attributes {precision = #linattn.precision<mma = tf32x3, solve = bf16>}
