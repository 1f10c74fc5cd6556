#!/usr/bin/env python3
"""Times the kernels of the whole family on an NVIDIA GPU, beside FLA's.

    benchmarks/gpu_operators.py compile -o gpu-ops      here: no GPU needed
    benchmarks/gpu_operators.py run gpu-ops --json F    there: torch, a driver,
                                                        liblinattn_runtime.so, FLA

Each operator is an example with K = V = 128 and the heads of the shape, compiled for
its sizes (they choose the plan, docs/Plans.md), and must agree with the fp64 token loop of utils/gpu-check on 500 tokens of the same run
before it is timed. `agreement` is the relative RMS between its output and FLA's
on the timed input. Times are medians of triton's do_bench, which empties the L2
before each call. `floor_ms` is the time to move every tensor once at the
bandwidth of a device copy.
"""

import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
import time
from types import SimpleNamespace

from gpu_common import COPY_BANDWIDTH, ROOT, dimensions, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

# Operator, heads, B, T.
ROWS = [
    ("kda", 64, 1, 8192),
    ("kda", 64, 8, 1024),
    ("kda", 16, 1, 8192),
    ("kda", 16, 8, 1024),
    ("gla", 16, 4, 8192),
    ("deltanet", 16, 4, 8192),
    ("simple_gla", 16, 4, 8192),
    ("linear_attention", 16, 4, 8192),
    ("rwkv7", 16, 4, 8192),
    ("gated_deltanet", 16, 4, 8192),
    ("mamba2", 16, 4, 8192),
    ("deltaproduct", 16, 4, 4096),
    ("gated_deltanet_channel_rate", 16, 4, 8192),
]


# ------------------------------------------------------------------------ compile
def compile_all(args):
    from linattn.resize import resize

    args.output.mkdir(parents=True, exist_ok=True)
    cases = {}
    for operator, heads, B, T in ROWS:
        if args.only and operator not in args.only:
            continue
        name = name_of(operator, heads, B, T)
        text = (ROOT / "examples" / f"{operator}.mlir").read_text()
        text = resize(text, K=128, V=128, heads=heads)
        text = re.sub(r"scale 0\.\d+", f"scale {128**-0.5}", text)
        cases[name] = sample_names(text)
        source = args.output / f"{name}.mlir"
        source.write_text(text.replace(f"@{operator}(", f"@{name}("))
        start = time.time()
        command = [args.tool, source, f"--target={args.target}", "-o", args.output]
        command += [f"--size=B={B}", f"--size=T={T}"]
        subprocess.run([str(c) for c in command], check=True)
        print(f"{name}: {time.time() - start:.2f} s")
        source.unlink()
    (args.output / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    return 0


def name_of(operator, heads, B, T):
    return f"{operator}_{heads}_{B}x{T}"


def sample_names(text):
    pattern = r'linattn\.name = "(\w+)"(?:, linattn\.sample = "(\w+)")?'
    return dict(re.findall(pattern, text))


# ---------------------------------------------------------------------------- run
def load_checker():
    """utils/gpu-check as a module: inputs and the fp64 token loop."""
    path = str(ROOT / "utils" / "gpu-check")
    loader = importlib.machinery.SourceFileLoader("gpu_check", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("gpu_check", loader)
    )
    loader.exec_module(module)
    return module


def make_environment(args, rep):
    """The checker, the kernels of the folder and a timer."""
    import torch
    from linattn import runtime

    checker = load_checker()
    checker.torch = torch
    checker.DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
                      "i32": torch.int32, "i64": torch.int64}  # fmt: skip
    checker.OTHER = torch.cuda.Stream()
    torch.zeros(1, device="cuda")
    env = SimpleNamespace(args=args, checker=checker, artifact=runtime.load(str(args.folder)))
    env.time, env.device = make_timer(torch, rep=rep), runtime.device()
    return env


def fla_calls():
    """Operator: a call of FLA with our tensors; missing ones are left out."""
    calls = {}

    def add(operator, module, name, call):
        try:
            function = getattr(__import__(f"fla.ops.{module}", fromlist=[name]), name)
        except Exception as error:  # broken installations raise anything
            print(f"no {name} in this run: {error}")
            return
        calls[operator] = lambda x: call(function, x)

    def qkv(x):
        return x["q"], x["k"], x["v"]

    end = {"output_final_state": True}
    add("kda", "kda", "chunk_kda",
        lambda f, x: f(*qkv(x), x["g"], x["beta"], initial_state=x["s0"], **end))
    add("gla", "gla", "chunk_gla",
        lambda f, x: f(*qkv(x), x["g"], initial_state=x["s0"], **end))
    add("deltanet", "delta_rule", "chunk_delta_rule",
        lambda f, x: f(*qkv(x), x["beta"], initial_state=x["s0"], **end))
    add("simple_gla", "simple_gla", "chunk_simple_gla",
        lambda f, x: f(*qkv(x), x["g"], initial_state=x["s0"], **end))
    add("linear_attention", "linear_attn", "chunk_linear_attn",
        lambda f, x: f(*qkv(x), initial_state=x["s0"], normalize=False, **end))
    add("gated_deltanet", "gated_delta_rule", "chunk_gated_delta_rule",
        lambda f, x: f(*qkv(x), x["g"], x["beta"], initial_state=x["s0"], **end))
    add("rwkv7", "rwkv7", "chunk_rwkv7",
        lambda f, x: f(x["q"], x["w"], x["k"], x["v"], -x["kappa"],
                       (x["kappa"].float() * x["eta"]).bfloat16(), scale=1.0,
                       initial_state=x["s0"], **end))
    # Both with what FLA asks of its caller made before, untimed.
    add("mamba2", "simple_gla", "chunk_simple_gla",
        lambda f, x: f(x["C"], x["B"], x["rated"], x["g"], scale=1.0,
                       initial_state=x["s0"], **end))
    add("deltaproduct", "gated_delta_product", "chunk_gated_delta_product",
        lambda f, x: f(x["q"], x["keys"], x["values"], x["g"], x["rates"], 2,
                       initial_state=x["s0"], **end))
    return calls


