#!/usr/bin/env python3
"""Times softmax and differential attention on an NVIDIA GPU, beside torch.

    benchmarks/gpu_attention.py compile -o gpu-att      here: no GPU needed
    benchmarks/gpu_attention.py run gpu-att --json F    there: torch, a driver,
                                                        liblinattn_runtime.so

Causal, bf16. A time is reported only after 64 query rows of every head agree with
the formula in fp64; the error of torch's flash backend on the same rows stands
beside ours. Peers: scaled_dot_product_attention with its flash (FlashAttention-2)
and cuDNN backends; for differential attention the best composition of it that is
known: one call over the heads of both maps, keys padded to the width of the values
(V1: or four calls' worth of heads of half the values each), then the difference.
Times are medians of triton's do_bench, which empties the L2 before each call.
Multiply-adds count as two, pairs that causality masks not at all.
"""

import subprocess
import sys
import time

from gpu_common import ROOT, dimensions, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

# Kind, heads (of outputs), query width, value width, B, T.
ROWS = [
    ("softmax", 16, 128, 128, 4, 4096),
    ("softmax", 16, 128, 128, 1, 16384),
    ("softmax", 16, 64, 64, 4, 4096),
    ("v1", 16, 64, 128, 4, 4096),
    ("v2", 16, 128, 128, 4, 4096),
    ("v2", 16, 64, 64, 4, 4096),
]
LIMIT = 3e-3  # relative RMS of bf16 against fp64; of V1, V2: of both parts
ROWS_CHECKED = 64


# ------------------------------------------------------------------------ compile
def text_of(kind, H, D, V, name):
    def tensor(heads, width):
        return f"tensor<?x?x{heads}x{width}xbf16>"

    def argument(value, kind):
        sample = "value" if "bf16" in kind else "rate"
        return f'%{value}: {kind} {{linattn.name = "{value}", linattn.sample = "{sample}"}}'

    if kind == "softmax":
        types = {"q": tensor(H, D), "k": tensor(H, D), "v": tensor(H, V)}
        call = "linattn.softmax_attention %q, %k, %v causal"
    elif kind == "v1":
        types = {"q": tensor(2 * H, D), "k": tensor(2 * H, D), "v": tensor(H, V)}
        types["lam"] = f"tensor<{H}xf32>"
        call = "linattn.diff_attention v1 %q, %k, %v, %lam causal"
    else:
        types = {"q": tensor(2 * H, D), "k": tensor(H, D), "v": tensor(H, V)}
        types["lam"] = f"tensor<?x?x{H}xf32>"
        call = "linattn.diff_attention v2 %q, %k, %v, %lam causal"
    result = tensor(H, V)
    arguments = ",\n    ".join(argument(*item) for item in types.items())
    to = f"({result})" if kind == "softmax" else result
    return f"""func.func @{name}({arguments}) -> {result} {{
  %o = {call} : ({", ".join(types.values())}) -> {to}
  return %o : {result}
}}
"""


def name_of(kind, H, D, V):
    return f"{kind}_h{H}_d{D}_v{V}"


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for row in dict.fromkeys(row[:4] for row in ROWS):
        name = name_of(*row)
        source = args.output / f"{name}.mlir"
        source.write_text(text_of(*row, name))
        start = time.time()
        command = [args.tool, source, f"--target={args.target}", "-o", args.output]
        if args.plan:
            command.append(f"--plan={args.plan}")
        subprocess.run([str(c) for c in command], check=True)
        print(f"{name}: {time.time() - start:.2f} s")
        source.unlink()
    return 0


# ---------------------------------------------------------------------------- run
def reference(torch, q, k, v, rows):
    """softmax(q k^T D^-1/2) v of some query rows, in fp64: [B, H, rows, V]."""
    q, k, v = (x.transpose(1, 2).double() for x in (q[:, rows], k, v))
    q, k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (q, k, v))
    out = []
    for h in range(q.shape[1]):
        scores = q[:, h] @ k[:, h].transpose(1, 2) * q.shape[-1] ** -0.5
        later = torch.arange(k.shape[2], device=q.device)[None] > rows[:, None]
        scores.masked_fill_(later, -float("inf"))
        out.append(scores.softmax(-1) @ v[:, h])
    return torch.stack(out, 1)


def parts_of(torch, kind, x, rows):
    """The output of some rows in fp64, and the size its error is relative to."""
    q, k, v = x["q"], x["k"], x["v"]
    if kind == "softmax":
        o = reference(torch, q, k, v, rows)
        return o, o.square().mean().sqrt()
    if kind == "v1":
        v = v.repeat_interleave(2, 2)
        lam = x["lam"].double()[None, :, None, None]
    else:
        lam = x["lam"][:, rows].double().sigmoid().transpose(1, 2)[..., None]
    both = reference(torch, q, k, v, rows)
    first, second = both[:, 0::2], both[:, 1::2]
    size = first.square().mean().sqrt() + (lam * second).square().mean().sqrt()
    return first - lam * second, size


