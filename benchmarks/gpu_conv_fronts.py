#!/usr/bin/env python3
"""Times the core of a Gated DeltaNet layer with its short convolutions on an NVIDIA GPU.

    benchmarks/gpu_conv_fronts.py compile -o gpu-fronts     here: no GPU needed
    benchmarks/gpu_conv_fronts.py run gpu-fronts --json F   there: torch, a driver,
                                                            liblinattn_runtime.so, FLA

Convolutions (width 4, silu, windows in and out) of q, k and v, norms of q and k, the
recurrence; 16 key and 32 value heads, K = V = 128, bf16 in, f32 states. `separate`
gives each convolution a launch, `columns` computes those that one block loads in the
kernel of the recurrence, `all` every one. Prefill in chunks; decoding with the states
in a pool. A time is reported only after the same kernel agrees with a token loop in
fp64 on 500 tokens, and on the timed input with `separate`. FLA's convolutions and
recurrence in the same run, called one after another.
"""

import subprocess
import sys
import types

from gpu_common import ROOT, capture, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

KEY_HEADS, HEADS, D, W = 16, 32, 128, 4
CHANNELS = {"q": KEY_HEADS * D, "k": KEY_HEADS * D, "v": HEADS * D}
FUSED = {"separate": 0, "columns": 2, "all": 1}
PREFILL = [(1, 32768), (4, 4096)]
DECODE = [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (128, 1), (1, 4), (4, 4)]
LIMIT = 6e-3


# ------------------------------------------------------------------------ compile
def text_of(name, decoding):
    arguments, body = {}, []
    for x, C in CHANNELS.items():
        heads = C // D
        flat, wide, end = f"tensor<?x?x{C}xbf16>", f"tensor<?x?x{heads}x{D}xbf16>", f"tensor<?x{C}x{W - 1}xbf16>"
        arguments |= {f"x{x}": flat, f"w{x}": f"tensor<{C}x{W}xbf16>", f"h{x}": end}
        body += [
            f"%y{x}, %e{x} = linattn.short_conv %x{x}, %w{x} window(%h{x} : {end}) activation silu"
            f" : ({flat}, tensor<{C}x{W}xbf16>) -> ({flat}, {end})",
            f"%{x} = tensor.expand_shape %y{x} [[0], [1], [2, 3]] output_shape [%B, %T, {heads}, {D}] : {flat} into {wide}",
        ]
    gates, pool = f"tensor<?x?x{HEADS}xf32>", f"tensor<?x{HEADS}x{D}x{D}xf32>"
    arguments |= {"g": gates, "beta": gates, "s0": pool}
    slots = ""
    if decoding:
        arguments["slots"] = "tensor<?xi32>"
        slots = " slots(%slots : tensor<?xi32>, padding = -1)"
    keys, values = f"tensor<?x?x{KEY_HEADS}x{D}xbf16>", f"tensor<?x?x{HEADS}x{D}xbf16>"
    state, row, wide = f"!linattn.state<{D}x{D}xf32>", f"vector<{D}xbf16>", f"vector<{D}xf32>"
    results = {"o": values, "end": pool} | {f"e{x}": arguments[f"h{x}"] for x in CHANNELS}
    named = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in arguments.items())
    returned, types = ", ".join(f"%{n}" for n in results), ", ".join(results.values())
    lines = "\n  ".join(body)
    return f"""func.func @{name}({named}) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %xq, %c0 : {arguments["xq"]}
  %T = tensor.dim %xq, %c1 : {arguments["xq"]}
  {lines}
  %o, %end = linattn.recurrence tokens(%q : {keys}, %k : {keys}, %v : {values}, %g : {gates}, %beta : {gates})
      state(%s0 : {pool}){slots} -> ({values}, {pool}) {{
  ^step(%qt: {row}, %kt: {row}, %vt: {row}, %gt: f32, %bt: f32, %s: {state}):
    %qn = linattn.l2norm %qt eps 1.0e-6 : {row} -> {wide}
    %kn = linattn.l2norm %kt eps 1.0e-6 : {row} -> {wide}
    %s1 = linattn.decay %s, %gt : {state}, f32
    %s2 = linattn.delta_update %s1, %kn, %vt, %bt : {state}, {wide}, {row}, f32
    %ot = linattn.read %s2, %qn scale {D**-0.5} : {state}, {wide}
    %ob = arith.truncf %ot : {wide} to {row}
    linattn.yield %ob, %s2 : {row}, {state}
  }}
  return {returned} : {types}
}}
"""


