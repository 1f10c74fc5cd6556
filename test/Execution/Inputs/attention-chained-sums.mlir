// Attention on tiles whose finish has two sums over wide value columns, one of which
// needs the other: a layer norm of the difference of two softmax maps.

#map = affine_map<(d0) -> (d0 * 2)>
#map1 = affine_map<(d0) -> (d0 * 2 + 1)>
#map2 = affine_map<(d0) -> (d0)>
func.func @chained_sums(%arg0: tensor<?x?x4x128xbf16> {linattn.name = "q", linattn.sample = "value"}, %arg1: tensor<?x?x4x128xbf16> {linattn.name = "k", linattn.sample = "value"}, %arg2: tensor<?x?x2x256xbf16> {linattn.name = "v", linattn.sample = "value"}, %arg3: tensor<f32> {linattn.name = "lam", linattn.sample = "rate"}, %arg4: tensor<256xf32> {linattn.name = "w", linattn.sample = "weight"}) -> tensor<?x?x2x256xbf16> {
  %cst = arith.constant dense<8.000000e-01> : tensor<64x256xf32>
  %cst_0 = arith.constant dense<9.99999997E-7> : tensor<64xf32>
  %cst_1 = arith.constant dense<2.560000e+02> : tensor<64xf32>
  %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x256xf32>
  %cst_3 = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %cst_4 = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %cst_5 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %cst_6 = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %cst_7 = arith.constant dense<0.0883883461> : tensor<64x32xf32>
  %cst_8 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
  %0 = linattn.attention_tiles heads = 2 query_tile = 64 key_tile = 32 causal queries(%arg0 : tensor<?x?x4x128xbf16>, %arg0 : tensor<?x?x4x128xbf16>) query_heads = [#map, #map1] keys(%arg1 : tensor<?x?x4x128xbf16>, %arg1 : tensor<?x?x4x128xbf16>, %arg2 : tensor<?x?x2x256xbf16>) key_heads = [#map, #map1, #map2] init = [0xFFF0000000000000 : f64, 0.000000e+00, 0.000000e+00, 0xFFF0000000000000 : f64, 0.000000e+00, 0.000000e+00] step {
  ^bb0(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<64x32xi1>, %q: tensor<64x128xbf16>, %q_9: tensor<64x128xbf16>, %k: tensor<32x128xbf16>, %k_10: tensor<32x128xbf16>, %k_11: tensor<32x256xbf16>, %c: tensor<64xf32>, %c_12: tensor<64xf32>, %c_13: tensor<64x256xf32>, %c_14: tensor<64xf32>, %c_15: tensor<64xf32>, %c_16: tensor<64x256xf32>):
    %1 = tensor.empty() : tensor<128x32xbf16>
    %transposed = linalg.transpose ins(%k : tensor<32x128xbf16>) outs(%1 : tensor<128x32xbf16>) permutation = [1, 0]
    %2 = linalg.matmul ins(%q, %transposed : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%cst_8 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %3 = arith.mulf %2, %cst_7 : tensor<64x32xf32>
    %4 = arith.select %allowed, %3, %cst_6 : tensor<64x32xi1>, tensor<64x32xf32>
    %reduced = linalg.reduce ins(%4 : tensor<64x32xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %30 = arith.maximumf %in, %init : f32
        linalg.yield %30 : f32
      }
    %5 = arith.cmpf oeq, %reduced, %cst_5 : tensor<64xf32>
    %6 = arith.select %5, %cst_4, %reduced : tensor<64xi1>, tensor<64xf32>
    %7 = tensor.empty() : tensor<64x32xf32>
    %broadcasted = linalg.broadcast ins(%6 : tensor<64xf32>) outs(%7 : tensor<64x32xf32>) dimensions = [1]
    %8 = arith.subf %4, %broadcasted : tensor<64x32xf32>
    %9 = math.exp %8 : tensor<64x32xf32>
    %10 = arith.subf %c, %6 : tensor<64xf32>
    %11 = math.exp %10 : tensor<64xf32>
    %12 = arith.mulf %11, %c_12 : tensor<64xf32>
    %reduced_17 = linalg.reduce ins(%9 : tensor<64x32xf32>) outs(%12 : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %30 = arith.addf %in, %init : f32
        linalg.yield %30 : f32
      }
    %13 = tensor.empty() : tensor<64x256xf32>
    %broadcasted_18 = linalg.broadcast ins(%11 : tensor<64xf32>) outs(%13 : tensor<64x256xf32>) dimensions = [1]
    %14 = arith.mulf %broadcasted_18, %c_13 : tensor<64x256xf32>
    %15 = arith.truncf %9 : tensor<64x32xf32> to tensor<64x32xbf16>
    %16 = linalg.matmul ins(%15, %k_11 : tensor<64x32xbf16>, tensor<32x256xbf16>) outs(%14 : tensor<64x256xf32>) -> tensor<64x256xf32>
    %transposed_19 = linalg.transpose ins(%k_10 : tensor<32x128xbf16>) outs(%1 : tensor<128x32xbf16>) permutation = [1, 0]
    %17 = linalg.matmul ins(%q_9, %transposed_19 : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%cst_8 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %18 = arith.mulf %17, %cst_7 : tensor<64x32xf32>
    %19 = arith.select %allowed, %18, %cst_6 : tensor<64x32xi1>, tensor<64x32xf32>
    %reduced_20 = linalg.reduce ins(%19 : tensor<64x32xf32>) outs(%c_14 : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %30 = arith.maximumf %in, %init : f32
        linalg.yield %30 : f32
      }
    %20 = arith.cmpf oeq, %reduced_20, %cst_5 : tensor<64xf32>
    %21 = arith.select %20, %cst_4, %reduced_20 : tensor<64xi1>, tensor<64xf32>
    %broadcasted_21 = linalg.broadcast ins(%21 : tensor<64xf32>) outs(%7 : tensor<64x32xf32>) dimensions = [1]
    %22 = arith.subf %19, %broadcasted_21 : tensor<64x32xf32>
    %23 = math.exp %22 : tensor<64x32xf32>
    %24 = arith.subf %c_14, %21 : tensor<64xf32>
    %25 = math.exp %24 : tensor<64xf32>
    %26 = arith.mulf %25, %c_15 : tensor<64xf32>
    %reduced_22 = linalg.reduce ins(%23 : tensor<64x32xf32>) outs(%26 : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %30 = arith.addf %in, %init : f32
        linalg.yield %30 : f32
      }
    %broadcasted_23 = linalg.broadcast ins(%25 : tensor<64xf32>) outs(%13 : tensor<64x256xf32>) dimensions = [1]
    %27 = arith.mulf %broadcasted_23, %c_16 : tensor<64x256xf32>
    %28 = arith.truncf %23 : tensor<64x32xf32> to tensor<64x32xbf16>
    %29 = linalg.matmul ins(%28, %k_11 : tensor<64x32xbf16>, tensor<32x256xbf16>) outs(%27 : tensor<64x256xf32>) -> tensor<64x256xf32>
    linattn.yield %reduced, %reduced_17, %16, %reduced_20, %reduced_22, %29 : tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>
  } finish {
  ^bb0(%b: index, %h: index, %t: index, %q: tensor<64x128xbf16>, %q_9: tensor<64x128xbf16>, %c: tensor<64xf32>, %c_10: tensor<64xf32>, %c_11: tensor<64x256xf32>, %c_12: tensor<64xf32>, %c_13: tensor<64xf32>, %c_14: tensor<64x256xf32>):
    %1 = arith.cmpf oeq, %c, %cst_5 : tensor<64xf32>
    %2 = arith.select %1, %cst_3, %c_10 : tensor<64xi1>, tensor<64xf32>
    %3 = tensor.empty() : tensor<64x256xf32>
    %broadcasted = linalg.broadcast ins(%2 : tensor<64xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [1]
    %4 = arith.divf %c_11, %broadcasted : tensor<64x256xf32>
    %5 = tensor.empty() : tensor<64x256xi1>
    %broadcasted_15 = linalg.broadcast ins(%1 : tensor<64xi1>) outs(%5 : tensor<64x256xi1>) dimensions = [1]
    %6 = arith.select %broadcasted_15, %cst_2, %4 : tensor<64x256xi1>, tensor<64x256xf32>
    %7 = arith.cmpf oeq, %c_12, %cst_5 : tensor<64xf32>
    %8 = arith.select %7, %cst_3, %c_13 : tensor<64xi1>, tensor<64xf32>
    %broadcasted_16 = linalg.broadcast ins(%8 : tensor<64xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [1]
    %9 = arith.divf %c_14, %broadcasted_16 : tensor<64x256xf32>
    %broadcasted_17 = linalg.broadcast ins(%7 : tensor<64xi1>) outs(%5 : tensor<64x256xi1>) dimensions = [1]
    %10 = arith.select %broadcasted_17, %cst_2, %9 : tensor<64x256xi1>, tensor<64x256xf32>
    %extracted = tensor.extract %arg3[] : tensor<f32>
    %11 = tensor.empty() : tensor<64xf32>
    %12 = linalg.fill ins(%extracted : f32) outs(%11 : tensor<64xf32>) -> tensor<64xf32>
    %broadcasted_18 = linalg.broadcast ins(%12 : tensor<64xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [1]
    %13 = arith.mulf %broadcasted_18, %10 : tensor<64x256xf32>
    %14 = arith.subf %6, %13 : tensor<64x256xf32>
    %sum14 = linalg.reduce ins(%14 : tensor<64x256xf32>) outs(%cst_4 : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %s23 = arith.addf %in, %init : f32
        linalg.yield %s23 : f32
      }
    %mean14 = arith.divf %sum14, %cst_1 : tensor<64xf32>
    %bmean = linalg.broadcast ins(%mean14 : tensor<64xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [1]
    %centred = arith.subf %14, %bmean : tensor<64x256xf32>
    %15 = arith.mulf %centred, %centred : tensor<64x256xf32>
    %reduced = linalg.reduce ins(%15 : tensor<64x256xf32>) outs(%cst_4 : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %23 = arith.addf %in, %init : f32
        linalg.yield %23 : f32
      }
    %16 = arith.divf %reduced, %cst_1 : tensor<64xf32>
    %17 = arith.addf %16, %cst_0 : tensor<64xf32>
    %18 = math.sqrt %17 : tensor<64xf32>
    %broadcasted_19 = linalg.broadcast ins(%18 : tensor<64xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [1]
    %19 = arith.divf %centred, %broadcasted_19 : tensor<64x256xf32>
    %broadcasted_20 = linalg.broadcast ins(%arg4 : tensor<256xf32>) outs(%3 : tensor<64x256xf32>) dimensions = [0]
    %20 = arith.mulf %19, %broadcasted_20 : tensor<64x256xf32>
    %21 = arith.mulf %20, %cst : tensor<64x256xf32>
    %22 = arith.truncf %21 : tensor<64x256xf32> to tensor<64x256xbf16>
    linattn.yield %22 : tensor<64x256xbf16>
  } -> (tensor<?x?x2x256xbf16>)
  return %0 : tensor<?x?x2x256xbf16>
}

