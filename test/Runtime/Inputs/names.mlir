func.func @names(
    %k: tensor<?x?x1x4xf32> {linattn.name = "k", linattn.dims = ["batch", "time", "", ""]},
    %spare: tensor<?x?xf32> {linattn.name = "spare"},
    %g: tensor<?x?x1xf32> {linattn.name = "g", linattn.dims = ["rows", "steps", ""]})
    -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %b = tensor.dim %k, %c0 : tensor<?x?x1x4xf32>
  %s0 = tensor.splat %one[%b] : tensor<?x1x4x4xf32>
  %o, %sT = linattn.recurrence
      tokens(%k : tensor<?x?x1x4xf32>, %g : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x4x4xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>) {
  ^step(%kt: vector<4xf32>, %gt: f32, %s: !linattn.state<4x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<4x4xf32>, f32
    %s2 = linattn.write %s1, %kt, %kt : !linattn.state<4x4xf32>, vector<4xf32>, vector<4xf32>
    %ot = linattn.read %s2, %kt : !linattn.state<4x4xf32>, vector<4xf32>
    linattn.yield %ot, %s2 : vector<4xf32>, !linattn.state<4x4xf32>
  }
  return %o, %sT : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>
}
