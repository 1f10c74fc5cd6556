// The short convolution before q, k and v: y_t = silu(bias + sum_{j < 4} w_j x_{t-3+j}),
// each channel alone; the window carries the last three inputs from call to call.
// reference: short_conv(x, w, bias, window, activation="silu") -> y, windowT
func.func @short_conv(
    %x: tensor<?x?x256xbf16> {linattn.name = "x", linattn.sample = "value"},
    %w: tensor<256x4xf32> {linattn.name = "w", linattn.sample = "weight"},
    %bias: tensor<256xf32> {linattn.name = "bias", linattn.sample = "value"},
    %window: tensor<?x256x3xf32> {linattn.name = "window", linattn.sample = "value"})
    -> (tensor<?x?x256xbf16>, tensor<?x256x3xf32>) {
  %y, %windowT = linattn.short_conv %x, %w bias(%bias : tensor<256xf32>)
      window(%window : tensor<?x256x3xf32>) activation silu
      : (tensor<?x?x256xbf16>, tensor<256x4xf32>) -> (tensor<?x?x256xbf16>, tensor<?x256x3xf32>)
  return %y, %windowT : tensor<?x?x256xbf16>, tensor<?x256x3xf32>
}
