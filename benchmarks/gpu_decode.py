#!/usr/bin/env python3
"""Times decoding on an NVIDIA GPU: one step of a batch of states, in place.

    benchmarks/gpu_decode.py compile -o gpu-decode      here: no GPU needed
    benchmarks/gpu_decode.py run gpu-decode --json F    there: torch, a driver,
                                                        liblinattn_runtime.so, FLA

Gated DeltaNet with 16 key and 32 value heads and KDA with 32, K = V = 128, bf16 in,
sequence n keeps its state, f32 or (`_bf16`) bf16, in row slots[n] of a pool; T tokens
a call. A time is reported only after the same call agrees with the steps in fp64, and
its replay as a CUDA graph, also of changed inputs, with the call to the bit. Times are
of replays: a call from Python takes longer than small steps do. `of_copy` is the time
of a device copy of as many bytes (every tensor once, the state read and written),
measured the same way in the same run, over that of the call. The rows of `bits` count
the different results of 1,000 runs.
"""

import subprocess
import sys
import time
import types

from gpu_common import ROOT, capture, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

NAMES = ["gdn", "kda", "gdn_bf16", "kda_bf16"]
CALLS = [(1, 1), (32, 1), (128, 1), (256, 1), (128, 2), (128, 4), (128, 8)]  # B, T
BITS, RUNS = [(32, 1), (32, 2), (32, 4), (32, 8)], 1000
# Relative RMS; o is rounded to bf16, and so are states that are kept in it.
LIMIT = {"o": 2.5e-3, "state": 1e-5, "state_bf16": 2.5e-3}
KEY_HEADS, HEADS, D = 16, 32, 128


# ------------------------------------------------------------------------ compile
def text_of(name):
    """The step with its state in a pool."""
    operator, _, stored = name.partition("_")
    key_heads = KEY_HEADS if operator == "gdn" else HEADS
    gate = f"tensor<?x?x{HEADS}xf32>" if operator == "gdn" else f"tensor<?x?x{HEADS}x{D}xf32>"
    step_gate = "f32" if operator == "gdn" else f"vector<{D}xf32>"
    tokens = {
        "q": f"tensor<?x?x{key_heads}x{D}xbf16>", "k": f"tensor<?x?x{key_heads}x{D}xbf16>",
        "v": f"tensor<?x?x{HEADS}x{D}xbf16>", "g": gate, "beta": f"tensor<?x?x{HEADS}xf32>",
    }  # fmt: skip
    pool = f"tensor<?x{HEADS}x{D}x{D}x{stored or 'f32'}>"
    state = f"!linattn.state<{D}x{D}x{stored or 'f32'}>"
    row = f"vector<{D}xbf16>"
    arguments = {**tokens, "pool": pool, "slots": "tensor<?xi32>"}
    named = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in arguments.items())
    out = tokens["v"]
    operands = ", ".join(f"%{n} : {t}" for n, t in tokens.items())
    return f"""func.func @{name}({named}) -> ({out}, {pool}) {{
  %o, %end = linattn.recurrence tokens({operands}) state(%pool : {pool})
      slots(%slots : tensor<?xi32>, padding = -1) -> ({out}, {pool}) {{
  ^step(%qt: {row}, %kt: {row}, %vt: {row}, %gt: {step_gate}, %bt: f32, %s: {state}):
    %s1 = linattn.decay %s, %gt : {state}, {step_gate}
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : {state}, {row}, {row}, f32
    %ot = linattn.read %s2, %qt scale {D**-0.5} : {state}, {row}
    %ob = arith.truncf %ot : vector<{D}xf32> to {row}
    linattn.yield %ob, %s2 : {row}, {state}
  }}
  return %o, %end : {out}, {pool}
}}
"""


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        source = args.output / f"{name}.mlir"
        source.write_text(text_of(name))
        start = time.time()
        command = [args.tool, source, f"--target={args.target}", "--lowering=serial"]
        subprocess.run([str(c) for c in (*command, "-o", args.output)], check=True)
        print(f"{name}: {time.time() - start:.2f} s")
        source.unlink()
    return 0


# ---------------------------------------------------------------------------- run
def inputs(torch, name, B, T):
    F = torch.nn.functional
    operator, _, stored = name.partition("_")
    key_heads = KEY_HEADS if operator == "gdn" else HEADS

    def unit():
        return F.normalize(torch.randn(B, T, key_heads, D, device="cuda"), dim=-1).bfloat16()

    shape = (B, T, HEADS) if operator == "gdn" else (B, T, HEADS, D)
    g = F.logsigmoid(torch.randn(shape, device="cuda"))
    v = torch.randn(B, T, HEADS, D, device="cuda").bfloat16()
    beta = torch.rand(B, T, HEADS, device="cuda")
    pool = torch.randn(B + 3, HEADS, D, D, device="cuda") * 0.1
    if stored:
        pool = pool.bfloat16()
    slots = torch.randperm(B + 3, device="cuda")[:B].int()
    return unit(), unit(), v, g, beta, pool, slots


def reference(torch, q, k, v, g, beta, pool, slots):
    repeat = v.shape[2] // q.shape[2]
    q, k = (x.double().repeat_interleave(repeat, 2) for x in (q, k))
    S = pool[slots.long()].double()
    outputs = []
    for t in range(q.shape[1]):
        decay = g[:, t].double().exp()
        S = S * (decay[..., None] if g.dim() == 4 else decay[..., None, None])
        error = v[:, t].double() - (S * k[:, t, ..., None]).sum(2)
        S = S + k[:, t, ..., None] * (beta[:, t, :, None].double() * error)[:, :, None]
        outputs.append((S * q[:, t, ..., None]).sum(2) * D**-0.5)
    return torch.stack(outputs, 1), S


