// Gated linear attention, one head, K = 2, V = 3.
func.func @tiny(%q: tensor<?x?x1x2xf32> {linattn.name = "q"}, %k: tensor<?x?x1x2xf32> {linattn.name = "k"},
    %v: tensor<?x?x1x3xf32> {linattn.name = "v"}, %g: tensor<?x?x1xf32> {linattn.name = "g"},
    %s0: tensor<?x1x2x3xf32> {linattn.name = "s0"}) -> (tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x1x2xf32>, %k : tensor<?x?x1x2xf32>, %v : tensor<?x?x1x3xf32>, %g : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x2x3xf32>) -> (tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>) {
  ^step(%qt: vector<2xf32>, %kt: vector<2xf32>, %vt: vector<3xf32>, %gt: f32, %s: !linattn.state<2x3xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<2x3xf32>, f32
    %s2 = linattn.write %s1, %kt, %vt : !linattn.state<2x3xf32>, vector<2xf32>, vector<3xf32>
    %o = linattn.read %s2, %qt : !linattn.state<2x3xf32>, vector<2xf32>
    linattn.yield %o, %s2 : vector<3xf32>, !linattn.state<2x3xf32>
  }
  return %r#0, %r#1 : tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>
}
