// Causal attention of different widths of keys and values, grouped heads.

func.func @keys_64_values_128(%q: tensor<?x?x2x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x128xbf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x128xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x128xbf16>) -> (tensor<?x?x2x128xbf16>)
  return %o : tensor<?x?x2x128xbf16>
}

func.func @keys_96_values_192(%q: tensor<?x?x2x96xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x96xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xbf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x192xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x96xbf16>, tensor<?x?x1x96xbf16>, tensor<?x?x1x192xbf16>) -> (tensor<?x?x2x192xbf16>)
  return %o : tensor<?x?x2x192xbf16>
}

func.func @keys_192_values_128(%q: tensor<?x?x2x192xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x192xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x128xbf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x128xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x1x128xbf16>) -> (tensor<?x?x2x128xbf16>)
  return %o : tensor<?x?x2x128xbf16>
}

func.func @keys_80_values_40(%q: tensor<?x?x2x80xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x80xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x40xf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x40xf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x80xf16>, tensor<?x?x1x80xf16>, tensor<?x?x1x40xf16>) -> (tensor<?x?x2x40xf16>)
  return %o : tensor<?x?x2x40xf16>
}

func.func @width_256(%q: tensor<?x?x2x256xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x256xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>) -> (tensor<?x?x2x256xbf16>)
  return %o : tensor<?x?x2x256xbf16>
}

func.func @width_256_f32(%q: tensor<?x?x2x256xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x256xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xf32> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x256xf32> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x256xf32>, tensor<?x?x1x256xf32>, tensor<?x?x1x256xf32>) -> (tensor<?x?x2x256xf32>)
  return %o : tensor<?x?x2x256xf32>
}

func.func @width_2(%q: tensor<?x?x2x2xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x2xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x2xbf16> {linattn.name = "v", linattn.sample = "value"}) -> tensor<?x?x2x2xbf16> {
  %o = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x2xbf16>, tensor<?x?x1x2xbf16>, tensor<?x?x1x2xbf16>) -> (tensor<?x?x2x2xbf16>)
  return %o : tensor<?x?x2x2xbf16>
}

// Differential attention, whose blocks have two rows of values: beyond 128 columns
// several of them share these.

func.func @v1_keys_96_values_192(%q: tensor<?x?x4x96xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x96xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x192xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x96xbf16>, tensor<?x?x2x96xbf16>, tensor<?x?x1x192xbf16>, tensor<f32>) -> tensor<?x?x2x192xbf16>
  return %o : tensor<?x?x2x192xbf16>
}

func.func @v2_keys_96_values_192_f16(%q: tensor<?x?x4x96xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x96xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<?x?x2xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x192xf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x96xf16>, tensor<?x?x1x96xf16>, tensor<?x?x1x192xf16>, tensor<?x?x2xf32>) -> tensor<?x?x2x192xf16>
  return %o : tensor<?x?x2x192xf16>
}

func.func @v1_keys_192_values_128(%q: tensor<?x?x4x192xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x192xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<2xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x128xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x192xbf16>, tensor<?x?x2x192xbf16>, tensor<?x?x1x128xbf16>, tensor<2xf32>) -> tensor<?x?x2x128xbf16>
  return %o : tensor<?x?x2x128xbf16>
}

func.func @v2_keys_192_values_128(%q: tensor<?x?x4x192xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x192xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x128xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x128xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x1x128xbf16>, tensor<f32>) -> tensor<?x?x2x128xbf16>
  return %o : tensor<?x?x2x128xbf16>
}

func.func @v1_keys_64_values_256(%q: tensor<?x?x4x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<?x?x2xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal window 33
      : (tensor<?x?x4x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x2xf32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @v2_keys_128_values_256(%q: tensor<?x?x4x128xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x128xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<2xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x256xbf16>, tensor<2xf32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @v1_keys_128_values_256_f16(%q: tensor<?x?x4x128xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x128xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x256xf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x128xf16>, tensor<?x?x2x128xf16>, tensor<?x?x1x256xf16>, tensor<f32>) -> tensor<?x?x2x256xf16>
  return %o : tensor<?x?x2x256xf16>
}

func.func @v2_keys_192_values_192(%q: tensor<?x?x4x192xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x192xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<?x?x2xf32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x192xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x2xf32>) -> tensor<?x?x2x192xbf16>
  return %o : tensor<?x?x2x192xbf16>
}

func.func @v1_keys_256_values_256(%q: tensor<?x?x4x256xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x256xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal output_scale 0.5
      : (tensor<?x?x4x256xbf16>, tensor<?x?x2x256xbf16>, tensor<?x?x1x256xbf16>, tensor<f32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @v2_keys_256_values_256(%q: tensor<?x?x4x256xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x256xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x256xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x256xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>, tensor<f32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}

func.func @v1_keys_96_values_192_f32(%q: tensor<?x?x4x96xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x96xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x192xf32> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x192xf32> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x96xf32>, tensor<?x?x2x96xf32>, tensor<?x?x1x192xf32>, tensor<f32>) -> tensor<?x?x2x192xf32>
  return %o : tensor<?x?x2x192xf32>
}

func.func @v2_keys_64_values_512(%q: tensor<?x?x4x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x512xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x512xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal
      : (tensor<?x?x4x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x512xbf16>, tensor<f32>) -> tensor<?x?x2x512xbf16>
  return %o : tensor<?x?x2x512xbf16>
}

// Log-sum-exp beside values in parts.
func.func @keys_64_values_512(%q: tensor<?x?x2x64xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x1x64xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x1x512xbf16> {linattn.name = "v", linattn.sample = "value"})
    -> (tensor<?x?x2x512xbf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal
      : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x512xbf16>)
      -> (tensor<?x?x2x512xbf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x512xbf16>, tensor<?x?x2xf32>
}
