// A state and its normaliser, one value column wide, both updated in place in pools:
// with slices of the wide one, blocks would read the narrow one after others have
// written it. One block has all columns, in either form.
// RUN: linattn-run %s --size=P=4 --size=T=19 --slots=2,0 --device=sim --lowering=chunkwise --plan=chunk=16 --verify
// RUN: linattn-run %s --size=P=4 --size=T=3 --slots=2,0 --device=sim --lowering=serial --verify
// RUN: not linattn-compile %s --target=sm_90a --plan=slice=32 --no-cubin -o %t 2>&1 | FileCheck %s
// CHECK: states in pools with other value columns than those that are cut are in every slice, got slice=32 for 96 columns

func.func @normalised(
    %q: tensor<?x?x1x32xbf16> {linattn.name = "q", linattn.sample = "unit_key"},
    %k: tensor<?x?x1x32xbf16> {linattn.name = "k", linattn.sample = "unit_key"},
    %v: tensor<?x?x1x96xbf16> {linattn.name = "v", linattn.sample = "value"},
    %one: tensor<?x?x1x1xbf16> {linattn.name = "one", linattn.sample = "value"},
    %s0: tensor<?x1x32x96xf32> {linattn.name = "s", linattn.sample = "state"},
    %z0: tensor<?x1x32x1xf32> {linattn.name = "z", linattn.sample = "state"},
    %slots: tensor<?xi32> {linattn.name = "slots"})
    -> (tensor<?x?x1x96xf32>, tensor<?x1x32x96xf32>, tensor<?x1x32x1xf32>) {
  %o, %sT, %zT = linattn.recurrence
      tokens(%q : tensor<?x?x1x32xbf16>, %k : tensor<?x?x1x32xbf16>, %v : tensor<?x?x1x96xbf16>, %one : tensor<?x?x1x1xbf16>)
      state(%s0 : tensor<?x1x32x96xf32>, %z0 : tensor<?x1x32x1xf32>) slots(%slots : tensor<?xi32>)
      -> (tensor<?x?x1x96xf32>, tensor<?x1x32x96xf32>, tensor<?x1x32x1xf32>) {
  ^step(%qt: vector<32xbf16>, %kt: vector<32xbf16>, %vt: vector<96xbf16>, %et: vector<1xbf16>,
        %s: !linattn.state<32x96xf32>, %z: !linattn.state<32x1xf32>):
    %s1 = linattn.write %s, %kt, %vt : !linattn.state<32x96xf32>, vector<32xbf16>, vector<96xbf16>
    %z1 = linattn.write %z, %kt, %et : !linattn.state<32x1xf32>, vector<32xbf16>, vector<1xbf16>
    %r = linattn.read %s1, %qt : !linattn.state<32x96xf32>, vector<32xbf16>
    %n = linattn.read %z1, %qt : !linattn.state<32x1xf32>, vector<32xbf16>
    %x = vector.extract %n[0] : f32 from vector<1xf32>
    %c4 = arith.constant 4.0 : f32
    %a = math.absf %x : f32
    %d = arith.addf %a, %c4 : f32
    %db = vector.broadcast %d : f32 to vector<96xf32>
    %ot = arith.divf %r, %db : vector<96xf32>
    linattn.yield %ot, %s1, %z1 : vector<96xf32>, !linattn.state<32x96xf32>, !linattn.state<32x1xf32>
  }
  return %o, %sT, %zT : tensor<?x?x1x96xf32>, tensor<?x1x32x96xf32>, tensor<?x1x32x1xf32>
}
