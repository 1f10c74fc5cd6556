// The lowering of attention kept a list of the score's arguments beyond its life.
func.func @f(%q: tensor<?x?x2x4xf32>, %bias: tensor<?x?xf32>) -> tensor<?x?x2x4xf32> {
  %o = linattn.softmax_attention %q, %q, %q score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %cap = arith.constant 20.0 : f32
    %x = tensor.extract %bias[%t, %j] : tensor<?x?xf32>
    %y = arith.addf %s, %x : f32
    %z = math.tanh %y : f32
    %w = arith.mulf %z, %cap : f32
    linattn.yield %w : f32
  } : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>)
  return %o : tensor<?x?x2x4xf32>
}
