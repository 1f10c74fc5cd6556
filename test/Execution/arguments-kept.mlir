// A function writes none of its arguments on the CPU, though an operation names one as
// its destination, or has none to name: linattn-run says so where one was changed.
// RUN: linattn-run %s --function=destination --verify | FileCheck %s
// RUN: linattn-run %s --function=elementwise --verify | FileCheck %s
// CHECK-NOT: WRONG
// CHECK: f32 8x4 {{.*}} ok

func.func @destination(
    %a: tensor<8x4xf32> {linattn.name = "a", linattn.sample = "value"},
    %b: tensor<8x4xf32> {linattn.name = "b", linattn.sample = "value"}) -> tensor<8x4xf32> {
  %c = linalg.add ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%a : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

func.func @elementwise(
    %a: tensor<8x4xf32> {linattn.name = "a", linattn.sample = "value"},
    %b: tensor<8x4xf32> {linattn.name = "b", linattn.sample = "value"}) -> tensor<8x4xf32> {
  %c = arith.addf %a, %b : tensor<8x4xf32>
  %d = math.exp %c : tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}
