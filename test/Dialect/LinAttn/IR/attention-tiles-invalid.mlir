// RUN: linattn-opt %s --split-input-file --verify-diagnostics

func.func @tile(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c1) the key tile is a power of 2 from 4 to 256, got 12}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 12
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x12xi1>, %qt: tensor<4x8xf32>, %kt: tensor<12x8xf32>):
    linattn.yield
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @head(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x1x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c3) affine_map<(d0) -> (d0)> takes head 1 to a head below 1, got 1}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%k : tensor<?x?x1x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>):
    linattn.yield
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @maps(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c3) there is one map per query operand, 1, got 2}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>, affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>):
    linattn.yield
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @window(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c4) the window is from 1 to 1073741824, got 0}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4 window 0
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>):
    linattn.yield
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @rank(%q: tensor<?x?x2x8xf32>, %cu: tensor<?xi32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c2) a query operand is [T, H, ..] with static, positive sizes from H on, got 'tensor<?x?x2x8xf32>'}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] seqlens(%cu : tensor<?xi32>) init = [] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>):
    linattn.yield
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @carried(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c5) step takes ('index', 'index', 'index', 'index', 'tensor<4x4xi1>', 'tensor<4x8xf32>', 'tensor<4x8xf32>') and 1 carried tile(s) of 4 rows in f32 or f64, got ('index', 'index', 'index', 'index', 'tensor<4x4xi1>', 'tensor<4x8xf32>', 'tensor<4x8xf32>', 'tensor<2xf32>')}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [0.0] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>, %c: tensor<2xf32>):
    linattn.yield %c : tensor<2xf32>
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>, %c: tensor<2xf32>):
    linattn.yield %qt : tensor<4x8xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}

// -----

func.func @yielded(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  // expected-error @below {{'linattn.attention_tiles' op (attention_tiles_c6) finish yields ('tensor<4x8xf32>'), got ('tensor<4xf32>')}}
  %o = linattn.attention_tiles heads = 2 query_tile = 4 key_tile = 4
      queries(%q : tensor<?x?x2x8xf32>) query_heads = [affine_map<(h) -> (h)>]
      keys(%q : tensor<?x?x2x8xf32>) key_heads = [affine_map<(h) -> (h)>] init = [0.0] step {
  ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<4x4xi1>, %qt: tensor<4x8xf32>, %kt: tensor<4x8xf32>, %c: tensor<4xf32>):
    linattn.yield %c : tensor<4xf32>
  } finish {
  ^finish(%b: index, %h: index, %t: index, %qt: tensor<4x8xf32>, %c: tensor<4xf32>):
    linattn.yield %c : tensor<4xf32>
  } -> (tensor<?x?x2x8xf32>)
  return %o : tensor<?x?x2x8xf32>
}
