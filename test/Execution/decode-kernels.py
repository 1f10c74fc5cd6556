# Attention with keys in parts (few queries, a key/value cache) on the simulator,
# f16, against the definition: heads that share keys in one query tile and heads of
# their own, dense and packed caches of uneven length (one of them empty), parts
# that no length is a multiple of, several query tiles, windows, log-sum-exp.
# Twice the same bits.
# REQUIRES: numpy
# RUN: %python %s linattn-compile %t
import pathlib
import subprocess
import sys

import numpy as np
from linattn import reference, runtime

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
CAP = """score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %c = arith.constant 5.0 : f32
    %x = arith.divf %s, %c : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %c : f32
    linattn.yield %z : f32
  }"""
ALIBI = """score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %n = arith.addi %h, %j : index
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %c = arith.constant 0.03 : f32
    %m = arith.mulf %f, %c : f32
    %z = arith.addf %s, %m : f32
    linattn.yield %z : f32
  }"""
BIAS = """score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %x = tensor.extract %bias[%h, %t, %j] : tensor<4x?x?xf32>
    %z = arith.addf %s, %x : f32
    linattn.yield %z : f32
  }"""
TABLE = np.random.default_rng(0).normal(size=(4, 3, 90)).astype(np.float32)
SCORES = {
    "": ("", None),
    "cap": (CAP, lambda s, b, h, t, j: 5 * np.tanh(s / 5)),
    "bias": (BIAS, lambda s, b, h, t, j: s + TABLE[h, t, j]),
    "alibi": (ALIBI, lambda s, b, h, t, j: s + 0.03 * (h + j)),
}


def module(heads, width, value, packed, mask, score, differential):
    tokens = "?x" if packed else "?x?x"
    H, kv = heads
    both = 2 if differential else 1
    types = {
        "q": f"tensor<{tokens}{H * both}x{width}xf16>",
        "k": f"tensor<{tokens}{kv * (2 if differential == 'v1' else 1)}x{width}xf16>",
        "v": f"tensor<{tokens}{kv}x{value}xf16>",
    }
    out, lse = f"tensor<{tokens}{H}x{value}xf16>", f"tensor<{tokens}{H}xf32>"
    results = [out] if differential else [out, lse]
    name, operands = "softmax_attention", "%q, %k, %v"
    inputs = dict(types)
    if differential:
        name, operands = f"diff_attention {differential}", "%q, %k, %v, %lam"
        each = "" if differential == "v1" else tokens
        inputs["lam"] = types["lam"] = f"tensor<{each}{H}xf32>"
    if score == "bias":
        inputs["bias"] = "tensor<4x?x?xf32>"
    if packed:
        inputs["cu"] = inputs["ck"] = "tensor<?xi32>"
        mask += " seqlens(%cu : tensor<?xi32>) kv_seqlens(%ck : tensor<?xi32>)"
    arguments = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in inputs.items())
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    to = out if differential else f"({out}, {lse})"
    return f"""func.func @decode({arguments}) -> ({", ".join(results)}) {{
  {values} = linattn.{name} {operands} {mask} {SCORES[score][0]}
      : ({", ".join(types.values())}) -> {to}
  return {values} : {", ".join(results)}
}}
"""