def cases():
    for fused in FUSED:
        for B, T in PREFILL:
            yield f"prefill_{B}x{T}_{fused}", False, fused, [f"--size=B={B}", f"--size=T={T}"]
    for fused in ("separate", "all"):
        yield f"decode_{fused}", True, fused, ["--lowering=serial"]


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for name, decoding, fused, options in cases():
        source = args.output / f"{name}.mlir"
        source.write_text(text_of(name, decoding))
        command = [args.tool, source, f"--target={args.target}", *options]
        command += [f"--plan=fuse-conv={FUSED[fused]}", "-o", args.output]
        subprocess.run([str(c) for c in command], check=True)
        source.unlink()
    return 0


# ---------------------------------------------------------------------------- run
def inputs(torch, B, T, decoding):
    F = torch.nn.functional
    x = {}
    for name, C in CHANNELS.items():
        x["x" + name] = torch.randn(B, T, C, device="cuda").bfloat16()
        x["w" + name] = (torch.randn(C, W, device="cuda") * 0.5).bfloat16()
        x["h" + name] = torch.randn(B, C, W - 1, device="cuda").bfloat16()
    x["g"] = F.logsigmoid(torch.randn(B, T, HEADS, device="cuda"))
    x["beta"] = torch.rand(B, T, HEADS, device="cuda")
    rows = B + 3 if decoding else B
    x["s0"] = torch.randn(rows, HEADS, D, D, device="cuda") * 0.1
    if decoding:
        x["slots"] = torch.randperm(rows, device="cuda")[:B].int()
    return x


