// RUN: linattn-opt --linattn-expand-math --split-input-file --verify-diagnostics %s | FileCheck %s

// Bounds that keep NaN, the nearest integer by the magic sum, ln 2 in two parts,
// a polynomial of degree 6 by fma, and a scale in two factors.
// CHECK-LABEL: @exp
// CHECK-NOT: math.exp
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: math.fma
// CHECK: arith.subf
// CHECK-COUNT-7: math.fma
// CHECK: arith.addf
// CHECK: arith.shrsi
// CHECK-COUNT-2: arith.bitcast {{.*}} : i32 to f32
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @rsqrt
// CHECK: %[[R:.*]] = math.sqrt
// CHECK: arith.divf %{{.*}}, %[[R]]
func.func @rsqrt(%x: f32) -> f32 {
  %y = math.rsqrt %x : f32
  return %y : f32
}

// -----

// Whatever has an instruction stays.
// CHECK-LABEL: @native
// CHECK: math.absf
// CHECK: math.sqrt
// CHECK: math.floor
func.func @native(%x: f32) -> f32 {
  %a = math.absf %x : f32
  %b = math.sqrt %a : f32
  %c = math.floor %b : f32
  return %c : f32
}

// -----

// CHECK-LABEL: @upstream
// CHECK-NOT: math.tanh
// CHECK-NOT: math.log1p
func.func @upstream(%x: f32) -> f32 {
  %a = math.tanh %x : f32
  %b = math.log1p %a : f32
  return %b : f32
}

// -----

func.func @unknown(%x: f64) -> f64 {
  // expected-error @+1 {{'math.sin' op has no expansion in arithmetic, got 'f64'}}
  %a = math.sin %x : f64
  return %a : f64
}
