// What upstream passes know of the operations: they are pure, so equal ones are
// one, unused ones vanish, and those that do not change leave a loop.
// RUN: linattn-opt %s -cse -split-input-file | FileCheck %s --check-prefix=CSE
// RUN: linattn-opt %s -canonicalize -split-input-file | FileCheck %s --check-prefix=DCE
// RUN: linattn-opt %s -loop-invariant-code-motion -split-input-file | FileCheck %s --check-prefix=LICM

// Two reads of one state along one key are one; a read of the next state is not.
// CSE-LABEL: func.func @reads(
// CSE: %[[R:.+]] = linattn.read
// CSE: %[[W:.+]] = linattn.write
// CSE-NOT: linattn.write
// CSE: %[[N:.+]] = linattn.read %[[W]]
// CSE: return %[[R]], %[[R]], %[[N]]
func.func @reads(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %r1 = linattn.read %s, %k : !linattn.state<4x8xf32>, vector<4xf32>
  %r2 = linattn.read %s, %k : !linattn.state<4x8xf32>, vector<4xf32>
  %s1 = linattn.write %s, %k, %r1 : !linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>
  %s2 = linattn.write %s, %k, %r2 : !linattn.state<4x8xf32>, vector<4xf32>, vector<8xf32>
  %r3 = linattn.read %s2, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r1, %r2, %r3 : vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// The scale is part of a read.
// CSE-LABEL: func.func @scales(
// CSE-COUNT-2: linattn.read
func.func @scales(%s: !linattn.state<4x8xf32>, %k: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %r1 = linattn.read %s, %k scale 0.5 : !linattn.state<4x8xf32>, vector<4xf32>
  %r2 = linattn.read %s, %k : !linattn.state<4x8xf32>, vector<4xf32>
  return %r1, %r2 : vector<8xf32>, vector<8xf32>
}

// -----

// CSE-LABEL: func.func @recurrences(
// CSE: %[[O:.+]] = linattn.recurrence
// CSE-NOT: linattn.recurrence
// CSE: return %[[O]], %[[O]]
func.func @recurrences(%x: tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>) {
  %a = linattn.recurrence tokens(%x : tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>) {
  ^step(%xt: vector<4xf32>):
    %y = linattn.silu %xt : vector<4xf32>
    linattn.yield %y : vector<4xf32>
  }
  %b = linattn.recurrence tokens(%x : tensor<?x?x1x4xf32>) -> (tensor<?x?x1x4xf32>) {
  ^step(%xt: vector<4xf32>):
    %y = linattn.silu %xt : vector<4xf32>
    linattn.yield %y : vector<4xf32>
  }
  return %a, %b : tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>
}

// -----

// DCE-LABEL: func.func @unused(
// DCE-NEXT: return
func.func @unused(%s: !linattn.state<4x4xf32>, %k: vector<4xf32>, %q: tensor<?x?x2x4xf32>, %v: tensor<?x?x1x4xf32>,
                  %l: tensor<1xf32>, %x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) {
  %g = arith.constant -1.0 : f32
  %s1 = linattn.decay %s, %g : !linattn.state<4x4xf32>, f32
  %s2 = linattn.delta_update %s1, %k, %k, %g : !linattn.state<4x4xf32>, vector<4xf32>, vector<4xf32>, f32
  %n = linattn.l2norm %k : vector<4xf32> -> vector<4xf32>
  %o = linattn.recurrence tokens(%q : tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>) {
  ^step(%qt: vector<4xf32>):
    linattn.yield %qt : vector<4xf32>
  }
  %a = linattn.softmax_attention %q, %q, %q score {
  ^score(%sc: f32, %b: index, %h: index, %t: index, %j: index):
    linattn.yield %sc : f32
  } : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>)
  %d = linattn.diff_attention v1 %q, %q, %v, %l
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x1x4xf32>, tensor<1xf32>) -> tensor<?x?x1x4xf32>
  %y = linattn.short_conv %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
  return
}

// -----

// LICM-LABEL: func.func @invariant(
// LICM: linattn.recurrence
// LICM: linattn.softmax_attention
// LICM: linattn.short_conv
// LICM: scf.for
// LICM-NOT: linattn
func.func @invariant(%q: tensor<?x?x2x4xf32>, %x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %n: index) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<?x?x8xf32>) {
    %o = linattn.recurrence tokens(%q : tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>) {
    ^step(%qt: vector<4xf32>):
      linattn.yield %qt : vector<4xf32>
    }
    %a = linattn.softmax_attention %o, %o, %o
        : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>)
    %y = linattn.short_conv %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> (tensor<?x?x8xf32>)
    scf.yield %y : tensor<?x?x8xf32>
  }
  return %r : tensor<?x?x8xf32>
}

// -----

// A score that depends on the loop keeps its attention there.
// LICM-LABEL: func.func @variant(
// LICM: scf.for
// LICM: linattn.softmax_attention
func.func @variant(%q: tensor<?x?x2x4xf32>, %n: index) -> tensor<?x?x2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %q) -> (tensor<?x?x2x4xf32>) {
    %ii = arith.index_cast %i : index to i32
    %f = arith.sitofp %ii : i32 to f32
    %a = linattn.softmax_attention %q, %q, %q score {
    ^score(%s: f32, %b: index, %h: index, %t: index, %j: index):
      %y = arith.mulf %s, %f : f32
      linattn.yield %y : f32
    } : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>)
    scf.yield %a : tensor<?x?x2x4xf32>
  }
  return %r : tensor<?x?x2x4xf32>
}
