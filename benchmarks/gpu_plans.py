#!/usr/bin/env python3
"""How good the plans are that the cost model chooses, on shapes of no other table.

    benchmarks/gpu_plans.py compile -o gpu-bench/plans     here: no GPU needed
    benchmarks/gpu_plans.py run gpu-bench/plans --json F   there: torch, a driver,
                                                           liblinattn_runtime.so

`compile` makes, for each shape, a kernel by every candidate plan of docs/Plans.md
and notes which of them linattn-compile chooses when it is told the sizes. `run`
holds every plan of a shape against the first one (relative RMS of outputs and
states), those with segments also against the fp64 token loop of utils/gpu-check,
and times all of them by triton's do_bench. A shape passes if the plan chosen is
within 10 % of the best.
"""

import json
import re
import subprocess
import sys
import time
from types import SimpleNamespace

from gpu_common import ROOT, make_timer, parse, write_report
from gpu_operators import check, draw_inputs, load_checker, sample_names

sys.path.insert(0, str(ROOT / "python"))

# Operator, heads, K = V, B, T.
SHAPES = [
    ("gated_deltanet", 8, 128, 1, 16384),
    ("gated_deltanet", 24, 128, 2, 4096),
    ("gated_deltanet", 4, 64, 1, 49152),
    ("kda", 4, 128, 1, 32768),
    ("kda", 32, 128, 2, 4096),
    ("deltanet", 12, 128, 1, 8192),
    ("gla", 4, 128, 1, 65536),
    ("mamba2", 24, 128, 1, 12288),
    ("simple_gla", 48, 128, 2, 4096),
    ("linear_attention", 8, 128, 1, 32768),
]
# Which columns a block has, and how the registers are shared.
BASES = ["", "column-parts=2 slice=32", "column-parts=1 slice=32"]
SEGMENTS = [1, 2, 4, 8, 16]
# What two plans may differ by: each is within 5e-3 of the equation.
LIMIT = 1e-2
WITHIN = 1.10


