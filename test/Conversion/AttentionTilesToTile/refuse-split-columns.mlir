// RUN: linattn-opt %s --linattn-tile-attention="query-tile=16 key-tile=32" --canonicalize --linattn-attention-tiles-to-tile="split-keys=64" --verify-diagnostics

func.func @wide(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x512xbf16>) -> tensor<?x?x4x512xbf16> {
  // expected-error @+1 {{'linattn.attention_tiles' op is not lowered to tiles: the smallest ones need about 316 registers of a thread, which has 255, for a row of values, and the columns of these have no parts: keys come in parts (split-keys=0)}}
  %o = linattn.softmax_attention %q, %k, %v
      : (tensor<?x?x4x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x512xbf16>) -> (tensor<?x?x4x512xbf16>)
  return %o : tensor<?x?x4x512xbf16>
}
