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
(V1: or four calls' worth of heads of half the values each), then the difference;
and flex_attention under torch.compile, of differential attention with both maps in
one call and the difference compiled with it. What torch refuses stands as such.
Beside SDPA our error may be 1.2 times its own: a larger one fails the run.
Times are medians of triton's do_bench, which empties the L2 before each call.
Multiply-adds count as two, pairs that causality masks not at all.

Decoding: few queries at the end of a cache of keys and values, all outputs against
fp64; bytes of the cache per second, beside what a copy on the device moves. Several
plans can be compiled: --decode-plan "" --decode-plan "query-tile=16 .. split-keys=512".
"""

import subprocess
import sys
import time

from gpu_common import COPY_BANDWIDTH, ROOT, dimensions, make_timer, parse, write_report

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
# Query heads, heads of the cache, width, B, S, T; a batch of uneven caches is packed:
# S is the longest one, the shortest has 1/B of it.
DECODE_ROWS = [
    (32, 8, 128, 32, 8192, 1, "even"),
    (32, 8, 128, 32, 8192, 1, "uneven"),
    (32, 8, 128, 32, 8192, 4, "even"),
    (32, 8, 128, 1, 65536, 1, "even"),
    (32, 32, 128, 8, 8192, 1, "even"),
    (32, 8, 64, 32, 8192, 1, "even"),
]
# What linattn-compile chooses for few queries, for types that do not say how many.
DECODE_PLAN = "query-tile=16 key-tile=32 stages=3 split-keys=1024"
LIMIT = 3e-3  # relative RMS of bf16 against fp64; of V1, V2: of both parts
PEER_FACTOR = 1.2  # our error, of the least one of SDPA's backends
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


def decode_text(H, kv, D, T, lengths, name):
    packed = lengths == "uneven"
    q = f"tensor<?x{H}x{D}xbf16>" if packed else f"tensor<?x{T}x{H}x{D}xbf16>"
    k = f"tensor<{'?x' if packed else '?x?x'}{kv}x{D}xbf16>"
    types = {"q": q, "k": k, "v": k}
    call = "linattn.softmax_attention %q, %k, %v causal"
    operands = ", ".join(types.values())
    if packed:
        types["cu"] = types["ck"] = "tensor<?xi32>"
        call += " seqlens(%cu : tensor<?xi32>) kv_seqlens(%ck : tensor<?xi32>)"
    arguments = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in types.items())
    return f"""func.func @{name}({arguments}) -> {q} {{
  %o = {call} : ({operands}) -> ({q})
  return %o : {q}
}}
"""


def decode_name(H, kv, D, T, lengths, plan):
    """`plan` is a number: names are what the artifact is searched for."""
    return f"decode_{lengths}_h{H}_kv{kv}_d{D}_t{T}_plan{plan}"


def compile_one(args, name, text, plan):
    source = args.output / f"{name}.mlir"
    source.write_text(text)
    start = time.time()
    command = [args.tool, source, f"--target={args.target}", "-o", args.output]
    if plan:
        command.append(f"--plan={plan}")
    subprocess.run([str(c) for c in command], check=True)
    print(f"{name}: {time.time() - start:.2f} s")
    source.unlink()


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for row in dict.fromkeys(row[:4] for row in ROWS):
        name = name_of(*row)
        compile_one(args, name, text_of(*row, name), args.plan)
    for row in dict.fromkeys((*row[:3], *row[5:]) for row in DECODE_ROWS):
        chosen = DECODE_PLAN if "uneven" in row else ""
        for number, plan in enumerate(args.decode_plan or [""]):
            name = decode_name(*row, number)
            compile_one(args, name, decode_text(*row, name), plan or chosen)
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
    peers = {
        f"{name} {way.__name__}": lambda way=way, backend=backend: way(backend)
        for name, backend in backends.items()
        for way in ways
    }
    return peers | {"flex": make_flex(torch, kind, q, k, v, combine)}


def make_flex(torch, kind, q, k, v, combine):
    """flex_attention, compiled at its first call with what combines the maps."""
    compiled = []

    def call():
        if not compiled:
            from torch.nn.attention.flex_attention import create_block_mask, flex_attention

            T = q.shape[2]
            mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, T, T, device="cuda")
            # Of V1 a head of values serves two maps with keys of their own; of V2
            # a head of keys and values serves both maps.
            grouped = kind == "v2"

            def attend(q, k, v):
                values = v.repeat_interleave(2, 1) if kind == "v1" else v
                out = flex_attention(q, k, values, block_mask=mask, enable_gqa=grouped)
                return out.transpose(1, 2) if kind == "softmax" else combine(out)

            compiled.append(torch.compile(attend, dynamic=False))
        return compiled[0](q, k, v)

    return call


def measure_peer(env, call, error):
    """Time and error of a call of torch, or why it refuses: compilers raise
    exceptions of many kinds."""
    try:
        return {"error": error(call()), "ms": env.time(call)}
    except Exception as problem:
        lines = str(problem).splitlines() or [""]
        return {"refused": f"{type(problem).__name__}: {lines[0][:120]}"}


def is_exact(row):
    """Whether our error is at most PEER_FACTOR times that of SDPA, where it ran."""
    errors = [p["error"] for name, p in row["peers"].items() if name != "flex" and "ms" in p]
    return not errors or row["error"] <= PEER_FACTOR * min(errors)


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
    row["exact"] = True  # unless a peer shows otherwise
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
        row["peers"][name] = measure_peer(env, call, error)
    row["exact"] = is_exact(row)
    return row


def decode_reference(torch, q, k, v):
    """One sequence: q [T, H, D] at the end of k, v [S, kv, D] -> [T, H, D] in fp64."""
    T, S = q.shape[0], k.shape[0]
    q, k, v = (x.transpose(0, 1).double() for x in (q, k, v))
    q = q.unflatten(0, (k.shape[0], -1))
    scores = q @ k[:, None].transpose(2, 3) * q.shape[-1] ** -0.5
    later = torch.arange(S, device=q.device) > torch.arange(S - T, S, device=q.device)[:, None]
    weights = scores.masked_fill(later, -float("inf")).softmax(-1)
    return (weights @ v[:, None]).flatten(0, 1).transpose(0, 1)


def decode_peers(torch, q, k, v):
    """Name: a call of torch that gives [B, 1, H, D]."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (x.transpose(1, 2) for x in (q, k, v))

    def attend(backend):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2)

    backends = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    return {name: lambda b=backend: attend(b) for name, backend in backends.items()}


