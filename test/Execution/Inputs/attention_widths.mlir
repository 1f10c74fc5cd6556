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
