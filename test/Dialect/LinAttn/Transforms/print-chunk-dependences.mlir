// RUN: linattn-opt %examples/linear_attention.mlir --linattn-chunkwise --cse --linattn-print-chunk-dependences -o /dev/null | FileCheck %s --check-prefix=LINEAR
// RUN: linattn-opt %examples/gated_deltanet.mlir --linattn-chunkwise --cse --linattn-print-chunk-dependences -o /dev/null | FileCheck %s --check-prefix=GDN
// RUN: linattn-opt %examples/kda.mlir --linattn-chunkwise --cse --linattn-print-chunk-dependences -o /dev/null | FileCheck %s --check-prefix=KDA
// RUN: linattn-opt %examples/deltaproduct.mlir --linattn-chunkwise --cse --linattn-print-chunk-dependences -o /dev/null | FileCheck %s --check-prefix=PRODUCT
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 --cse --linattn-print-chunk-dependences -o /dev/null | FileCheck %s --check-prefix=TWO

// The IR does not change.
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 -o %t.before
// RUN: linattn-opt %s --linattn-chunkwise=chunk=16 --linattn-print-chunk-dependences -o %t.after > /dev/null
// RUN: diff %t.before %t.after

// No write waits for a read: the state only collects.
// LINEAR:      chunk of 64 tokens in @linear_attention: 16 heads, %s 64x64
// LINEAR:      output     %[[R:.*]] = linalg.matmul %{{.*}}, %{{.*}} -> tensor<64x64xf32>, 524288 flops{{$}}
// LINEAR:      off chain  %{{.*}} = linattn.decay_product %{{.*}}, 524288 flops
// LINEAR:      output     %{{.*}} = linalg.matmul %{{.*}}, %{{.*}}, %[[R]] -> tensor<64x64xf32>, 524288 flops, only adds
// LINEAR:      on chain   %[[S:.*]] = linalg.matmul %{{.*}}, %{{.*}}, %s -> tensor<64x64xf32>, 524288 flops, only adds
// LINEAR:      class      operations  products       flops
// LINEAR-NEXT: off chain {{[0-9]+}} 1 524288
// LINEAR-NEXT: on chain 1 1 524288
// LINEAR-NEXT: output {{[0-9]+}} 2 1048576
// LINEAR-NEXT: chain from state to state: 1 product: %[[S]]

// What the read of k sees, T times it, and the state: three products in a row. The
// inverse (64^3 / 3) and both decay products are beside the chain, the reads of q behind it.
// GDN:      chunk of 64 tokens in @gated_deltanet: 32 heads, %s 128x128
// GDN:      on chain   %[[R:.*]] = linalg.matmul %{{.*}} -> tensor<64x128xf32>, 2097152 flops
// GDN:      off chain  %[[A:.*]] = linattn.decay_product %{{.*}} -> tensor<64x64xf32>, 1048576 flops
// GDN:      off chain  %[[T:.*]] = linattn.unit_lower_solve %{{.*}} -> tensor<64x64xf32>, 87381 flops
// GDN:      on chain   %[[U:.*]] = linalg.matmul %{{.*}} -> tensor<64x128xf32>, 1048576 flops
// GDN:      output     %{{.*}} = linalg.matmul %{{.*}} -> tensor<64x128xf32>, 2097152 flops
// GDN:      off chain  %{{.*}} = linattn.decay_product
// GDN:      output     %{{.*}} = linalg.matmul %{{.*}} -> tensor<64x128xf32>, 1048576 flops
// GDN:      on chain   %[[S:.*]] = linalg.matmul %{{.*}} -> tensor<128x128xf32>, 2097152 flops
// GDN:      off chain {{[0-9]+}} 3 2184533
// GDN-NEXT: on chain {{[0-9]+}} 3 5242880
// GDN-NEXT: output {{[0-9]+}} 2 3145728
// GDN-NEXT: chain from state to state: 3 products: %[[R]], %[[U]], %[[S]]

// A gate per key changes what is scaled, not what waits.
// KDA:      off chain {{[0-9]+}} 3 2184533
// KDA-NEXT: on chain {{[0-9]+}} 3 5242880
// KDA-NEXT: output {{[0-9]+}} 2 3145728
// KDA-NEXT: chain from state to state: 3 products

// Two updates per token: one system of 128 rows, and two products that add to the
// state, one after the other.
// PRODUCT:      off chain  %{{.*}} = linattn.unit_lower_solve %{{.*}} -> tensor<128x128xf32>, 699050 flops
// PRODUCT:      chain from state to state: 4 products

// Two states, the second of which stores what the first answers. The longest way
// begins in one and ends in the other: what q sees of S0 and of the chunk's writes
// (a product that only adds), T times it, and the second state.
// TWO:      chunk of 16 tokens in @two_states: 2 heads, %s 8x4, %s_{{[0-9]+}} 8x4
// TWO:      on chain %[[R0:.*]] = linalg.matmul %{{.*}}, %s -> tensor<16x4xf32>
// TWO:      on chain %[[R:.*]] = linalg.matmul %{{.*}}, %[[R0]] -> tensor<16x4xf32>, 2048 flops, only adds
// TWO:      chain from state to state: 4 products: %[[R0]], %[[R]], %{{.*}}, %{{.*}}
func.func @two_states(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>,
    %s0: tensor<?x2x8x4xf32>, %z0: tensor<?x2x8x4xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>, %z0 : tensor<?x2x8x4xf32>)
      -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<4xf32>, %s: !linattn.state<8x4xf32>, %z: !linattn.state<8x4xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %r = linattn.read %s1, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    %z1 = linattn.write %z, %kt, %r : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %o = linattn.read %z1, %qt : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %o, %s1, %z1 : vector<4xf32>, !linattn.state<8x4xf32>, !linattn.state<8x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>
}