def run_decode_row(env, H, kv, D, B, S, T, lengths, number):
    torch = env.torch
    function = env.artifact[decode_name(H, kv, D, T, lengths, number)]
    torch.manual_seed(0)
    sizes = [S] * B if lengths == "even" else [S * (n + 1) // B for n in range(B)]
    cu = torch.arange(0, B + 1, dtype=torch.int32, device="cuda") * T
    ck = torch.tensor([0, *sizes], device="cuda").cumsum(0).int()
    q, k, v = (
        torch.randn(count, heads, D, device="cuda", dtype=torch.bfloat16)
        for count, heads in ((B * T, H), (sum(sizes), kv), (sum(sizes), kv))
    )
    ends = [(n * T, int(ck[n]), int(ck[n + 1])) for n in range(B)]
    want = torch.cat([decode_reference(torch, q[t : t + T], k[a:b], v[a:b]) for t, a, b in ends])
    inputs = [q, k, v, cu, ck]
    if lengths == "even":
        inputs = [q.unflatten(0, (B, T)), k.unflatten(0, (B, S)), v.unflatten(0, (B, S))]

    def error(o):
        got = o.reshape(want.shape).double()
        return float((got - want).square().mean().sqrt() / want.square().mean().sqrt())

    out = function(*inputs)
    out = out if torch.is_tensor(out) else out[0]
    row = {"kind": "decode", "heads": H, "kv_heads": kv, "D": D, "B": B, "S": S, "T": T}
    row |= {"lengths": lengths, "plan": function.description["plan"], "error": error(out)}
    row["right"] = row["error"] <= LIMIT
    row["exact"] = True  # unless a peer shows otherwise
    again = torch.empty_like(out)
    row["same_bits"] = True
    for _ in range(env.args.bits):
        function(*inputs, out=[again])
        row["same_bits"] &= torch.equal(again.view(torch.int16), out.view(torch.int16))
    if not row["right"]:
        return row
    row["ms"] = env.time(lambda: function(*inputs, out=[again]))
    row["bytes_per_second"] = 2 * sum(sizes) * kv * D * 2 / row["ms"] * 1e3
    row["of_copy"] = row["bytes_per_second"] / COPY_BANDWIDTH
    row["peers"] = {}
    if lengths == "even" and T == 1 and number == 0:
        for name, call in decode_peers(torch, *inputs).items():
            row["peers"][name] = measure_peer(env, call, error)
    row["exact"] = is_exact(row)
    return row


def remark(row):
    return "" if row["exact"] else f"  WRONG: more than {PEER_FACTOR} times SDPA's error"


def print_decode_row(row):
    label = f"decode {row['lengths']} H{row['heads']}/{row['kv_heads']} {row['D']}"
    label += f" {row['B']}x{row['S']} T{row['T']}"
    if not row["right"]:
        print(f"{label} WRONG: {row['error']:.1e}", flush=True)
        return
    peers = "  ".join(
        f"{name} {p['ms']:.3f} ms x{p['ms'] / row['ms']:.2f}"
        if "ms" in p
        else f"{name}: {p['refused'][:40]}"
        for name, p in row["peers"].items()
    )
    plan = " ".join(f"{key}={row['plan'][key]}" for key in ("key_tile", "split_keys"))
    print(
        f"{label:40} {row['ms']:8.4f} ms {row['bytes_per_second'] / 1e12:.2f} TB/s "
        f"{row['of_copy']:.0%} of a copy ({row['error']:.1e}, "
        f"bits {'same' if row['same_bits'] else 'DIFFER'}; {plan})  {peers}{remark(row)}",
        flush=True,
    )


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
        f"bits {'same' if row['same_bits'] else 'DIFFER'})  {peers}{remark(row)}",
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
    for row in DECODE_ROWS:
        H, kv, D, _, _, T, lengths = row
        number = 0
        while decode_name(H, kv, D, T, lengths, number) in env.artifact:
            rows.append(run_decode_row(env, *row, number))
            print_decode_row(rows[-1])
            number += 1
    report = {"device": runtime.device(), "bits": args.bits, "rows": rows}
    write_report(args.json, report)
    return 0 if all(r["right"] and r["same_bits"] and r["exact"] for r in rows) else 1


def add_compile(parser):
    parser.add_argument("--plan", help="of linattn-compile")
    parser.add_argument("--decode-plan", action="append", help="the same; one or several")


def add_run(parser):
    parser.add_argument("--bits", type=int, default=10, help="runs with the same bits")


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-att", compile_all, run_all, add_compile, add_run))
