// RUN: linattn-opt --linattn-to-tile --verify-diagnostics %s

// A convolution of gates: a number per head is no row of a tile.
func.func @gates(%x: tensor<?x?x2xf32>, %w: tensor<2x4xf32>, %k: tensor<?x?x2x16xbf16>, %s0: tensor<?x2x16x16xf32>)
    -> tensor<?x2x16x16xf32> {
  // expected-error @+1 {{'linattn.short_conv' op is not computed in front of tiles: token operand 1 has no vectors per token, which are rows of a tile (fuse-conv=0 gives it a launch of its own)}}
  %g = linattn.short_conv %x, %w : (tensor<?x?x2xf32>, tensor<2x4xf32>) -> (tensor<?x?x2xf32>)
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x16xbf16>, %g : tensor<?x?x2xf32>) state(%s0 : tensor<?x2x16x16xf32>) -> (tensor<?x2x16x16xf32>) {
  ^step(%kt: vector<16xbf16>, %gt: f32, %s: !linattn.state<16x16xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<16x16xf32>, f32
    %s2 = linattn.write %s1, %kt, %kt : !linattn.state<16x16xf32>, vector<16xbf16>, vector<16xbf16>
    linattn.yield %s2 : !linattn.state<16x16xf32>
  }
  return %sT : tensor<?x2x16x16xf32>
}
