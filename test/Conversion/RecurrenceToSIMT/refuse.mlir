// RUN: linattn-opt --linattn-recurrence-to-simt --split-input-file --verify-diagnostics %s

func.func @beside(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  // expected-error @+1 {{'math.exp' op is no part of a kernel, which is one recurrence between arguments and results (move it into the step, or compile for the CPU)}}
  %e = math.exp %k : tensor<?x?x2x8xf32>
  %sT = linattn.recurrence tokens(%e : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %sT : tensor<?x2x8x8xf32>
}

// -----

// expected-error @+1 {{'func.func' op has no linattn.recurrence to become a kernel}}
func.func @nothing(%k: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  return %k : tensor<?x?x2x8xf32>
}

// -----

func.func @two(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  %a = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  // expected-error @+1 {{is the second of its function: a kernel is one recurrence between arguments and results}}
  %b = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%a : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %b : tensor<?x2x8x8xf32>
}

// -----

func.func @double(%k: tensor<?x?x2x8xf64>, %s0: tensor<?x2x8x8xf64>) -> tensor<?x2x8x8xf64> {
  // expected-error @+1 {{'linattn.recurrence' op is not lowered to a SIMT kernel: it computes in f32, argument 0 of the step is 'vector<8xf64>' (f64 runs on the CPU)}}
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x8xf64>) state(%s0 : tensor<?x2x8x8xf64>) -> (tensor<?x2x8x8xf64>) {
  ^step(%kt: vector<8xf64>, %s: !linattn.state<8x8xf64>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf64>, vector<8xf64>, vector<8xf64>
    linattn.yield %s1 : !linattn.state<8x8xf64>
  }
  return %sT : tensor<?x2x8x8xf64>
}

// -----

// All columns of K = V = 256 in one block are more registers than there are.
func.func @too_large(%k: tensor<?x?x2x256xf32>, %s0: tensor<?x2x256x256xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x2x256x256xf32>) {
  // expected-error @+1 {{'linattn.recurrence' op is not lowered to a SIMT kernel: 'vector.reduction' needs all 256 value columns in one block, whose states take 65536 registers and 40 more per thread, got 65536 for at most 1024 threads (smaller K or V, or the CPU)}}
  %o, %sT = linattn.recurrence tokens(%k : tensor<?x?x2x256xf32>) state(%s0 : tensor<?x2x256x256xf32>)
      -> (tensor<?x?x2xf32>, tensor<?x2x256x256xf32>) {
  ^step(%kt: vector<256xf32>, %s: !linattn.state<256x256xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<256x256xf32>, vector<256xf32>, vector<256xf32>
    %r = linattn.read %s1, %kt : !linattn.state<256x256xf32>, vector<256xf32>
    // expected-note @+1 {{mixes value columns here}}
    %sum = vector.reduction <add>, %r : vector<256xf32> into f32
    linattn.yield %sum, %s1 : f32, !linattn.state<256x256xf32>
  }
  return %o, %sT : tensor<?x?x2xf32>, tensor<?x2x256x256xf32>
}

// -----

func.func @bitcast(%k: tensor<?x?x2x8xf32>, %s0: tensor<?x2x8x8xf32>) -> tensor<?x2x8x8xf32> {
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    // expected-error @+1 {{'vector.bitcast' op is not lowered to a SIMT kernel: a step takes elementwise operations, reductions of floats, and what moves elements of a vector (the CPU runs it)}}
    %h = vector.bitcast %kt : vector<8xf32> to vector<16xbf16>
    %x = vector.extract_strided_slice %h {offsets = [0], sizes = [8], strides = [1]} : vector<16xbf16> to vector<8xbf16>
    %s1 = linattn.write %s, %x, %kt : !linattn.state<8x8xf32>, vector<8xbf16>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %sT : tensor<?x2x8x8xf32>
}

// -----

// A convolution whose result is returned too.
func.func @front_result(%x: tensor<?x?x16xf32>, %w: tensor<16x4xf32>, %s0: tensor<?x2x8x8xf32>)
    -> (tensor<?x?x16xf32>, tensor<?x2x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x16xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x16xf32>
  %y = linattn.short_conv %x, %w : (tensor<?x?x16xf32>, tensor<16x4xf32>) -> (tensor<?x?x16xf32>)
  %k = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%B, %T, 2, 8] : tensor<?x?x16xf32> into tensor<?x?x2x8xf32>
  // expected-error @+1 {{is the second of its function: a kernel is one recurrence between arguments and results}}
  %sT = linattn.recurrence tokens(%k : tensor<?x?x2x8xf32>) state(%s0 : tensor<?x2x8x8xf32>) -> (tensor<?x2x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %y, %sT : tensor<?x?x16xf32>, tensor<?x2x8x8xf32>
}

// -----

// Sequences of its own.
func.func @front_sequences(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %cu: tensor<?xi32>, %other: tensor<?xi32>,
                           %s0: tensor<?x1x8x8xf32>) -> tensor<?x1x8x8xf32> {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  // expected-error @+1 {{is not computed in front of a kernel: its sequences are not those of the recurrence}}
  %y = linattn.short_conv %x, %w seqlens(%other : tensor<?xi32>) : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>)
  %k = tensor.expand_shape %y [[0], [1, 2]] output_shape [%T, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  %sT = linattn.recurrence tokens(%k : tensor<?x1x8xf32>) state(%s0 : tensor<?x1x8x8xf32>) seqlens(%cu : tensor<?xi32>) -> (tensor<?x1x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %sT : tensor<?x1x8x8xf32>
}

// -----

func.func @front_weight(%x: tensor<?x8xf32>, %cu: tensor<?xi32>, %s0: tensor<?x1x8x8xf32>) -> tensor<?x1x8x8xf32> {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %w = arith.constant dense<1.0> : tensor<8x4xf32>
  // expected-error @+1 {{'linattn.short_conv' op operand 1 is an argument of the function to become a parameter of a kernel}}
  %y = linattn.short_conv %x, %w seqlens(%cu : tensor<?xi32>) : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x8xf32>)
  %k = tensor.expand_shape %y [[0], [1, 2]] output_shape [%T, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  %sT = linattn.recurrence tokens(%k : tensor<?x1x8xf32>) state(%s0 : tensor<?x1x8x8xf32>) seqlens(%cu : tensor<?xi32>) -> (tensor<?x1x8x8xf32>) {
  ^step(%kt: vector<8xf32>, %s: !linattn.state<8x8xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<8x8xf32>, vector<8xf32>, vector<8xf32>
    linattn.yield %s1 : !linattn.state<8x8xf32>
  }
  return %sT : tensor<?x1x8x8xf32>
}
