// Two states and one result: the verifier looked past the results.
func.func @f(%k: tensor<?x?x1x4xf32>, %s: tensor<?x1x4x4xf32>) -> tensor<?x1x4x4xf32> {
  %sT = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x1x4xf32>)
      state(%s : tensor<?x1x4x4xf32>, %s : tensor<?x1x4x4xf32>) -> (tensor<?x1x4x4xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    linattn.yield %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %sT : tensor<?x1x4x4xf32>
}
