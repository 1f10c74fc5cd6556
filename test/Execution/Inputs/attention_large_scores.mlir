// Scores far from 0: finite masks of the first keys, so that whole key tiles and,
// where causal, all keys of some rows have it; and scales with which one key of a
// row has all of the weight.

func.func @mask_bf16(%q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant -1.0e30 : f32
    %zero = arith.constant 0.0 : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %m = arith.select %hidden, %none, %zero : f32
    %x = arith.addf %s, %m : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>
}

func.func @mask_f32(%q: tensor<?x?x2x32xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf32> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant -1.0e30 : f32
    %zero = arith.constant 0.0 : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %m = arith.select %hidden, %none, %zero : f32
    %x = arith.addf %s, %m : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf32>, tensor<?x?x2xf32>
}

func.func @least_f16(%q: tensor<?x?x2x32xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant 0xFF7FFFFF : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %x = arith.select %hidden, %none, %s : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x2x32xf16>, tensor<?x?x2x32xf16>, tensor<?x?x2x32xf16>) -> (tensor<?x?x2x32xf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf16>, tensor<?x?x2xf32>
}

func.func @least_f32(%q: tensor<?x?x2x32xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf32> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v window 60 score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant 0xFF7FFFFF : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %x = arith.select %hidden, %none, %s : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf32>, tensor<?x?x2xf32>
}

func.func @scaled_mask(%q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 3.0e-25 causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant -1.0e30 : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %x = arith.select %hidden, %none, %s : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>
}

func.func @scale_1e9(%q: tensor<?x?x2x32xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf32> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 1.0e9 causal
      : (tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf32>, tensor<?x?x2xf32>
}

func.func @scale_1e9_bf16(%q: tensor<?x?x2x32xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 1.0e9
      : (tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>) -> (tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xbf16>, tensor<?x?x2xf32>
}

func.func @scale_1e35(%q: tensor<?x?x2x32xf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf16>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 1.0e35 causal
      : (tensor<?x?x2x32xf16>, tensor<?x?x2x32xf16>, tensor<?x?x2x32xf16>) -> (tensor<?x?x2x32xf16>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf16>, tensor<?x?x2xf32>
}

func.func @scale_denormal(%q: tensor<?x?x2x32xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf32> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 1.0e-39 causal
      : (tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x?x2x32xf32>, tensor<?x?x2xf32>)
  return %o, %lse : tensor<?x?x2x32xf32>, tensor<?x?x2xf32>
}

// Of 1024 keys the first part is masked throughout.
func.func @decode(%q: tensor<?x3x4x32xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x3x4x32xbf16>, tensor<?x3x4xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 1100 : index
    %none = arith.constant -1.0e30 : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %x = arith.select %hidden, %none, %s : f32
    linattn.yield %x : f32
  }
      : (tensor<?x3x4x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>) -> (tensor<?x3x4x32xbf16>, tensor<?x3x4xf32>)
  return %o, %lse : tensor<?x3x4x32xbf16>, tensor<?x3x4xf32>
}

func.func @decode_scale(%q: tensor<?x1x4x32xf32> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xf32> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xf32> {linattn.name = "v", linattn.sample = "value"}) -> (tensor<?x1x4x32xf32>, tensor<?x1x4xf32>) {
  %o, %lse = linattn.softmax_attention %q, %k, %v scale 1.0e9
      : (tensor<?x1x4x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x1x4x32xf32>, tensor<?x1x4xf32>)
  return %o, %lse : tensor<?x1x4x32xf32>, tensor<?x1x4xf32>
}

func.func @diff_v2(%q: tensor<?x?x4x32xbf16> {linattn.name = "q", linattn.sample = "value"},
    %k: tensor<?x?x2x32xbf16> {linattn.name = "k", linattn.sample = "value"},
    %v: tensor<?x?x2x32xbf16> {linattn.name = "v", linattn.sample = "value"},
    %lam: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}) -> tensor<?x?x2x32xbf16> {
  %o = linattn.diff_attention v2 %q, %k, %v, %lam causal score {
  ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %first = arith.constant 70 : index
    %none = arith.constant -1.0e30 : f32
    %hidden = arith.cmpi slt, %j, %first : index
    %x = arith.select %hidden, %none, %s : f32
    linattn.yield %x : f32
  }
      : (tensor<?x?x4x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>, tensor<f32>) -> tensor<?x?x2x32xbf16>
  return %o : tensor<?x?x2x32xbf16>
}
