// RUN: not linattn-opt %s --linattn-attention-to-tile 2>&1 | FileCheck %s

// A number that is an argument of the function itself has no place in memory.
// CHECK: error: 'arith.addf' op has no form on tiles: it reads argument 3 of the function, of type 'f32' (give it as a tensor of one number, taken by tensor.extract)
func.func @shifted(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>, %p: f32)
    -> tensor<?x?x2x64xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %x = arith.addf %s, %p : f32
    linattn.yield %x : f32
  } : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>)
  return %o : tensor<?x?x2x64xbf16>
}