def make_peers(torch, kind, x):
    """Name: a call of torch that gives [B, T, H, V]."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import pad, scaled_dot_product_attention

    q, k, v = (x[name].transpose(1, 2) for name in ("q", "k", "v"))

    def attend(backend, *qkv, scale=None):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(*qkv, is_causal=True, scale=scale)

    def combine(both):
        first, second = both[:, 0::2], both[:, 1::2]
        if kind == "v1":
            return (first - x["lam"].to(first.dtype)[:, None, None] * second).transpose(1, 2)
        lam = x["lam"].sigmoid().to(first.dtype).transpose(1, 2)[..., None]
        return (first - lam * second).transpose(1, 2)

    def padded(backend):
        width = v.shape[-1]
        wide = [pad(y, (0, width - y.shape[-1])) for y in (q, k)]
        values = v.repeat_interleave(2, 1)
        return combine(attend(backend, *wide, values, scale=q.shape[-1] ** -0.5))

    def halves(backend):
        values = v.repeat_interleave(2, 1)
        parts = [attend(backend, q, k, y) for y in values.chunk(2, -1)]
        return combine(torch.cat(parts, -1))

    def grouped(backend):
        keys, values = (y.repeat_interleave(2, 1) for y in (k, v))
        return combine(attend(backend, q, keys, values))

    def plain(backend):
        return attend(backend, q, k, v).transpose(1, 2)

    ways = {"softmax": [plain], "v1": [padded, halves], "v2": [grouped]}[kind]
    backends = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    return {
        f"{name} {way.__name__}": lambda way=way, backend=backend: way(backend)
        for name, backend in backends.items()
        for way in ways
    }


def run_row(env, kind, H, D, V, B, T):
    torch = env.torch
    function = env.artifact[name_of(kind, H, D, V)]
    torch.manual_seed(0)
    x = {}
    for item in function.description["arguments"]:
        dims = dimensions(item["shape"], B, T)
        # Dimensions without a name of their own take these, in order.
        dims = [d if isinstance(d, int) else (B, T)[i] for i, d in enumerate(dims)]
        value = torch.randn(dims, device="cuda")
        x[item["name"]] = value.bfloat16() if item["dtype"] == "bf16" else value.abs() * 0.3
    out = function(*x.values())
    out = out if torch.is_tensor(out) else out[0]
    rows = torch.linspace(0, T - 1, ROWS_CHECKED, device="cuda").long()
    want, size = parts_of(torch, kind, x, rows)

    def error(o):
        got = o[:, rows].transpose(1, 2).double()
        return float((got - want).square().mean().sqrt() / size)

    row = {"kind": kind, "heads": H, "D": D, "V": V, "B": B, "T": T}
    row["plan"] = function.description["plan"]["name"]
    row["error"] = error(out)
    row["right"] = row["error"] <= LIMIT
    maps = 1 if kind == "softmax" else 2
    flops = B * H * maps * T * (T + 1) / 2 * 2 * (D + V)
    again = torch.empty_like(out)
    row["same_bits"] = True
    for _ in range(env.args.bits):
        function(*x.values(), out=[again])
        row["same_bits"] &= torch.equal(again.view(torch.int16), out.view(torch.int16))
    if not row["right"]:
        return row
    row["ms"] = env.time(lambda: function(*x.values(), out=[again]))
    row["tflops"] = flops / row["ms"] / 1e9
    row["peers"] = {}
    for name, call in make_peers(torch, kind, x).items():
        try:
            row["peers"][name] = {"error": error(call()), "ms": env.time(call)}
        except RuntimeError as problem:
            row["peers"][name] = {"refused": str(problem).splitlines()[0][:120]}
    return row


def print_row(row):
    label = f"{row['kind']:8} H{row['heads']} {row['D']}/{row['V']} {row['B']}x{row['T']}"
    if not row["right"]:
        print(f"{label} WRONG: {row['error']:.1e}", flush=True)
        return
    peers = "  ".join(
        f"{name} {p['ms']:.3f} ms x{p['ms'] / row['ms']:.2f} ({p['error']:.1e})"
        if "ms" in p
        else f"{name}: {p['refused'][:40]}"
        for name, p in row["peers"].items()
    )
    print(
        f"{label:26} {row['ms']:8.3f} ms {row['tflops']:4.0f} TFLOP/s ({row['error']:.1e}, "
        f"bits {'same' if row['same_bits'] else 'DIFFER'})  {peers}",
        flush=True,
    )


def run_all(args):
    import types

    import torch
    from linattn import runtime

    torch.zeros(1, device="cuda")
    env = types.SimpleNamespace(args=args, torch=torch, artifact=runtime.load(str(args.folder)))

    env.time = make_timer(torch, rep=80)
    rows = []
    for row in ROWS:
        if name_of(*row[:4]) in env.artifact:
            rows.append(run_row(env, *row))
            print_row(rows[-1])
    report = {"device": runtime.device(), "bits": args.bits, "rows": rows}
    write_report(args.json, report)
    return 0 if all(r["right"] and r["same_bits"] for r in rows) else 1


def add_compile(parser):
    parser.add_argument("--plan", help="of linattn-compile")


def add_run(parser):
    parser.add_argument("--bits", type=int, default=10, help="runs with the same bits")


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-att", compile_all, run_all, add_compile, add_run))
