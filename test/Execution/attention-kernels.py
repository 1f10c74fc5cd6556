# Attention kernels on the simulator: right against the fp64 form that follows
# the definition, and without a finding (races, bounds, uninitialised values
# ..): each kind of attention, each type, widths, heads, tails, packed sequences,
# rows without a key. Options are crossed so that every pair of them meets.
# REQUIRES: numpy
# RUN: %python %s linattn-run %t
import itertools
import pathlib
import subprocess
import sys

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
    %d = arith.subi %j, %t : index
    %i = arith.index_cast %d : index to i32
    %f = arith.sitofp %i : i32 to f32
    %n = arith.index_cast %h : index to i32
    %g = arith.sitofp %n : i32 to f32
    %c = arith.constant 0.03 : f32
    %m = arith.mulf %g, %c : f32
    %p = arith.mulf %m, %f : f32
    %z = arith.addf %s, %p : f32
    linattn.yield %z : f32
  }"""
BIAS = """score {
  ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
    %x = tensor.extract %bias[%h, %t, %j] : tensor<{H}x?x?xf32>
    %z = arith.addf %s, %x : f32
    linattn.yield %z : f32
  }"""
SCORES = {"none": "", "cap": CAP, "alibi": ALIBI, "bias": BIAS}
LAMBDAS = {"scalar": "", "head": "{H}x", "token": "{tokens}{H}x"}


def module(o):
    """One function for the options of a case."""
    heads, kv = o["heads"]
    qk, value = o["widths"]
    dtype, packed = o["dtype"], o["lengths"] == "packed"
    tokens = "?x" if packed else "?x?x"
    kind = o["kind"]
    both = 2 if kind != "softmax" else 1
    q = f"tensor<{tokens}{heads * both}x{qk}x{dtype}>"
    k = f"tensor<{tokens}{kv * (2 if kind == 'v1' else 1)}x{qk}x{dtype}>"
    v = f"tensor<{tokens}{kv}x{value}x{dtype}>"
    out = f"tensor<{tokens}{heads}x{value}x{dtype}>"
    args = [("q", q, "value"), ("k", k, "value"), ("v", v, "value")]
    score = SCORES[o["score"]].replace("{H}", str(heads * both))
    if o["score"] == "bias":
        bias = f"tensor<{heads * both}x?x?xf32>"
        args.append(("bias", bias, "value"))
    clauses = {"full": "", "causal": "causal", "window": "window 9", "causal window": "causal window 21"}[o["mask"]]
    if packed:
        args.append(("cu", "tensor<?xi32>", None))
        clauses += " seqlens(%cu : tensor<?xi32>)"
    names, types, results = "%q, %k, %v", f"{q}, {k}, {v}", [out]
    if kind == "softmax":
        name = "softmax_attention"
        if o["lse"]:
            results.append(f"tensor<{tokens}{heads}xf32>")
        clauses = ("scale 0.7 " if o["lse"] else "") + clauses
    else:
        name = f"diff_attention {kind}"
        shape = LAMBDAS[o["lambda"]].format(H=heads, tokens=tokens)
        args.append(("lam", f"tensor<{shape}f32>", "rate"))
        names, types = names + ", %lam", f"{types}, tensor<{shape}f32>"
        if kind == "v1" and o["lse"]:
            args.append(("w", f"tensor<{value}xf32>", "weight"))
            clauses = clauses.replace("seqlens", "@seqlens")
            head, _, tail = clauses.partition("@")
            clauses = f"{head} norm(%w : tensor<{value}xf32>) eps 1.0e-5 output_scale 0.8 {tail}"
    dims = {"bias": '["", "T", "S"]'}
    arguments = ", ".join(
        f'%{n}: {t} {{linattn.name = "{n}"'
        + (f', linattn.sample = "{s}"' if s else "")
        + (f", linattn.dims = {dims[n]}" if n in dims else "")
        + "}"
        for n, t, s in args
    )
    returned = ", ".join(results)
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    return f"""func.func @attention({arguments}) -> ({returned}) {{
  {values} = linattn.{name} {names} {clauses} {score}
      : ({types}) -> {f"({returned})" if kind == "softmax" else returned}
  return {values} : {returned}
}}
"""


OPTIONS = {
    "kind": ["softmax", "v1", "v2"],
    "dtype": ["bf16", "f16", "f32"],
    "mask": ["causal", "full", "window", "causal window"],
    "lengths": ["tail", "packed", "more keys", "more queries"],
    "heads": [(2, 2), (2, 1)],
    "widths": [(64, 64), (32, 96), (80, 48)],
    "score": ["none", "cap", "alibi", "bias"],
    "lse": [True, False],
    "lambda": ["token", "head", "scalar"],
}
SIZES = {
    "tail": ["--size=B=1", "--size=T=70", "--size=S=70"],
    "packed": ["--seqlens=0,0,1,40,40,107", "--size=T=107", "--size=S=107"],
    "more keys": ["--size=B=1", "--size=T=17", "--size=S=90"],
    "more queries": ["--size=B=2", "--size=T=40", "--size=S=24"],
}


def pairwise(options):
    """Cases in which every pair of values meets, chosen greedily."""
    names = list(options)
    left = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(names, 2)
        for x in options[a]
        for y in options[b]
    }
    while left:
        (a, x), (b, y) = min(left, key=repr)
        case = {a: x, b: y}
        for name in names:
            if name in case:
                continue

            def gain(value):
                pairs = [((m, case[m]), (name, value)) for m in names if m in case]
                return sum(p in left or p[::-1] in left for p in pairs)

            case[name] = max(options[name], key=gain)
        for m, n in itertools.combinations(names, 2):
            left.discard(((m, case[m]), (n, case[n])))
        yield case


failed = []
count = 0
for number, case in enumerate(pairwise(OPTIONS)):
    path = folder / f"case{number}.mlir"
    path.write_text(module(case))
    command = [tool, str(path), *SIZES[case["lengths"]]]
    command += ["--device=sim", "--lowering=chunkwise", "--verify"]
    run = subprocess.run(command, capture_output=True, text=True)
    count += 1
    if run.returncode != 0:
        failed.append(case)
        print(" ".join(command), case, run.stdout, run.stderr, sep="\n", file=sys.stderr)
assert not failed, (len(failed), count, failed)
