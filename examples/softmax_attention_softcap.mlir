// Softmax attention with capped scores: s <- 20 tanh(s / 20), through the score region.
// Not causal; all in f32.
// reference: softmax_attention(q, k, v, score=lambda s, b, h, t, j: 20 * np.tanh(s / 20)) -> o
func.func @softmax_attention_softcap(
    %q: tensor<?x?x8x64xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x8x64xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x8x64xf32> {linattn.name = "v", linattn.sample = "value"})
    -> tensor<?x?x8x64xf32> {
  %o = linattn.softmax_attention %q, %k, %v score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %cap = arith.constant 20.0 : f32
    %x = arith.divf %s, %cap : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %cap : f32
    linattn.yield %z : f32
  } : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>) -> (tensor<?x?x8x64xf32>)
  return %o : tensor<?x?x8x64xf32>
}
