// RUN: linattn-opt --linattn-short-conv-to-simt --split-input-file --verify-diagnostics %s

func.func @double(%x: tensor<?x?x8xf64>, %w: tensor<8x4xf64>) -> tensor<?x?x8xf64> {
  // expected-error @below {{is not lowered to a SIMT kernel: it computes in f32, operand 0 is 'tensor<?x?x8xf64>' (f64 runs on the CPU)}}
  %y = linattn.short_conv %x, %w : (tensor<?x?x8xf64>, tensor<8x4xf64>) -> (tensor<?x?x8xf64>)
  return %y : tensor<?x?x8xf64>
}

// -----

func.func @made(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %w = arith.constant dense<1.0> : tensor<8x4xf32>
  // expected-error @below {{operand 1 is an argument of the function to become a parameter of a kernel}}
  %y = linattn.short_conv %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return %y : tensor<?x?x8xf32>
}
