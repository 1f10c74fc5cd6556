// RUN: linattn-opt --linattn-normalize %s -o %t.once
// RUN: FileCheck %s < %t.once

// Normalizing again changes nothing, nor after a canonicalization.
// RUN: linattn-opt --linattn-normalize %t.once | diff %t.once -
// RUN: linattn-opt --linattn-normalize --canonicalize %s -o %t.canonical
// RUN: linattn-opt --linattn-normalize --canonicalize %t.canonical | diff %t.canonical -

// Gated DeltaNet in 16 bits: the values are widened first, and the rate stays
// one number until it meets the columns.
// CHECK-LABEL: func @gated_deltanet
// CHECK: ^{{.*}}(%[[K:.*]]: vector<8xbf16>, %[[V:.*]]: vector<4xbf16>, %[[G:.*]]: f32, %[[B:.*]]: f32, %[[S:.*]]: !linattn.state<8x4xf32>):
// CHECK-NEXT: %[[S1:.*]] = linattn.decay %[[S]], %[[G]]
// CHECK-NEXT: %[[R:.*]] = linattn.read %[[S1]], %[[K]]
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[V]] : vector<4xbf16> to vector<4xf32>
// CHECK-NEXT: %[[BV:.*]] = vector.broadcast %[[B]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[BV]], %[[W]]
// CHECK-NEXT: %[[NB:.*]] = arith.negf %[[B]] : f32
// CHECK-NEXT: %[[B0:.*]] = vector.broadcast %[[NB]]
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[B0]], %[[R]]
// CHECK-NEXT: %[[U:.*]] = arith.addf %[[C]], %[[T]]
// CHECK-NEXT: %[[S2:.*]] = linattn.write %[[S1]], %[[K]], %[[U]]
// CHECK-NEXT: linattn.yield %[[S2]]
func.func @gated_deltanet(%k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x4xbf16>, %g: tensor<?x?x2xf32>,
                          %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x4xbf16>, %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xbf16>, %vt: vector<4xbf16>, %gt: f32, %bt: f32, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>, f32
    linattn.yield %s2 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// GDN-2 in 16 bits: rounding of the read on the way to the write goes, the
// product that is free of the state is computed as it was written. A b of -1 is
// a difference.
// CHECK-LABEL: func @rounded_read
// CHECK: ^{{.*}}(%{{.*}}: vector<8xbf16>, %[[V:.*]]: vector<4xbf16>, %[[W:.*]]: vector<4xbf16>, %{{.*}}):
// CHECK: %[[R:.*]] = linattn.read
// CHECK-NOT: arith.truncf
// CHECK: %[[WV:.*]] = arith.mulf %[[W]], %[[V]] : vector<4xbf16>
// CHECK: %[[C:.*]] = arith.extf %[[WV]]
// CHECK: %[[U:.*]] = arith.subf %[[C]], %[[R]] : vector<4xf32>
// CHECK: linattn.write %{{.*}}, %{{.*}}, %[[U]]
func.func @rounded_read(%k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x4xbf16>, %w: tensor<?x?x2x4xbf16>,
                        %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xbf16>, %v : tensor<?x?x2x4xbf16>, %w : tensor<?x?x2x4xbf16>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xbf16>, %vt: vector<4xbf16>, %wt: vector<4xbf16>, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xbf16>
    %rb = arith.truncf %r : vector<4xf32> to vector<4xbf16>
    %wv = arith.mulf %wt, %vt : vector<4xbf16>
    %u = arith.subf %wv, %rb : vector<4xbf16>
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>
    linattn.yield %s1 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// Everything affine at once: fused products, a selection, a quotient, a reshape
// and two reads, of which one occurs twice and once scaled.
//   u = fma(b, r0, select(b > 0, v - r1, 2 r1) / w) + r0
// so c = select(p, v, 0) / w, b0 = b + 1, b1 = select(p, -1, 2) / w.
// CHECK-LABEL: func @everything
// CHECK: ^{{.*}}(%{{.*}}: vector<8xf32>, %{{.*}}: vector<8xf32>, %[[V:.*]]: vector<4xf32>, %[[W:.*]]: vector<4xf32>, %[[B:.*]]: f32, %{{.*}}):
// CHECK-DAG: %[[R0:.*]] = linattn.read %[[S:.*]], %{{.*}} scale 5.0{{.*}} :
// CHECK-DAG: %[[R1:.*]] = linattn.read
// CHECK-DAG: %[[P:.*]] = arith.cmpf ogt, %[[B]]
// CHECK-DAG: %[[CS:.*]] = arith.select %[[P]], %[[V]], %{{.*}} : vector<4xf32>
// CHECK-DAG: %[[C:.*]] = arith.divf %[[CS]], %[[W]]
// CHECK-DAG: %[[BS:.*]] = arith.addf %[[B]], %{{.*}} : f32
// CHECK-DAG: %[[B0:.*]] = vector.broadcast %[[BS]]
// CHECK: %[[T0:.*]] = arith.mulf %[[B0]], %[[R0]]
// CHECK: %[[U0:.*]] = arith.addf %[[C]], %[[T0]]
// CHECK: %[[PS:.*]] = arith.select %[[P]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[PV:.*]] = vector.broadcast %[[PS]]
// CHECK: %[[B1:.*]] = arith.divf %[[PV]], %[[W]]
// CHECK: %[[T1:.*]] = arith.mulf %[[B1]], %[[R1]]
// CHECK: %[[U:.*]] = arith.addf %[[U0]], %[[T1]]
// CHECK: linattn.write %{{.*}}, %{{.*}}, %[[U]]
func.func @everything(%k: tensor<?x?x2x8xf32>, %p: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>,
                      %w: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %p : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>,
             %w : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %pt: vector<8xf32>, %vt: vector<4xf32>, %wt: vector<4xf32>, %bt: f32,
        %s: !linattn.state<8x4xf32>):
    %r0 = linattn.read %s, %kt scale 0.5 : !linattn.state<8x4xf32>, vector<8xf32>
    %r1 = linattn.read %s, %pt : !linattn.state<8x4xf32>, vector<8xf32>
    %zero = arith.constant 0.0 : f32
    %cond = arith.cmpf ogt, %bt, %zero : f32
    %e = arith.subf %vt, %r1 : vector<4xf32>
    %twice = arith.addf %r1, %r1 : vector<4xf32>
    %chosen = arith.select %cond, %e, %twice : vector<4xf32>
    %square = vector.shape_cast %chosen : vector<4xf32> to vector<2x2xf32>
    %flat = vector.shape_cast %square : vector<2x2xf32> to vector<4xf32>
    %quotient = arith.divf %flat, %wt : vector<4xf32>
    %bv = vector.broadcast %bt : f32 to vector<4xf32>
    %fused = vector.fma %bv, %r0, %quotient : vector<4xf32>
    %u = arith.addf %fused, %r0 : vector<4xf32>
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    linattn.yield %s1 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// Decays that follow one another become one: 16-bit gates are widened before
// they are added, a scalar meets a vector, a gate of equal elements is a scalar,
// a log decay of 0 goes. A read keeps decays apart, an unused one does not; a
// factor and a log decay stay two.
// CHECK-LABEL: func @decays
// CHECK: ^{{.*}}(%{{.*}}: vector<8xf32>, %[[G:.*]]: f32, %[[H:.*]]: bf16, %[[W:.*]]: vector<8xf32>, %[[S:.*]]: !linattn.state<8x4xf32>):
// CHECK-DAG: %[[HW:.*]] = arith.extf %[[H]] : bf16 to f32
// CHECK: %[[GH:.*]] = arith.addf %[[G]], %[[HW]] : f32
// CHECK: %[[S1:.*]] = linattn.decay %[[S]], %[[GH]] : {{.*}}, f32
// CHECK: linattn.read %[[S1]]
// CHECK: %[[GV:.*]] = vector.broadcast %[[G]] : f32 to vector<8xf32>
// CHECK: %[[GW:.*]] = arith.addf %[[GV]], %[[W]] : vector<8xf32>
// CHECK: %[[S2:.*]] = linattn.decay %[[S1]], %[[GW]] : {{.*}}, vector<8xf32>
// CHECK: %[[S3:.*]] = linattn.decay %[[S2]], %[[G]] linear : {{.*}}, f32
// CHECK-NOT: linattn.decay
// CHECK: linattn.yield %{{.*}}, %[[S3]]
func.func @decays(%k: tensor<?x?x2x8xf32>, %g: tensor<?x?x2xf32>, %h: tensor<?x?x2xbf16>, %w: tensor<?x?x2x8xf32>,
                  %s0: tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  %0:2 = linattn.recurrence
      tokens(%k : tensor<?x?x2x8xf32>, %g : tensor<?x?x2xf32>, %h : tensor<?x?x2xbf16>, %w : tensor<?x?x2x8xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %gt: f32, %ht: bf16, %wt: vector<8xf32>, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %unused = linattn.read %s1, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %s2 = linattn.decay %s1, %ht : !linattn.state<8x4xf32>, bf16
    %r = linattn.read %s2, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %gv = vector.broadcast %gt : f32 to vector<8xf32>
    %s3 = linattn.decay %s2, %gv : !linattn.state<8x4xf32>, vector<8xf32>
    %s4 = linattn.decay %s3, %wt : !linattn.state<8x4xf32>, vector<8xf32>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %s5 = linattn.decay %s4, %zero : !linattn.state<8x4xf32>, vector<8xf32>
    %s6 = linattn.decay %s5, %gv linear : !linattn.state<8x4xf32>, vector<8xf32>
    linattn.yield %r, %s6 : vector<4xf32>, !linattn.state<8x4xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}

// A read of a version that a decay ended before it moves, with its key.
// CHECK-LABEL: func @late_read
// CHECK: ^{{.*}}(%[[K:.*]]: vector<8xf32>, %[[G:.*]]: f32, %[[S:.*]]: !linattn.state<8x4xf32>):
// CHECK-NEXT: %[[KK:.*]] = arith.mulf %[[K]], %[[K]]
// CHECK-NEXT: %[[R:.*]] = linattn.read %[[S]], %[[KK]]
// CHECK-NEXT: %[[S1:.*]] = linattn.decay %[[S]], %[[G]]
// CHECK-NEXT: linattn.write %[[S1]], %[[K]], %[[R]]
func.func @late_read(%k: tensor<?x?x2x8xf32>, %g: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %g : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %gt: f32, %s: !linattn.state<8x4xf32>):
    %s1 = linattn.decay %s, %gt : !linattn.state<8x4xf32>, f32
    %kk = arith.mulf %kt, %kt : vector<8xf32>
    %r = linattn.read %s, %kk : !linattn.state<8x4xf32>, vector<8xf32>
    %s2 = linattn.write %s1, %kt, %r : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    linattn.yield %s2 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// Equal reads are one; a dead write and a dead branch of the state are gone.
// CHECK-LABEL: func @merged
// CHECK-COUNT-1: linattn.read
// CHECK-NOT: linattn.read
// CHECK-COUNT-1: linattn.write
// CHECK-NOT: linattn.write
// CHECK: linattn.yield
func.func @merged(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %s: !linattn.state<8x4xf32>):
    %dead = linattn.write %s, %kt, %vt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %unused = linattn.read %dead, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %r0 = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %r1 = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %m = arith.mulf %vt, %r0 : vector<4xf32>
    %u = arith.subf %m, %r1 : vector<4xf32>
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    linattn.yield %s1 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}

// The state of f64 reads that of f32: the read is widened. One number per head,
// negated as a vector, is a scalar again. A c of 0 is left out.
// CHECK-LABEL: func @two_types
// CHECK: %[[R:.*]] = linattn.read %{{.*}} : <8x4xf32>
// CHECK: %[[RW:.*]] = arith.extf %[[R]] : vector<4xf32> to vector<4xf64>
// CHECK: %[[N:.*]] = arith.negf %{{.*}} : f32
// CHECK: %[[NW:.*]] = arith.extf %[[N]] : f32 to f64
// CHECK: %[[B:.*]] = vector.broadcast %[[NW]] : f64 to vector<4xf64>
// CHECK: %[[U:.*]] = arith.mulf %[[B]], %[[RW]] : vector<4xf64>
// CHECK: linattn.write %{{.*}}, %{{.*}}, %[[U]] : <8x4xf64>
func.func @two_types(%k: tensor<?x?x2x8xf32>, %b: tensor<?x?x2xf32>, %s0: tensor<?x2x8x4xf32>,
                     %d0: tensor<?x2x8x4xf64>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf64>) {
  %0:2 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>, %d0 : tensor<?x2x8x4xf64>) -> (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf64>) {
  ^step(%kt: vector<8xf32>, %bt: f32, %s: !linattn.state<8x4xf32>, %d: !linattn.state<8x4xf64>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %bv = vector.broadcast %bt : f32 to vector<4xf32>
    %nb = arith.negf %bv : vector<4xf32>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %u = math.fma %nb, %r, %zero : vector<4xf32>
    %d1 = linattn.write %d, %kt, %u : !linattn.state<8x4xf64>, vector<8xf32>, vector<4xf32>
    linattn.yield %s, %d1 : !linattn.state<8x4xf32>, !linattn.state<8x4xf64>
  }
  return %0#0, %0#1 : tensor<?x2x8x4xf32>, tensor<?x2x8x4xf64>
}
