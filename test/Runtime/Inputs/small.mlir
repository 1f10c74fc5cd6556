func.func @small(
    %q: tensor<?x?x1x4xf32> {linattn.name = "q"}, %k: tensor<?x?x1x4xf32> {linattn.name = "k"},
    %v: tensor<?x?x2x3xf32> {linattn.name = "v"}, %g: tensor<?x?x2xf32> {linattn.name = "g"},
    %beta: tensor<?x?x2xf32> {linattn.name = "beta"}, %s0: tensor<?x2x4x3xf32> {linattn.name = "s0"})
    -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x4xf32>, %k : tensor<?x?x1x4xf32>, %v : tensor<?x?x2x3xf32>,
             %g : tensor<?x?x2xf32>, %beta : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x4x3xf32>) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>) {
  ^step(%qt: vector<4xf32>, %kt: vector<4xf32>, %vt: vector<3xf32>, %gt: f32, %bt: f32,
        %s: !linattn.state<4x3xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<4x3xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<4x3xf32>, vector<4xf32>, vector<3xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.5 : !linattn.state<4x3xf32>, vector<4xf32>
    linattn.yield %ot, %s2 : vector<3xf32>, !linattn.state<4x3xf32>
  }
  return %o, %sT : tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>
}
