// RUN: linattn-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(gpu.module(gpu.func(tile-insert-barriers)))'

gpu.module @m {
  gpu.func @while(%c: i1) kernel {
    // expected-error @below {{barriers are inserted where control flow is scf.for and scf.if, got scf.while}}
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.yield
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{barriers are inserted where control flow is scf.for and scf.if, got several blocks}}
  gpu.func @blocks() kernel {
    cf.br ^bb1
  ^bb1:
    gpu.return
  }
}
