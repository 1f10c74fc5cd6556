// RUN: linattn-opt %s --chunked-to-tile --split-input-file --verify-diagnostics

func.func @small_chunk(%k: tensor<?x?x2x16xf32>, %s0: tensor<?x2x16x16xf32>) -> tensor<?x2x16x16xf32> {
  // expected-error @+1 {{'linattn.chunked' op is not lowered to tiles: a chunk has at least 16 tokens, got 4}}
  %sT = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x2x16xf32>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^bb0(%valid: tensor<4xi1>, %kt: tensor<4x16xf32>, %s: tensor<16x16xf32>):
    linattn.yield %s : tensor<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}

// -----

func.func @odd_width(%k: tensor<?x?x2x9xbf16>, %s0: tensor<?x2x16x16xf32>) -> tensor<?x2x16x16xf32> {
  // expected-error @+1 {{'linattn.chunked' op has no form on tiles yet: token operand 0 has 9 elements of 'bf16' per token, no multiple of 4 bytes (the token-serial kernel runs it)}}
  %sT = linattn.chunked chunk = 16 tokens(%k : tensor<?x?x2x9xbf16>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^bb0(%valid: tensor<16xi1>, %kt: tensor<16x9xbf16>, %s: tensor<16x16xf32>):
    linattn.yield %s : tensor<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}

// -----

func.func @constants(%k: tensor<?x?x2x16xf32>, %s0: tensor<?x2x16x16xf32>) -> tensor<?x2x16x16xf32> {
  %sT = linattn.chunked chunk = 16 tokens(%k : tensor<?x?x2x16xf32>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^bb0(%valid: tensor<16xi1>, %kt: tensor<16x16xf32>, %s: tensor<16x16xf32>):
    // expected-error @+1 {{'arith.constant' op has no form on tiles yet: constants have equal elements, others can be parameters (the token-serial kernel runs it)}}
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]> : tensor<16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %b = linalg.broadcast ins(%c : tensor<16xf32>) outs(%e : tensor<16x16xf32>) dimensions = [1]
    %t = arith.addf %s, %b : tensor<16x16xf32>
    linattn.yield %t : tensor<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}

// -----

func.func @recurrence(%k: tensor<?x?x2x16xf32>, %s0: tensor<?x2x16x16xf32>) -> tensor<?x2x16x16xf32> {
  // expected-error @+1 {{'linattn.recurrence' op is no chunk form (--linattn-chunkwise makes it)}}
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x16xf32>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^step(%kt: vector<16xf32>, %s: !linattn.state<16x16xf32>):
    linattn.yield %s : !linattn.state<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}