# ------------------------------------------------------------------------ compile
def candidates(heads, B, T):
    """Segments of 1024 tokens and more, where blocks of heads do not fill a GPU."""
    for segments in SEGMENTS:
        if segments > 1 and (heads * B * segments > 132 * 4 or T // segments < 1024):
            continue
        for base in BASES:
            # The best base of whole sequences is that of segments, but for ties.
            if segments in (2, 16) and base == BASES[2]:
                continue
            yield " ".join(([f"segments={segments}"] if segments > 1 else []) + base.split())


def compile_one(args, name, operator, text, extra):
    source = args.output / f"{name}.mlir"
    source.write_text(text.replace(f"@{operator}(", f"@{name}("))
    command = [args.tool, source, f"--target={args.target}", "--lowering=chunkwise"]
    command += ["-o", args.output, *extra]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    source.unlink()
    for ending in ("ptx", "h"):
        (args.output / f"{name}.{ending}").unlink(missing_ok=True)
    if done.returncode != 0:
        return None, done.stderr
    description = json.loads((args.output / f"{name}.json").read_text())
    return description, done.stderr


def compile_all(args):
    from linattn.resize import resize

    args.output.mkdir(parents=True, exist_ok=True)
    cases = []
    for number, (operator, heads, width, B, T) in enumerate(SHAPES):
        if args.only and operator not in args.only:
            continue
        text = (ROOT / "examples" / f"{operator}.mlir").read_text()
        text = resize(text, K=width, V=width, heads=heads)
        text = re.sub(r"scale 0\.\d+", f"scale {width**-0.5}", text)
        case = {"operator": operator, "heads": heads, "width": width, "B": B, "T": T}
        case |= {"samples": sample_names(text), "plans": {}, "chosen": None}
        start = time.time()
        chosen, error = compile_one(
            args, f"s{number}_chosen", operator, text, [f"--size=B={B},T={T}"]
        )
        if chosen is None:
            sys.exit(f"{operator}: {error}")
        seconds = time.time() - start
        for plan in candidates(heads, B, T):
            name = f"s{number}_" + (re.sub(r"\W+", "_", plan) or "default")
            made, error = compile_one(
                args, name, operator, text, [f"--plan={plan}"] if plan else []
            )
            if made is None:
                print(f"{name}: left out: {error.strip().splitlines()[0]}", flush=True)
                continue
            case["plans"][name] = {
                "plan": plan,
                "spills": made["resources"]["spill_store_bytes"],
                "registers": made["resources"]["registers"],
            }
            if made["plan"] == chosen["plan"]:
                case["chosen"] = name
        if case["chosen"]:
            for ending in ("json", "cubin"):
                (args.output / f"s{number}_chosen.{ending}").unlink()
        else:
            case["chosen"] = f"s{number}_chosen"
            case["plans"][case["chosen"]] = {"plan": "chosen", **chosen["plan"]}
        print(
            f"{operator} H{heads} {B}x{T}: {len(case['plans'])} plans, chosen "
            f"'{case['plans'][case['chosen']]['plan']}' in {seconds:.2f} s",
            flush=True,
        )
        cases.append(case)
    (args.output / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    return 0


# ---------------------------------------------------------------------------- run
def outputs_of(function, tensors):
    out = function(**tensors)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def difference(torch, mine, reference):
    def one(x, y):
        scale = y.double().square().mean().sqrt()
        error = (x.double() - y.double()).square().mean().sqrt()
        return float(error / scale) if scale > 0 else float(error)

    return max(one(x, y) for x, y in zip(mine, reference))


def run_shape(env, case):
    torch = env.checker.torch
    first = next(iter(case["plans"]))
    tensors = draw_inputs(
        env.checker, env.artifact[first], case["samples"], case["B"], case["T"]
    )
    reference = outputs_of(env.artifact[first], tensors)
    row = {key: case[key] for key in ("operator", "heads", "width", "B", "T")}
    row |= {"plans": {}, "right": True}
    checked = set()
    for name, about in case["plans"].items():
        function = env.artifact[name]
        out = outputs_of(function, tensors)
        again = outputs_of(function, tensors)
        entry = {"name": name, "differs": difference(torch, out, reference)}
        entry["same_bits"] = all(torch.equal(x, y) for x, y in zip(out, again))
        entry["right"] = entry["differs"] <= LIMIT and entry["same_bits"]
        # Against the equation: the first, and the first with segments.
        kind = "segments" in about["plan"]
        if kind not in checked:
            checked.add(kind)
            result = check(
                env.checker, env.artifact, case["operator"], name, case["samples"], "mixed"
            )
            entry["errors"] = [e["rms"] for e in result["errors"]]
            entry["right"] &= result["ok"]
        entry["ms"] = env.time(lambda: function(**tensors, out=out))
        entry["spills"] = about.get("spills", 0)
        row["right"] &= entry["right"]
        row["plans"][about["plan"] or "default"] = entry
        del out, again
        torch.cuda.empty_cache()
    best = min(row["plans"], key=lambda plan: row["plans"][plan]["ms"])
    chosen = case["plans"][case["chosen"]]["plan"] or "default"
    row |= {"best": best, "chosen": chosen}
    row["ratio"] = row["plans"][chosen]["ms"] / row["plans"][best]["ms"]
    return row


def print_row(row):
    label = f"{row['operator']:16} H{row['heads']:<3} D{row['width']:<3} {row['B']}x{row['T']}"
    print(
        f"{label:36} chosen '{row['chosen']}' {row['plans'][row['chosen']]['ms']:.3f} ms, best "
        f"'{row['best']}' {row['plans'][row['best']]['ms']:.3f} ms: x{row['ratio']:.2f}"
        + ("" if row["right"] else "  WRONG"),
        flush=True,
    )
    for plan, entry in row["plans"].items():
        worst = max(entry.get("errors", [0]))
        print(
            f"    {entry['ms']:8.3f} ms  {plan:40} differs {entry['differs']:.1e}"
            f"  error {worst:.1e}  spills {entry['spills']}"
            + ("" if entry["right"] else "  WRONG"),
            flush=True,
        )


def run_all(args):
    from linattn import runtime

    checker = load_checker()
    import torch

    checker.torch = torch
    checker.DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
                      "i32": torch.int32, "i64": torch.int64}  # fmt: skip
    checker.OTHER = torch.cuda.Stream()
    torch.zeros(1, device="cuda")
    env = SimpleNamespace(checker=checker, artifact=runtime.load(str(args.folder)))
    env.time = make_timer(torch, rep=args.rep)
    rows = []
    for case in json.loads((args.folder / "cases.json").read_text()):
        if args.only and case["operator"] not in args.only:
            continue
        rows.append(run_shape(env, case))
        print_row(rows[-1])
        torch.cuda.empty_cache()
    within = sum(row["ratio"] <= WITHIN for row in rows)
    print(f"{within} of {len(rows)} shapes within {100 * (WITHIN - 1):.0f} % of the best plan")
    report = {"device": runtime.device(), "within": within, "rows": rows}
    write_report(args.json, report)
    return 0 if within == len(rows) and all(row["right"] for row in rows) else 1


def add_compile(parser):
    parser.add_argument("--only", nargs="*", help="these operators")


def add_run(parser):
    parser.add_argument("--only", nargs="*", help="these operators")
    parser.add_argument("--rep", type=int, default=40, help="milliseconds of timing")


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-bench/plans", compile_all, run_all, add_compile, add_run))
