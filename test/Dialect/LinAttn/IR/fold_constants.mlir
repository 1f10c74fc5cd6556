// Constants go through sigmoid, softplus and silu in double and are rounded once.
// Expected values: 1 / (1 + e^-x), log(1 + e^x), x / (1 + e^-x), and their limits.
// RUN: linattn-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @finite(
func.func @finite() -> (f64, f64, f64, f64, f64, f64) {
  // CHECK-DAG: %[[SIG:.+]] = arith.constant 0.7310585786300049 : f64
  // CHECK-DAG: %[[SIGN:.+]] = arith.constant 0.2689414213699951 : f64
  // CHECK-DAG: %[[SP:.+]] = arith.constant 1.3132616875182228 : f64
  // CHECK-DAG: %[[SPN:.+]] = arith.constant 0.31326168751822286 : f64
  // CHECK-DAG: %[[SILUN:.+]] = arith.constant -0.2689414213699951 : f64
  // CHECK: return %[[SIG]], %[[SIGN]], %[[SP]], %[[SPN]], %[[SIG]], %[[SILUN]]
  %one = arith.constant 1.0 : f64
  %minus = arith.constant -1.0 : f64
  %0 = linattn.sigmoid %one : f64
  %1 = linattn.sigmoid %minus : f64
  %2 = linattn.softplus %one : f64
  %3 = linattn.softplus %minus : f64
  %4 = linattn.silu %one : f64
  %5 = linattn.silu %minus : f64
  return %0, %1, %2, %3, %4, %5 : f64, f64, f64, f64, f64, f64
}

// -----

// Where e^x or e^-x leaves the range, the result does not.
// CHECK-LABEL: func.func @far(
func.func @far() -> (f64, f64, f64, f64, f64, f64) {
  // CHECK-DAG: %[[BIG:.+]] = arith.constant 1.000000e+03 : f64
  // CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f64
  // CHECK-DAG: %[[MZERO:.+]] = arith.constant -0.000000e+00 : f64
  // CHECK: return %[[ONE]], %[[ZERO]], %[[BIG]], %[[ZERO]], %[[BIG]], %[[MZERO]]
  %big = arith.constant 1000.0 : f64
  %small = arith.constant -1000.0 : f64
  %0 = linattn.sigmoid %big : f64
  %1 = linattn.sigmoid %small : f64
  %2 = linattn.softplus %big : f64
  %3 = linattn.softplus %small : f64
  %4 = linattn.silu %big : f64
  %5 = linattn.silu %small : f64
  return %0, %1, %2, %3, %4, %5 : f64, f64, f64, f64, f64, f64
}

// -----

// CHECK-LABEL: func.func @infinite(
func.func @infinite() -> (f32, f32, f32, f32, f32, f32) {
  // CHECK-DAG: %[[INF:.+]] = arith.constant 0x7F800000 : f32
  // CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
  // CHECK: return %[[ONE]], %[[ZERO]], %[[INF]], %[[ZERO]], %[[INF]], %[[ZERO]]
  %inf = arith.constant 0x7F800000 : f32
  %minf = arith.constant 0xFF800000 : f32
  %0 = linattn.sigmoid %inf : f32
  %1 = linattn.sigmoid %minf : f32
  %2 = linattn.softplus %inf : f32
  %3 = linattn.softplus %minf : f32
  %4 = linattn.silu %inf : f32
  %5 = linattn.silu %minf : f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// -----

// CHECK-LABEL: func.func @nan(
func.func @nan() -> (f32, f32, f32) {
  // CHECK: %[[NAN:.+]] = arith.constant 0x7FC00000 : f32
  // CHECK-NOT: arith.constant
  // CHECK: return %[[NAN]], %[[NAN]], %[[NAN]]
  %nan = arith.constant 0x7FC00000 : f32
  %0 = linattn.sigmoid %nan : f32
  %1 = linattn.softplus %nan : f32
  %2 = linattn.silu %nan : f32
  return %0, %1, %2 : f32, f32, f32
}

// -----

// Vectors fold element by element; 16-bit results are rounded to nearest even:
// sigmoid(0) = .5, sigmoid(1) = .731 -> .73046875 in bf16, softplus(65504) = 65504.
// CHECK-LABEL: func.func @vectors(
func.func @vectors() -> (vector<2xbf16>, vector<2xf16>, vector<3xf32>) {
  // CHECK-DAG: %[[A:.+]] = arith.constant dense<[5.000000e-01, 7.304{{[0-9]*}}e-01]> : vector<2xbf16>
  // CHECK-DAG: %[[B:.+]] = arith.constant dense<[6.550400e+04, 0x7C00]> : vector<2xf16>
  // CHECK-DAG: %[[C:.+]] = arith.constant dense<0.731058{{[0-9]*}}> : vector<3xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %x = arith.constant dense<[0.0, 1.0]> : vector<2xbf16>
  %y = arith.constant dense<[65504.0, 0x7C00]> : vector<2xf16>
  %z = arith.constant dense<1.0> : vector<3xf32>
  %0 = linattn.sigmoid %x : vector<2xbf16>
  %1 = linattn.softplus %y : vector<2xf16>
  %2 = linattn.silu %z : vector<3xf32>
  return %0, %1, %2 : vector<2xbf16>, vector<2xf16>, vector<3xf32>
}

// -----

// Neither poison nor a resource is a value to compute with.
// CHECK-LABEL: func.func @opaque(
func.func @opaque() -> (f32, vector<2xf32>) {
  // CHECK: linattn.sigmoid
  // CHECK: linattn.silu
  %x = ub.poison : f32
  %y = arith.constant dense_resource<blob> : vector<2xf32>
  %0 = linattn.sigmoid %x : f32
  %1 = linattn.silu %y : vector<2xf32>
  return %0, %1 : f32, vector<2xf32>
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F0000803F" } } #-}
