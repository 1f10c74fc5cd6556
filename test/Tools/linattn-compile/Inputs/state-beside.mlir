// A delta update with a decay, whose output is divided by what a second state
// of one value column gives: of that all warps hold 16.
func.func @state_beside(
    %q: tensor<?x?x2x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>,
    %g: tensor<?x?x2xf32>, %b: tensor<?x?x2xf32>,
    %s0: tensor<?x2x128x128xf32>, %z0: tensor<?x2x128x1xf32>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>, tensor<?x2x128x1xf32>) {
  %o, %sT, %zT = linattn.recurrence
      tokens(%q : tensor<?x?x2x128xbf16>, %k : tensor<?x?x2x128xbf16>, %v : tensor<?x?x2x128xbf16>,
             %g : tensor<?x?x2xf32>, %b : tensor<?x?x2xf32>)
      state(%s0 : tensor<?x2x128x128xf32>, %z0 : tensor<?x2x128x1xf32>)
      -> (tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>, tensor<?x2x128x1xf32>) {
  ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<128x128xf32>, %z: !linattn.state<128x1xf32>):
    %one = arith.constant dense<1.0> : vector<1xf32>
    %ones = arith.constant dense<1.0> : vector<128xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
    %x = linattn.read %s2, %qt scale 0.0883 : !linattn.state<128x128xf32>, vector<128xbf16>
    %kf = arith.extf %kt : vector<128xbf16> to vector<128xf32>
    %key = linattn.sigmoid %kf : vector<128xf32>
    %qf = arith.extf %qt : vector<128xbf16> to vector<128xf32>
    %query = linattn.sigmoid %qf : vector<128xf32>
    %z1 = linattn.write %z, %key, %one : !linattn.state<128x1xf32>, vector<128xf32>, vector<1xf32>
    %sum = linattn.read %z1, %query : !linattn.state<128x1xf32>, vector<128xf32>
    %n = vector.extract %sum[0] : f32 from vector<1xf32>
    %all = vector.broadcast %n : f32 to vector<128xf32>
    %norm = arith.addf %all, %ones : vector<128xf32>
    %y = arith.divf %x, %norm : vector<128xf32>
    %yb = arith.truncf %y : vector<128xf32> to vector<128xbf16>
    linattn.yield %yb, %s2, %z1 : vector<128xbf16>, !linattn.state<128x128xf32>, !linattn.state<128x1xf32>
  }
  return %o, %sT, %zT : tensor<?x?x2x128xbf16>, tensor<?x2x128x128xf32>, tensor<?x2x128x1xf32>
}