def prepare_for_fla(torch, operator, x):
    """Tensors in FLA's terms, beside ours."""
    x = dict(x)
    if operator == "mamba2":  # rate x the input, log gate -exp(A) rate; a head each
        rate = torch.nn.functional.softplus(x["dt"] + x["dt_bias"])
        x["g"] = -x["A_log"].exp() * rate
        x["rated"] = (rate[..., None] * x["x"].float()).to(x["x"].dtype)
        for name in "BC":
            heads = x["x"].shape[2] // x[name].shape[2]
            x[name] = x[name].repeat_interleave(heads, dim=2).contiguous()
    if operator == "deltaproduct":  # updates of a token one after another
        for name, ours in (("keys", "k"), ("values", "v"), ("rates", "beta")):
            x[name] = x[ours].transpose(2, 3).flatten(1, 2).contiguous()
    return x


def check(checker, artifact, operator, name, samples, gates):
    args = SimpleNamespace(seed=0, tokens=500, quick=False, bits=0)
    case = {"name": operator, "samples": samples}
    return checker.run_case({operator: artifact[name]}, case, gates, args)


def draw_inputs(checker, function, samples, B, T):
    torch, g = checker.torch, checker.torch.Generator("cuda").manual_seed(1)
    tensors = {}
    order = function.description["arguments"]
    for item in sorted(order, key=lambda a: a["role"] != "parameter"):
        dims = dimensions(item["shape"], B, T)
        value = checker.draw(samples[item["name"]], tuple(dims), "usual", g, tensors)
        tensors[item["name"]] = value.to(checker.DTYPES[item["dtype"]])
    return {item["name"]: tensors[item["name"]] for item in order}


def run_row(env, operator, heads, B, T):
    checker, torch = env.checker, env.checker.torch
    name = name_of(operator, heads, B, T)
    function, samples = env.artifact[name], env.cases[name]
    row = {"operator": operator, "heads": heads, "B": B, "T": T}
    row["plan"] = function.description["plan"]
    if name not in env.checks:
        env.checks[name] = [
            check(checker, env.artifact, operator, name, samples, gates)
            for gates in env.args.gates
        ]
    checks = env.checks[name]
    row["right"] = all(c["ok"] for c in checks)
    row["errors"] = {c["gates"]: [e["rms"] for e in c["errors"]] for c in checks}
    if not row["right"]:
        return row
    tensors = draw_inputs(checker, function, samples, B, T)
    out = function(**tensors)
    out = list(out) if isinstance(out, (list, tuple)) else [out]
    row["ms"] = env.time(lambda: function(**tensors, out=out))
    moved = sum(x.numel() * x.element_size() for x in [*tensors.values(), *out])
    row["floor_ms"] = moved / COPY_BANDWIDTH * 1e3
    if operator in env.fla:
        given = prepare_for_fla(torch, operator, tensors)
        theirs = env.fla[operator](given)[0]
        mine = out[0].double()
        if operator not in ("rwkv7", "mamba2"):  # theirs have no bonus, no skip
            row["agreement"] = float(
                ((theirs.double() - mine).square().mean() / mine.square().mean()).sqrt()
            )
        row["fla_ms"] = env.time(lambda: env.fla[operator](given))
        row["fla_ratio"] = row["fla_ms"] / row["ms"]
    torch.cuda.empty_cache()
    return row


def run_all(args):
    env = make_environment(args, rep=60)
    env.cases = json.loads((args.folder / "cases.json").read_text())
    env.fla, env.checks = fla_calls(), {}
    rows = []
    for operator, heads, B, T in ROWS:
        if name_of(operator, heads, B, T) not in env.cases:
            continue
        if args.only and operator not in args.only:
            continue
        row = run_row(env, operator, heads, B, T)
        rows.append(row)
        print_row(row)
        # After each: FLA's tuning may outlast a lease.
        report = {"device": env.device, "gates": args.gates, "rows": rows}
        write_report(args.json, report)
    return 0 if all(row["right"] for row in rows) else 1


def print_row(row):
    label = f"{row['operator']:17} H{row['heads']:<3} {row['B']}x{row['T']}"
    worst = max(max(errors) for errors in row["errors"].values())
    if not row["right"]:
        print(f"{label} WRONG: {row['errors']}", flush=True)
        return
    fla = f"{row['fla_ms']:8.3f} x{row['fla_ratio']:.2f}" if "fla_ms" in row else "       -"
    print(
        f"{label:32} {row['ms']:8.3f} ms  FLA {fla}  "
        f"floor {100 * row['floor_ms'] / row['ms']:.0f}%  worst {worst:.1e}  "
        f"beside FLA {row.get('agreement', float('nan')):.1e}",
        flush=True,
    )


def add_compile(parser):
    parser.add_argument("--only", nargs="*", help="these operators")


def add_run(parser):
    parser.add_argument("--only", nargs="*", help="these operators")
    parser.add_argument("--gates", nargs="*", default=["usual", "strong", "mixed"])


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-ops", compile_all, run_all, add_compile, add_run))
