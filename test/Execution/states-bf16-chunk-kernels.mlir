// States in bf16 in chunks. In some kernels the two halves of a register come
// from different rows, and of such a pair one is never written nor used.
//
// RUN: linattn-run %s --lowering=chunkwise --device=sim --size B=1 --size T=19 \
// RUN:   --plan="chunk=16" --verify | FileCheck %s
// RUN: linattn-run %s --lowering=chunkwise --device=sim --size B=1 --size T=19 \
// RUN:   --plan="chunk=16 mma=bf16x2" --verify | FileCheck %s

// CHECK: {{^}}0 {{.*}} ok
// CHECK: {{^}}1 {{.*}} ok
func.func @gated_deltanet(
    %q: tensor<?x?x1x32xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x1x32xbf16> {linattn.name = "v", linattn.sample = "value"},
    %g: tensor<?x?x1xf32> {linattn.name = "g", linattn.sample = "log_gate"},
    %beta: tensor<?x?x1xf32> {linattn.name = "beta", linattn.sample = "rate"},
    %s0: tensor<?x1x32x32xbf16> {linattn.name = "s0", linattn.sample = "state"})
    -> (tensor<?x?x1x32xbf16>, tensor<?x1x32x32xbf16>) {
  %o, %sT = linattn.recurrence
      tokens(%q : tensor<?x?x1x32xbf16>, %k : tensor<?x?x1x32xbf16>, %v : tensor<?x?x1x32xbf16>,
             %g : tensor<?x?x1xf32>, %beta : tensor<?x?x1xf32>)
      state(%s0 : tensor<?x1x32x32xbf16>)
      -> (tensor<?x?x1x32xbf16>, tensor<?x1x32x32xbf16>) {
  ^step(%qt: vector<32xbf16>, %kt: vector<32xbf16>, %vt: vector<32xbf16>, %gt: f32, %bt: f32,
        %s: !linattn.state<32x32xbf16>):
    %s1 = linattn.decay %s, %gt : !linattn.state<32x32xbf16>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<32x32xbf16>, vector<32xbf16>, vector<32xbf16>, f32
    %ot = linattn.read %s2, %qt : !linattn.state<32x32xbf16>, vector<32xbf16>
    %ob = arith.truncf %ot : vector<32xf32> to vector<32xbf16>
    linattn.yield %ob, %s2 : vector<32xbf16>, !linattn.state<32x32xbf16>
  }
  return %o, %sT : tensor<?x?x1x32xbf16>, tensor<?x1x32x32xbf16>
}
