#!/usr/bin/env python3
"""How good the plans are that the cost model chooses, on shapes of no other table.

    benchmarks/gpu_plans.py compile -o gpu-bench/plans     here: no GPU needed
    benchmarks/gpu_plans.py run gpu-bench/plans --json F   there: torch, a driver,
                                                           liblinattn_runtime.so

`compile` makes, for each shape, a kernel by every candidate plan of docs/Plans.md
and notes which of them the compiler chooses when it is told the sizes. `run`
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
from concurrent.futures import ThreadPoolExecutor

from gpu_common import ROOT, parse, write_report
from gpu_operators import check, draw_inputs, make_environment, sample_names

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
SEGMENTS = [1, 4, 8, 16]
# What two plans may differ by: each is within 5e-3 of the equation.
LIMIT = 1e-2
WITHIN = 1.10


# ------------------------------------------------------------------------ compile
def candidates(heads, B, T):
    """Segments of 512 tokens and more, where blocks of heads do not fill a GPU."""
    for segments in SEGMENTS:
        if segments > 1 and (heads * B * segments > 132 * 4 or T // segments < 512):
            continue
        # Narrow slices and many segments fill a GPU both.
        for base in BASES if segments == 1 else BASES[:2] if segments == 8 else BASES[:1]:
            yield " ".join(([f"segments={segments}"] if segments > 1 else []) + base.split())


def run_tool(args, name, operator, text, extra):
    source = args.output / f"{name}.mlir"
    source.write_text(text.replace(f"@{operator}(", f"@{name}("))
    command = [args.tool, source, f"--target={args.target}", "--lowering=chunkwise"]
    command += ["-o", args.output, *extra]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    source.unlink()
    return done


def compile_one(args, name, operator, text, plan):
    files = [args.output / f"{name}.{ending}" for ending in ("json", "cubin", "ptx", "h")]
    if not (args.keep and all(file.exists() for file in files[:2])):
        done = run_tool(args, name, operator, text, [f"--plan={plan}"] if plan else [])
        for file in files[2:]:
            file.unlink(missing_ok=True)
        if done.returncode != 0:
            print(f"{name}: left out: {done.stderr.strip().splitlines()[0]}", flush=True)
            return None
    return json.loads(files[0].read_text())


def choose(args, operator, text, B, T):
    """The plan chosen, and what each would take by the cost model."""
    said = run_tool(
        args, "chosen", operator, text, ["--print-plans", f"--size=B={B},T={T}"]
    ).stderr
    plan = r"(?:'(.*)'|the default plan)"
    estimates = {plan: float(time) for time, plan in re.findall(rf"([\d.]+)  {plan}", said)}
    return re.search(rf"chosen {plan}:", said)[1] or "", estimates


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
        case["chosen"], case["estimates"] = choose(args, operator, text, B, T)
        plans = dict.fromkeys([*candidates(heads, B, T), case["chosen"]])
        names = {
            plan: f"s{number}_" + (re.sub(r"\W+", "_", plan) or "default") for plan in plans
        }
        with ThreadPoolExecutor(2) as pool:
            made = pool.map(
                lambda plan: compile_one(args, names[plan], operator, text, plan), plans
            )
        for plan, description in zip(plans, made):
            if description:
                case["plans"][names[plan]] = {
                    "plan": plan,
                    "spills": description["resources"]["spill_store_bytes"],
                    "registers": description["resources"]["registers"],
                }
        cases.append(case)
        print(
            f"{operator} H{heads} {B}x{T}: {len(case['plans'])} plans in "
            f"{time.time() - start:.0f} s, chosen '{case['chosen']}'",
            flush=True,
        )
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
        entry["spills"] = about["spills"]
        entry["estimate_ms"] = case["estimates"].get(about["plan"], 0) / 1e3
        row["right"] &= entry["right"]
        row["plans"][about["plan"] or "default"] = entry
        del out, again
        torch.cuda.empty_cache()
    best = min(row["plans"], key=lambda plan: row["plans"][plan]["ms"])
    chosen = case["chosen"] or "default"
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
            f"    {entry['ms']:8.3f} ms (model {entry['estimate_ms']:.3f})  {plan:40} differs {entry['differs']:.1e}"
            f"  error {worst:.1e}  spills {entry['spills']}"
            + ("" if entry["right"] else "  WRONG"),
            flush=True,
        )


def run_all(args):
    env = make_environment(args, rep=args.rep)
    torch = env.checker.torch
    rows = []
    for case in json.loads((args.folder / "cases.json").read_text()):
        if args.only and case["operator"] not in args.only:
            continue
        rows.append(run_shape(env, case))
        print_row(rows[-1])
        torch.cuda.empty_cache()
    within = sum(row["ratio"] <= WITHIN for row in rows)
    print(f"{within} of {len(rows)} shapes within {100 * (WITHIN - 1):.0f} % of the best plan")
    report = {"device": env.device, "within": within, "rows": rows}
    write_report(args.json, report)
    return 0 if within == len(rows) and all(row["right"] for row in rows) else 1


def add_compile(parser):
    parser.add_argument("--only", nargs="*", help="these operators")
    parser.add_argument("--keep", action="store_true", help="keep kernels that are there")


def add_run(parser):
    parser.add_argument("--only", nargs="*", help="these operators")
    parser.add_argument("--rep", type=int, default=40, help="milliseconds of timing")


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-bench/plans", compile_all, run_all, add_compile, add_run))
