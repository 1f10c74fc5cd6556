// What makes lambda and has no form in a kernel, each at the operation that has none.
// RUN: linattn-opt %s -split-input-file -verify-diagnostics --linattn-tile-attention --linattn-attention-tiles-to-tile

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>) -> tensor<?x?x4x128xbf16> {
  // expected-error @below {{'tensor.extract_slice' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: got none of these}}
  %lambda = tensor.extract_slice %x[0, 0] [4, 1] [1, 1] : tensor<4x64xf32> to tensor<4xf32>
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// -----

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>) -> tensor<?x?x4x128xbf16> {
  // expected-error @below {{'arith.constant' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: a constant is one number throughout, got unequal ones}}
  %lambda = arith.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// -----

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>, %y: tensor<4xf32>, %init: f32) -> tensor<?x?x4x128xbf16> {
  // lambda_init as a number: the error stands where it is read.
  %l0 = tensor.empty() : tensor<4xf32>
  %lambda = linalg.map ins(%y : tensor<4xf32>) outs(%l0 : tensor<4xf32>) (%a: f32, %b: f32) {
    %e = math.exp %a : f32
    // expected-error @below {{'arith.addf' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: numbers from outside are constants or elements of tensors that are operands (tensor<f32>), got a value of type f32}}
    %s = arith.addf %e, %init : f32
    linalg.yield %s : f32
  }
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// -----

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>, %init: f32) -> tensor<?x?x4x128xbf16> {
  // The same by way of another operation: not at the one that is elementwise.
  %c = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @below {{'tensor.from_elements' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: got none of these}}
  %i = tensor.from_elements %init, %init, %init, %init : tensor<4xf32>
  %lambda = arith.addf %c, %i : tensor<4xf32>
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// -----

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>, %y: tensor<65x4xf32>) -> tensor<?x?x4x128xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{'linalg.reduce' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: sums are over the last dimension of arguments, or of at most 64 terms, got 65}}
  %lambda = linalg.reduce { arith.addf } ins(%y : tensor<65x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}

// -----

func.func @f(
    %q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x2x128xbf16>,
    %x: tensor<4x64xf32>, %y: tensor<?x4xf32>) -> tensor<?x?x4x128xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{'linalg.reduce' op is no part of a kernel, whose attention reads a number per head (lambda) that is made of arguments by elementwise operations, linalg operations on them, and sums: sums have a static size, got '?'}}
  %lambda = linalg.reduce { arith.addf } ins(%y : tensor<?x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal
      : (tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<4xf32>) -> tensor<?x?x4x128xbf16>
  return %o : tensor<?x?x4x128xbf16>
}
