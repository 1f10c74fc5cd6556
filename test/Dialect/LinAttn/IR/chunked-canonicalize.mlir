// The operations of level 1 are pure: unused ones vanish, equal ones are one,
// and one that differs in an attribute stays.
// RUN: linattn-opt %s -canonicalize | FileCheck %s --check-prefix=DCE
// RUN: linattn-opt %s -cse | FileCheck %s --check-prefix=CSE

// DCE-LABEL: func.func @unused(
// DCE-NEXT: return
func.func @unused(%x: tensor<4x8xf32>, %e: tensor<4x4xf32>, %f: tensor<8xf32>, %k: tensor<?x?x2x8xf32>,
                  %s0: tensor<?x2x8x8xf32>) {
  %p = linattn.decay_product %x, %x x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %t = linattn.unit_lower_solve matrices(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = linattn.decay_scan start_to_end %x outs(%f : tensor<8xf32>) : tensor<4x8xf32> -> tensor<8xf32>
  %o, %sT = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>)
      -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x8xf32>, %s: tensor<8x8xf32>):
    linattn.yield %kt, %s : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return
}

// CSE-LABEL: func.func @products(
// CSE: %[[P:.+]] = linattn.decay_product
// CSE: %[[Q:.+]] = linattn.decay_product {{.*}} x_order = [2]
// CSE: return %[[P]], %[[P]], %[[Q]]
func.func @products(%x: tensor<4x8xf32>, %e: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linattn.decay_product %x, %x x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %1 = linattn.decay_product %x, %x x_positions = [0] x_order = [1] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %2 = linattn.decay_product %x, %x x_positions = [0] x_order = [2] y_positions = [0] y_order = [0]
      outs(%e : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CSE-LABEL: func.func @solves(
// CSE: %[[T:.+]] = linattn.unit_lower_solve
// CSE: %[[U:.+]] = linattn.unit_lower_solve {{.*}} transposed
// CSE: return %[[T]], %[[T]], %[[U]]
func.func @solves(%a: tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>) {
  %0 = linattn.unit_lower_solve matrices(%a : tensor<20x20xf32>) outs(%a : tensor<20x20xf32>) -> tensor<20x20xf32>
  %1 = linattn.unit_lower_solve matrices(%a : tensor<20x20xf32>) outs(%a : tensor<20x20xf32>) -> tensor<20x20xf32>
  %2 = linattn.unit_lower_solve matrices(%a : tensor<20x20xf32>) transposed outs(%a : tensor<20x20xf32>)
      -> tensor<20x20xf32>
  return %0, %1, %2 : tensor<20x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>
}

// CSE-LABEL: func.func @scans(
// CSE: %[[D:.+]] = linattn.decay_scan start_to_event
// CSE: %[[E:.+]] = linattn.decay_scan event_to_end
// CSE: return %[[D]], %[[D]], %[[E]]
func.func @scans(%g: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = linattn.decay_scan start_to_event %g positions = [1] outs(%g : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = linattn.decay_scan start_to_event %g positions = [1] outs(%g : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = linattn.decay_scan event_to_end %g positions = [1] outs(%g : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CSE-LABEL: func.func @chunks(
// CSE: %[[O:.+]] = linattn.chunked chunk = 4
// CSE: %[[P:.+]] = linattn.chunked chunk = 8
// CSE: return %[[O]], %[[O]], %[[P]]
func.func @chunks(%k: tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) {
  %0 = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x8xf32>):
    linattn.yield %kt : tensor<4x8xf32>
  }
  %1 = linattn.chunked chunk = 4 tokens(%k : tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>) {
  ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x8xf32>):
    linattn.yield %kt : tensor<4x8xf32>
  }
  %2 = linattn.chunked chunk = 8 tokens(%k : tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>) {
  ^chunk(%valid: tensor<8xi1>, %kt: tensor<8x8xf32>):
    linattn.yield %kt : tensor<8x8xf32>
  }
  return %0, %1, %2 : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>
}
