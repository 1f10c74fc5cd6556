// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// short_conv_c1
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c1) the input has rank 3 without seqlens and a static, positive last dimension, got 'tensor<?x8xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>)
  return
}

// -----

// short_conv_c1
func.func @f(%x: tensor<?x?x?xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c1) the input has rank 3 without seqlens and a static, positive last dimension, got 'tensor<?x?x?xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x?xf32>, tensor<8x4xf32>) -> (tensor<?x?x?xf32>)
  return
}

// -----

// short_conv_c1
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %cu: tensor<?xi32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c1) the input has rank 2 with seqlens and a static, positive last dimension, got 'tensor<?x?x8xf32>'}}
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<?xi32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c2
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x5xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c2) the weight is [C, W] with C = 8 and W from 1 to 4, got 'tensor<8x5xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<8x5xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c2
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x?xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c2) the weight is [C, W] with C = 8 and W from 1 to 4, got 'tensor<8x?xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<8x?xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c2
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c2) the weight is [C, W] with C = 8 and W from 1 to 4, got 'tensor<4x8xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c2
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x1x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c2) the weight is [C, W] with C = 8 and W from 1 to 4, got 'tensor<8x1x4xf32>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<8x1x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c3
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c3) the bias is [C] with C = 8, got 'tensor<4xf32>'}}
  %y = linattn.short_conv %x, %w bias(%b : tensor<4xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c3
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %b: tensor<?xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c3) the bias is [C] with C = 8, got 'tensor<?xf32>'}}
  %y = linattn.short_conv %x, %w bias(%b : tensor<?xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c4
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<?x8x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c4) the window is [N, C, W - 1] with C = 8, W = 4 > 1, got 'tensor<?x8x4xf32>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<?x8x4xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x4xf32>)
  return
}

// -----

// short_conv_c4
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<?x3x8xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c4) the window is [N, C, W - 1] with C = 8, W = 4 > 1, got 'tensor<?x3x8xf32>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<?x3x8xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x3x8xf32>)
  return
}

// -----

// short_conv_c4
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x1xf32>, %w0: tensor<?x8x0xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c4) the window is [N, C, W - 1] with C = 8, W = 1 > 1, got 'tensor<?x8x0xf32>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<?x8x0xf32>)
      : (tensor<?x?x8xf32>, tensor<8x1xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x0xf32>)
  return
}

// -----

// short_conv_c4
func.func @f(%x: tensor<2x?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<3x8x3xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c4) the window holds one sequence per batch item, B = 2, got N = 3}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<3x8x3xf32>)
      : (tensor<2x?x8xf32>, tensor<8x4xf32>) -> (tensor<2x?x8xf32>, tensor<3x8x3xf32>)
  return
}

// -----

// short_conv_c5
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %cu: tensor<?x1xi32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c5) seqlens is [N + 1], got 'tensor<?x1xi32>'}}
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<?x1xi32>)
      : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>)
  return
}

// -----

// short_conv_c5
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %cu: tensor<0xi32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c5) seqlens is [N + 1], got 'tensor<0xi32>'}}
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<0xi32>)
      : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>)
  return
}

// -----

// short_conv_c5
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<3x8x3xf32>, %cu: tensor<3xi64>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c5) seqlens has one offset more than the window has sequences, N = 3, got 'tensor<3xi64>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<3x8x3xf32>) seqlens(%cu : tensor<3xi64>)
      : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>, tensor<3x8x3xf32>)
  return
}

// -----

// short_conv_c5: N is too large for N + 1
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<9223372036854775807x8x3xf32>, %cu: tensor<3xi64>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c5) seqlens has one offset more than the window has sequences, N = 9223372036854775807, got 'tensor<3xi64>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<9223372036854775807x8x3xf32>) seqlens(%cu : tensor<3xi64>)
      : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>, tensor<9223372036854775807x8x3xf32>)
  return
}

// -----

// short_conv_c6
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c6) the result has the input's type 'tensor<?x?x8xf32>', got 'tensor<?x?x8xbf16>'}}
  %y = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xbf16>)
  return
}

// -----

// short_conv_c6
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c6) the final window is returned with a window, and only then, got 2 result(s)}}
  %y, %w1 = linattn.short_conv %x, %w
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x3xf32>)
  return
}

// -----

// short_conv_c6
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<?x8x3xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c6) the final window is returned with a window, and only then, got 1 result(s)}}
  %y = linattn.short_conv %x, %w window(%w0 : tensor<?x8x3xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// short_conv_c6
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %w0: tensor<?x8x3xf32>) {
  // expected-error@+1 {{'linattn.short_conv' op (short_conv_c6) the final window has the window's type 'tensor<?x8x3xf32>', got 'tensor<?x8x3xbf16>'}}
  %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<?x8x3xf32>)
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x8x3xbf16>)
  return
}

// -----

// an unknown activation
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{custom op 'linattn.short_conv' expected string or keyword containing one of the following enum values for attribute 'activation' [none, silu]}}
  %y = linattn.short_conv %x, %w activation relu
      : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}
