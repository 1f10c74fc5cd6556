// RUN: linattn-opt %s --linattn-tile-attention="query-tile=16 key-tile=32" --canonicalize --linattn-attention-tiles-to-tile="split-keys=64" --verify-diagnostics

func.func @wide(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x256xbf16>, %l: tensor<f32>) -> tensor<?x?x2x256xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not split over keys: its value columns are in 2 parts already, as one block has too few registers for them (split-keys=0)}}
  %o = linattn.diff_attention v2 %q, %k, %v, %l
      : (tensor<?x?x4x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x256xbf16>, tensor<f32>) -> tensor<?x?x2x256xbf16>
  return %o : tensor<?x?x2x256xbf16>
}