def check(number, plan, heads, widths, lengths, mask="", score="", group=None, differential=None):
    """`lengths` are (queries, keys) of sequences: equal ones make a dense batch."""
    packed = len(set(lengths)) > 1
    H, kv = heads
    both = 2 if differential else 1
    width, value = widths
    source, out = folder / f"{number}.mlir", folder / str(number)
    source.write_text(module(heads, width, value, packed, mask, score, differential))
    command = [tool, str(source), "--target=sm_90a", "--no-cubin", f"--plan={plan}"]
    subprocess.run([*command, "-o", str(out)], check=True)
    function = runtime.load(str(out))["decode"]
    description = function.description
    assert description["plan"]["heads_per_tile"] == group, description["plan"]
    assert len(description["launches"]) == 2
    cu, ck = (np.cumsum([0, *part]).astype(np.int32) for part in zip(*lengths))
    if packed:
        queries, keys = (cu[-1],), (ck[-1],)
    else:
        queries, keys = ((len(lengths), n) for n in lengths[0])
    rng = np.random.default_rng(number)
    q = rng.normal(size=(*queries, H * both, width)).astype(np.float16)
    k = rng.normal(size=(*keys, kv * (2 if differential == "v1" else 1), width))
    k = k.astype(np.float16)
    v = rng.normal(size=(*keys, kv, value)).astype(np.float16)
    inputs = [q, k, v]
    options = dict(causal="causal" in mask, score=SCORES[score][1])
    if "window" in mask:
        options["window"] = int(mask.split()[-1])
    if packed:
        options.update(cu_seqlens=cu, cu_seqlens_k=ck)
    if differential:
        size = H if differential == "v1" else (*queries, H)
        inputs.append(rng.uniform(size=size).astype(np.float32))
        wanted = getattr(reference, f"diff_attention_{differential}")(*inputs, **options)
    else:
        wanted = reference.softmax_attention(*inputs, **options, return_lse=True)
    inputs += ([TABLE] if score == "bias" else []) + ([cu, ck] if packed else [])

    def call():
        got = function(*inputs)
        return got if isinstance(got, (list, tuple)) else [got]

    got = call()
    for mine, theirs in zip(got, wanted):
        mine = mine.astype(np.float64)
        # Rows without keys: 0 and -inf.
        seen = np.isfinite(theirs)
        assert (mine[~seen] == theirs[~seen]).all(), number
        if not theirs[seen].any():
            assert not mine[seen].any(), number
            continue
        error = np.linalg.norm(mine[seen] - theirs[seen]) / np.linalg.norm(theirs[seen])
        assert error <= 2e-3, (number, plan, error)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(got, call())), number


SMALL = "query-tile=16 key-tile=16 stages=3 split-keys=32"
UNEVEN = [(1, 70), (1, 0), (1, 1), (0, 40), (2, 129), (1, 32)]
CASES = [
    # One query: the heads of a group are the rows.
    (SMALL, (8, 2), (64, 64), [(1, 150)] * 2, "", "", 4),
    (SMALL, (16, 1), (128, 128), [(1, 100)], "causal", "", 16),
    # Several queries: heads of a token, then of the next.
    (SMALL, (8, 2), (64, 64), [(3, 90)] * 2, "causal", "", 4),
    (SMALL, (6, 2), (64, 48), [(8, 61)], "causal window 20", "cap", 3),
    (SMALL, (4, 2), (32, 64), [(5, 77)], "window 9", "", 2),
    # No cache at all, and fewer keys than queries.
    (SMALL, (4, 2), (64, 64), [(2, 0)], "", "", 2),
    (SMALL, (4, 2), (64, 64), [(4, 2)], "causal", "", 2),
    # Packed, with more queries than a tile has in one case.
    (SMALL, (8, 2), (64, 64), UNEVEN, "causal", "", 4),
    (SMALL, (4, 4), (64, 64), UNEVEN, "", "", 1),
    (SMALL, (8, 1), (64, 64), [(9, 200), (1, 33), (0, 0), (6, 6)], "causal", "", 8),
    # The score region asks for the head: a tile of each.
    (SMALL, (4, 2), (64, 64), [(2, 90)], "causal", "alibi", 1),
    (SMALL, (4, 2), (64, 64), [(3, 90)] * 2, "", "bias", 1),
    # Other tiles, one stage.
    ("query-tile=32 key-tile=32 stages=1 split-keys=64", (8, 1), (64, 64), [(5, 130)], "causal", "", 8),
    ("query-tile=16 key-tile=32 stages=3 split-keys=1024", (8, 2), (128, 128), [(1, 1500)], "", "", 4),
]
for number, case in enumerate(CASES):
    check(number, *case)
# Both maps of a differential attention: lambda by head asks for the head, lambda by
# token does not.
count = len(CASES)
check(count, SMALL, (2, 2), (64, 128), [(2, 90)] * 2, "causal", "", 1, "v1")
check(count + 1, SMALL, (4, 2), (32, 64), [(1, 90), (2, 3)], "causal", "", 1, "v1")
check(count + 2, SMALL, (4, 2), (64, 64), [(3, 70)], "causal", "", 2, "v2")
check(count + 3, SMALL, (4, 1), (32, 64), [(1, 90), (2, 3), (9, 50)], "causal", "", 4, "v2")