def reference(torch, x):
    """Convolutions rounded once, the rest in fp64, token after token."""
    F = torch.nn.functional
    values, ends = {}, {}
    for name, C in CHANNELS.items():
        line = torch.cat([x["h" + name].transpose(1, 2), x["x" + name]], 1).double()
        total = F.conv1d(line.transpose(1, 2), x["w" + name].double()[:, None], groups=C)
        y = F.silu(total).transpose(1, 2).bfloat16().double()
        values[name] = y.unflatten(2, (C // D, D))
        ends[name] = line[:, line.shape[1] - (W - 1) :].transpose(1, 2)
    q, k, v = values["q"], values["k"], values["v"]
    q, k = (y * (y.square().sum(-1, keepdim=True) + 1e-6).rsqrt() for y in (q, k))
    q, k = (y.repeat_interleave(HEADS // KEY_HEADS, 2) for y in (q, k))
    S = x["s0"][x["slots"].long()].double() if "slots" in x else x["s0"].double()
    outputs = []
    for t in range(q.shape[1]):
        S = S * x["g"][:, t].double().exp()[..., None, None]
        error = v[:, t] - (S * k[:, t, ..., None]).sum(2)
        S = S + k[:, t, ..., None] * (x["beta"][:, t, :, None].double() * error)[:, :, None]
        outputs.append((S * q[:, t, ..., None]).sum(2) * D**-0.5)
    return [torch.stack(outputs, 1), S, *ends.values()]


def relative_rms(y, want):
    return float(((y.double() - want.double()).square().mean() / want.double().square().mean()).sqrt())


def buffers(torch, x):
    o = torch.empty(*x["xv"].shape[:2], HEADS, D, dtype=torch.bfloat16, device="cuda")
    ends = [torch.empty_like(x["h" + name]) for name in CHANNELS]
    # A pool is its own result.
    return [o, None if "slots" in x else torch.empty_like(x["s0"]), *ends]


def call(torch, function, x):
    """Outputs, the states of the sequences, windows."""
    x = dict(x, s0=x["s0"].clone())
    out = buffers(torch, x)
    function(**x, out=out)
    if "slots" in x:
        out[1] = x["s0"][x["slots"].long()]
    return out


def fla_call(torch, x):
    from fla.modules.convolution import causal_conv1d
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    def run():
        made = {}
        for name, C in CHANNELS.items():
            y = causal_conv1d(x["x" + name], x["w" + name], activation="silu")
            y = y[0] if isinstance(y, tuple) else y
            made[name] = y.unflatten(2, (C // D, D))
        return chunk_gated_delta_rule(
            made["q"].repeat_interleave(HEADS // KEY_HEADS, 2),
            made["k"].repeat_interleave(HEADS // KEY_HEADS, 2),
            made["v"], x["g"], x["beta"], initial_state=x["s0"],
            output_final_state=True, use_qk_l2norm_in_kernel=True,
        )  # fmt: skip

    return run


def graph_time(env, run):
    """Milliseconds of a call in a captured graph of 20."""
    graph = capture(env.torch, lambda: [run() for _ in range(20)])
    return env.time(graph.replay) / 20


def run_row(env, kind, B, T):
    torch, decoding = env.torch, kind == "decode"
    torch.manual_seed(B)
    variants = ["separate", "all"] if decoding else list(FUSED)
    names = {v: f"decode_{v}" if decoding else f"prefill_{B}x{T}_{v}" for v in variants}
    row = {"kind": kind, "B": B, "T": T, "right": True, "errors": {}, "ms": {}, "graph_ms": {}}
    small = inputs(torch, B if decoding else 2, T if decoding else 500, decoding)
    want = reference(torch, small)
    for variant, name in names.items():
        got = call(torch, env.artifact[name], small)
        row["errors"][variant] = [relative_rms(y, w) for y, w in zip(got, want)]
        row["right"] &= all(error <= LIMIT for error in row["errors"][variant])
    del want, got
    x = inputs(torch, B, T, decoding)
    first = call(torch, env.artifact[names["separate"]], x)
    for variant in variants[1:]:
        other = call(torch, env.artifact[names[variant]], x)
        away = max(relative_rms(y, w) for y, w in zip(other, first))
        row["errors"][variant + " from separate"] = away
        row["right"] &= away <= 2e-3
    if not row["right"]:
        return row
    del first, other
    out = buffers(torch, x)
    for variant, name in names.items():
        function = env.artifact[name]
        space = function.workspace_bytes(**x)
        space = torch.empty(space, dtype=torch.uint8, device="cuda") if space else None
        run = lambda: function(**x, out=out, workspace=space)
        row["ms"][variant] = env.time(run)
        if decoding:
            row["graph_ms"][variant] = graph_time(env, run)
    if not decoding:
        try:
            run = fla_call(torch, x)
            run()
            row["ms"]["fla"] = env.time(run)
        except Exception as error:  # broken installations raise anything
            print(f"no FLA in this run: {error}")
    return row


def run_all(args):
    import torch
    from linattn import runtime

    torch.zeros(1, device="cuda")
    env = types.SimpleNamespace(torch=torch, artifact=runtime.load(str(args.folder)))
    env.time = make_timer(torch, rep=60)
    rows = []
    for kind, shapes in (("prefill", PREFILL), ("decode", DECODE)):
        for B, T in shapes:
            row = run_row(env, kind, B, T)
            rows.append(row)
            times = "  ".join(f"{n} {ms:.4f}" for n, ms in row["ms"].items())
            graph = "  ".join(f"{n} {ms:.4f}" for n, ms in row["graph_ms"].items())
            print(f"{kind} {B}x{T}: {times} ms", f"; in a graph {graph} ms" if graph else "", "" if row["right"] else f"WRONG {row['errors']}", flush=True)
            write_report(args.json, {"device": runtime.device(), "rows": rows})
    return 0 if all(row["right"] for row in rows) else 1


def no_options(parser):
    pass


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-fronts", compile_all, run_all, no_options, no_options))
