// RUN: linattn-opt --linattn-normalize=keep-refused %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: linattn-opt --linattn-print-normal-form %s -o /dev/null 2>/dev/null | FileCheck %s --check-prefix=PRINT

// The step stays, with its shorthand expanded, and runs token by token.
// REMARK: remark: 'math.tanh' op (normal_form_c6) breaks the affine form
// REMARK: note: the write uses it
// CHECK-LABEL: func @kept
// CHECK: %[[R:.*]] = linattn.read
// CHECK: %[[U:.*]] = math.tanh %[[R]]
// CHECK: linattn.write %{{.*}}, %{{.*}}, %[[U]]
// CHECK-NOT: linattn.delta_update
// PRINT:      recurrence in @kept: S 8x4, 2 heads
// PRINT-NEXT:   no normal form
func.func @kept(%k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x4xf32>, %b: tensor<?x?x2xf32>,
                %s0: tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> {
  %0 = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x4xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x8x4xf32>) -> (tensor<?x2x8x4xf32>) {
  ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
    %r = linattn.read %s, %kt : !linattn.state<8x4xf32>, vector<8xf32>
    %u = math.tanh %r : vector<4xf32>
    %s1 = linattn.write %s, %kt, %u : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<8x4xf32>, vector<8xf32>, vector<4xf32>, f32
    linattn.yield %s2 : !linattn.state<8x4xf32>
  }
  return %0 : tensor<?x2x8x4xf32>
}
