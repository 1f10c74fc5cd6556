// What has no chunk form, and what runs it instead.
// RUN: linattn-opt --linattn-chunkwise --split-input-file --verify-diagnostics %s
// Sizes of a chunk that there are none of.
// RUN: not linattn-opt --linattn-chunkwise=chunk=48 %s 2>&1 | FileCheck %s --check-prefix=CHUNK
// CHUNK: error: chunk is 16, 32, 64 or 128 tokens, got 48
// RUN: not linattn-opt --linattn-chunkwise=chunk=8 %s 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: error: chunk is 16, 32, 64 or 128 tokens, got 8
// RUN: not linattn-opt --linattn-chunkwise=chunk=256 %s 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: chunk is 16, 32, 64 or 128 tokens, got 256
// RUN: not linattn-opt --linattn-chunkwise=mma=f8 %s 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: error: mma is f32, tf32x3, bf16, f16 or bf16x2, got 'f8'

func.func @key_of_state(%q: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x8xf32>,
    %s0: tensor<?x2x8x8xf32>)
    -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>)
      state(%s0 : tensor<?x2x8x8xf32>)
      -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^step(%qt: vector<8xf32>, %vt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    // expected-note @below {{through this read}}
    %r = linattn.read %s, %qt : !linattn.state<8x8xf32>, vector<8xf32>
    // expected-error @below {{'linattn.write' op (normal_form_c4) the key of the write depends on the state}}
    %s1 = linattn.write %s, %r, %vt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %r, %s1 : vector<8xf32>, !linattn.state<8x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>
}

// -----

func.func @every_token(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>) {
  // expected-error @below {{has no chunk form: 'snapshots' takes states at ends of chunks only, so that 'every' is a multiple of 16 tokens (the smallest chunk), got every = 1; the token-serial form (--lowering=serial) takes any}}
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) snapshots(every = 1)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>
}

// -----

func.func @every_24(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %g: tensor<?x?x2xf32>,
    %b: tensor<?x?x2xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>) {
  // expected-error @below {{has no chunk form: 'snapshots' takes states at ends of chunks only, so that 'every' is a multiple of 16 tokens (the smallest chunk), got every = 24; the token-serial form (--lowering=serial) takes any}}
  %r:3 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x12xf32>) snapshots(every = 24)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %gt: f32, %bt: f32, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x12xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>, f32
    %ot = linattn.read %s2, %qt scale 0.25 : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s2 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>, tensor<?x?x2x8x12xf32>
}

// -----

func.func @interleaved(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x6xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x6xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<6xf32>, %s: !linattn.state<8x12xf32>):
    // expected-error @below {{'vector.interleave' op has no form for a chunk of tokens; the token-serial form (--lowering=serial) runs it}}
    %w = vector.interleave %vt, %vt : vector<6xf32> -> vector<12xf32>
    %s1 = linattn.write %s, %kt, %w : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %ot = linattn.read %s1, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    linattn.yield %ot, %s1 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}

// -----

func.func @shuffled_output(%q: tensor<?x?x2x8xf32>,
    %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x12xf32>,
    %s0: tensor<?x2x8x12xf32>)
    -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  %r:2 = linattn.recurrence
      tokens(%q : tensor<?x?x2x8xf32>, %k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x12xf32>)
      state(%s0 : tensor<?x2x8x12xf32>)
      -> (tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>) {
  ^step(%qt: vector<8xf32>, %kt: vector<8xf32>, %vt: vector<12xf32>, %s: !linattn.state<8x12xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<8x12xf32>, vector<8xf32>, vector<12xf32>
    %r = linattn.read %s1, %qt : !linattn.state<8x12xf32>, vector<8xf32>
    // expected-error @below {{'vector.shuffle' op has no form for a chunk of tokens; the token-serial form (--lowering=serial) runs it}}
    %ot = vector.shuffle %r, %r [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : vector<12xf32>, vector<12xf32>
    linattn.yield %ot, %s1 : vector<12xf32>, !linattn.state<8x12xf32>
  }
  return %r#0, %r#1 : tensor<?x?x2x12xf32>, tensor<?x2x8x12xf32>
}
