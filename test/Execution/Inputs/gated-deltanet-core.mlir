// The core of the Gated DeltaNet layer of test/Modules/gated_deltanet.mlir, from raw
// projections to the normalised, gated output, in bf16 with an f32 state: rates over
// value columns, a norm over them.
func.func @gated_deltanet_core(
    %query: tensor<?x?x4x64xbf16> {linattn.name = "query", linattn.sample = "value"},
    %key: tensor<?x?x4x64xbf16> {linattn.name = "key", linattn.sample = "value"},
    %value: tensor<?x?x4x64xbf16> {linattn.name = "value", linattn.sample = "value"},
    %gate: tensor<?x?x4x64xbf16> {linattn.name = "gate", linattn.sample = "value"},
    %beta: tensor<?x?x4x64xbf16> {linattn.name = "beta", linattn.sample = "value"},
    %alpha: tensor<?x?x4xf32> {linattn.name = "alpha", linattn.sample = "raw_gate"},
    %A_log: tensor<4xf32> {linattn.name = "A_log", linattn.sample = "a_log"},
    %dt_bias: tensor<4xf32> {linattn.name = "dt_bias", linattn.sample = "raw"},
    %weight: tensor<1x64xf32> {linattn.name = "norm_weight", linattn.sample = "weight"},
    %s0: tensor<?x4x64x64xf32> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>) {
  %y, %sT = linattn.recurrence
      tokens(%query : tensor<?x?x4x64xbf16>, %key : tensor<?x?x4x64xbf16>, %value : tensor<?x?x4x64xbf16>,
             %gate : tensor<?x?x4x64xbf16>, %beta : tensor<?x?x4x64xbf16>, %alpha : tensor<?x?x4xf32>)
      params(%A_log : tensor<4xf32>, %dt_bias : tensor<4xf32>, %weight : tensor<1x64xf32>)
      state(%s0 : tensor<?x4x64x64xf32>)
      -> (tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>) {
  ^step(%rq: vector<64xbf16>, %rk: vector<64xbf16>, %rv: vector<64xbf16>, %rz: vector<64xbf16>, %rb: vector<64xbf16>,
        %a: f32, %al: f32, %bias: f32, %w: vector<64xf32>, %s: !linattn.state<64x64xf32>):
    %yq = arith.extf %rq : vector<64xbf16> to vector<64xf32>
    %yk = arith.extf %rk : vector<64xbf16> to vector<64xf32>
    %v = arith.extf %rv : vector<64xbf16> to vector<64xf32>
    %z = arith.extf %rz : vector<64xbf16> to vector<64xf32>
    %yb = arith.extf %rb : vector<64xbf16> to vector<64xf32>
    %qn = linattn.l2norm %yq eps 1.0e-6 : vector<64xf32> -> vector<64xf32>
    %scale = arith.constant dense<0.125> : vector<64xf32>
    %q = arith.mulf %qn, %scale : vector<64xf32>
    %k = linattn.l2norm %yk eps 1.0e-6 : vector<64xf32> -> vector<64xf32>
    %b = linattn.sigmoid %yb : vector<64xf32>
    %shifted = arith.addf %a, %bias : f32
    %dt = linattn.softplus %shifted : f32
    %A = math.exp %al : f32
    %Adt = arith.mulf %A, %dt : f32
    %g = arith.negf %Adt : f32

    %s1 = linattn.decay %s, %g : !linattn.state<64x64xf32>, f32
    %s2 = linattn.delta_update %s1, %k, %v, %b
        : !linattn.state<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
    %o = linattn.read %s2, %q : !linattn.state<64x64xf32>, vector<64xf32>

    // RMSNorm over the head, times silu of the gate. The constant is f64, so that
    // the fp64 form has all of its digits.
    %oo = arith.mulf %o, %o : vector<64xf32>
    %sum = vector.reduction <add>, %oo : vector<64xf32> into f32
    %part = arith.constant 0.015625 : f32
    %mean = arith.mulf %sum, %part : f32
    %eps64 = arith.constant 1.0e-6 : f64
    %eps = arith.truncf %eps64 : f64 to f32
    %m = arith.addf %mean, %eps : f32
    %r = math.rsqrt %m : f32
    %rs = vector.broadcast %r : f32 to vector<64xf32>
    %n = arith.mulf %o, %rs : vector<64xf32>
    %nw = arith.mulf %n, %w : vector<64xf32>
    %sz = linattn.silu %z : vector<64xf32>
    %out = arith.mulf %nw, %sz : vector<64xf32>
    %ob = arith.truncf %out : vector<64xf32> to vector<64xbf16>
    linattn.yield %ob, %s2 : vector<64xbf16>, !linattn.state<64x64xf32>
  }
  return %y, %sT : tensor<?x?x4x64xbf16>, tensor<?x4x64x64xf32>
}