def relative_rms(x, want):
    return float(((x.double() - want).square().mean() / want.square().mean()).sqrt())


def fla_calls():
    calls = {}
    for name, module, function in (
        ("gdn", "gated_delta_rule", "fused_recurrent_gated_delta_rule"),
        ("kda", "kda", "fused_recurrent_kda"),
    ):
        try:
            f = getattr(__import__(f"fla.ops.{module}", fromlist=[function]), function)
        except Exception as error:  # broken installations raise anything
            print(f"no {function} in this run: {error}")
            continue
        calls[name] = lambda x, s, f=f: f(
            x[0], x[1], x[2], g=x[3], beta=x[4], initial_state=s, output_final_state=True
        )
    return calls


def make_call(env, name, x):
    """One step on `x`, and where its output goes."""
    function, o = env.artifact[name], env.torch.empty_like(x[2])
    out = [o, None] if len(function.description["results"]) == 2 else [o]
    return (lambda: function(*x, out=out)), o


def bits_of(torch, x):
    return x.view(torch.int16 if x.element_size() == 2 else torch.int32)


def run_graph(env, x, call, o):
    """Whether a replay gives the bits of a call, on these inputs and on others in
    their place."""
    torch, first = env.torch, x[5].clone()
    graph = capture(torch, call)
    same = True
    for _ in range(2):
        results = []
        for go in (call, graph.replay):
            x[5].copy_(first)
            o.zero_()
            go()
            results.append((o.clone(), x[5].clone()))
        same &= all(
            torch.equal(bits_of(torch, a), bits_of(torch, b)) for a, b in zip(*results)
        )
        x[6].copy_(x[6].flip(0))
        x[0].copy_(x[0].flip(0))
    return same


def run_bits(env, name, B, T):
    torch = env.torch
    torch.manual_seed(B)
    x = inputs(torch, name, B, T)
    call, o = make_call(env, name, x)
    first = x[5].clone()
    call()
    wanted = [bits_of(torch, y).clone() for y in (o, x[5])]
    different = torch.zeros((), dtype=torch.int64, device="cuda")
    for _ in range(RUNS):
        x[5].copy_(first)
        call()
        different += sum((bits_of(torch, y) != w).any() for y, w in zip((o, x[5]), wanted)) > 0
    row = {"operator": name, "B": B, "T": T, "runs": RUNS, "different": int(different)}
    row["right"] = row["different"] == 0
    return row


def copy_ms(env, moved):
    """A device copy that reads and writes `moved` bytes in all: the best of several
    measurements, between the same two buffers."""
    source, target = (buffer[: moved // 8] for buffer in env.buffers)
    graph = capture(env.torch, lambda: target.copy_(source))
    return min(env.time(graph.replay) for _ in range(3))


def run_row(env, name, B, T=1):
    torch = env.torch
    torch.manual_seed(B)
    x = inputs(torch, name, B, T)
    want_o, want_S = reference(torch, *x)
    call, o = make_call(env, name, x)
    call()
    errors = {"o": relative_rms(o, want_o), "state": relative_rms(x[5][x[6].long()], want_S)}
    row = {"operator": name, "B": B, "T": T, "errors": errors}
    limit = LIMIT["state_bf16" if x[5].dtype == torch.bfloat16 else "state"]
    row["right"] = errors["o"] <= LIMIT["o"] and errors["state"] <= limit
    del want_o, want_S
    if row["right"]:
        row["graph"] = row["right"] = run_graph(env, x, call, o)
    if not row["right"]:
        return row
    row["ms"] = env.time(capture(torch, call).replay)
    state = B * HEADS * D * D * x[5].element_size()
    moved = 2 * state + sum(t.numel() * t.element_size() for t in (*x[:5], o))
    row["copy_ms"] = copy_ms(env, moved)
    row["of_copy"] = row["copy_ms"] / row["ms"]
    if name in env.fla and T == 1:
        states = x[5][x[6].long()].contiguous()
        call = lambda: env.fla[name](x, states)  # noqa: E731
        row["fla_ms"] = env.time(capture(torch, call).replay)
    return row


def run_all(args):
    import torch
    from linattn import runtime

    torch.zeros(1, device="cuda")
    env = types.SimpleNamespace(torch=torch, artifact=runtime.load(str(args.folder)))
    env.fla, env.time = fla_calls(), make_timer(torch, rep=60)
    largest = 9 * max(B for B, _ in CALLS) * HEADS * D * D // 8  # floats, and some
    env.buffers = [torch.zeros(largest, device="cuda") for _ in range(2)]
    rows = []
    for name in NAMES:
        for B, T in CALLS:
            row = run_row(env, name, B, T)
            rows.append(row)
            if not row["right"]:
                print(f"{name} B{B} T{T} WRONG: {row}", flush=True)
                continue
            fla = f"FLA {row['fla_ms']:.3f} ms" if "fla_ms" in row else ""
            print(
                f"{name} B{B} T{T}: {row['ms']:.4f} ms  {100 * row['of_copy']:.0f}% of a copy  {fla}"
                f"  errors {row['errors']['o']:.1e} {row['errors']['state']:.1e}",
                flush=True,
            )
    bits = [run_bits(env, name, B, T) for name in NAMES for B, T in BITS]
    print(f"{len(bits)} x {RUNS} runs: {sum(row['different'] for row in bits)} differ")
    write_report(args.json, {"device": runtime.device(), "rows": rows, "bits": bits})
    return 0 if all(row["right"] for row in rows + bits) else 1


def no_options(parser):
    pass


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-decode", compile_all, run_all, no_options, no_options))
