#!/usr/bin/env python3
"""Times compiled kernels on an NVIDIA GPU beside their peers.

    benchmarks/gpu.py compile -o gpu-bench [--target sm_90a] [--lowering serial]
    benchmarks/gpu.py run gpu-bench --json F      there: needs torch, a driver,
                                                  liblinattn_runtime.so
    benchmarks/gpu.py plot F -o roofline.png

`compile` needs no GPU, `run` no compiler: carry the folder and the library
(LINATTN_RUNTIME names it). A time is reported only after the outputs of the same
run agree with the fp64 chunk form below. Times are medians of triton's do_bench,
which empties the L2 before each call. FLA is timed in the same run if it can be
imported; the other peers' figures come from benchmarks/peers.json, as recorded.

`cycles` are SM cycles per chunk of 64 tokens and value head, times the SMs that
sequences and heads can fill. `floor` is the time to move every tensor once at the
bandwidth of a device copy; `of_floor` is its share of the time.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

COPY_BANDWIDTH = 4.3e12  # bytes per second, read and written, of an H200
MATRIX_RATE = 790e12  # bf16 multiply-adds count as two, dense, measured
CHUNK = 64
LIMIT = 5e-3  # relative RMS of bf16 against fp64

SEQUENCES = {
    "1x32768": [32768],
    "4x8192": [8192] * 4,
    "1x8192": [8192],
    "8x1024": [1024] * 8,
    "1x2048": [2048],
    "28672+4096": [28672, 4096],
}
HEADS = ["16/64", "16/32", "2/8"]


# ------------------------------------------------------------------------ compile
def gdn_text(key_heads, heads):
    """The packed example with other numbers of heads."""
    text = (ROOT / "examples" / "gated_deltanet_packed.mlir").read_text()
    # Both at once: the new number of one may be the old number of the other.
    new = {"8": key_heads, "16": heads}
    text = re.sub(r"tensor<\?x(8|16)x128x", lambda m: f"tensor<?x{new[m[1]]}x128x", text)
    text = text.replace("tensor<?x16xf32>", f"tensor<?x{heads}xf32>")
    return text.replace("@gated_deltanet_packed", f"@gdn_{key_heads}_{heads}")


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    texts = {}
    for heads in args.heads:
        a, b = map(int, heads.split("/"))
        texts[f"gdn_{a}_{b}"] = gdn_text(a, b)
    seconds = {}
    for name, text in texts.items():
        source = args.output / f"{name}.mlir"
        source.write_text(text)
        command = [args.tool, source, f"--target={args.target}", "-o", args.output]
        if args.lowering:
            command.append(f"--lowering={args.lowering}")
        if args.plan:
            command.append(f"--plan={args.plan}")
        start = time.time()
        subprocess.run([str(c) for c in command], check=True)
        seconds[name] = round(time.time() - start, 2)
        source.unlink()
    print("compiled, seconds each:", seconds)
    return 0


# --------------------------------------------------------------- the fp64 reference
def chunk_reference(xp, q, k, v, g, beta, s0, scale):
    """Gated DeltaNet of one sequence, heads first: q, k [H, T, K], v [H, T, V],
    g, beta [H, T], s0 [H, K, V], in double precision, chunk by chunk:

        (I + A) U = beta (v - e^G k S),  A_ij = beta_i k_i.k_j e^(G_i - G_j), j < i
        o = e^G q S + tril(q k^T e^(G_i - G_j)) U,  S' = e^G_C S + (e^(G_C - G) k)^T U
    """
    H, T, _ = q.shape
    S, outputs = s0, []
    for start in range(0, T, CHUNK):
        part = slice(start, min(T, start + CHUNK))
        qc, kc, vc, bc = q[:, part], k[:, part], v[:, part], beta[:, part, None]
        G = xp.cumsum(g[:, part], 1)[:, :, None]
        n = qc.shape[1]
        lower = xp.tril(xp.ones((n, n), dtype=q.dtype, **on(q)))
        strict = lower - xp.eye(n, dtype=q.dtype, **on(q))
        drop = G - G.swapaxes(1, 2)
        # Above the diagonal the exponent would be positive.
        ratio = xp.exp(drop * lower) * lower
        A = bc * (kc @ kc.swapaxes(1, 2)) * ratio * strict
        right = bc * (vc - xp.exp(G) * (kc @ S))
        U = xp.linalg.solve(A + xp.eye(n, dtype=q.dtype, **on(q)), right)
        P = (qc @ kc.swapaxes(1, 2)) * ratio
        outputs.append(scale * (xp.exp(G) * (qc @ S) + P @ U))
        last = G[:, -1:]
        S = xp.exp(last) * S + (xp.exp(last - G) * kc).swapaxes(1, 2) @ U
    join = xp.concatenate if hasattr(xp, "concatenate") else xp.cat
    return join(outputs, 1), S


def on(like):
    """Where torch makes new tensors."""
    return {"device": like.device} if type(like).__module__ == "torch" else {}


def relative_rms(x, reference):
    x, reference = x.double(), reference.double()
    return float(((x - reference) ** 2).sum().sqrt() / (reference**2).sum().sqrt())


# ---------------------------------------------------------------------------- run
def flops(tokens, heads, key_heads, K=128, V=128):
    """Of the factored chunk form, products alone."""
    per_chunk = 2 * CHUNK * CHUNK * K * 2 * key_heads / heads  # K K^T, Q K^T
    per_chunk += 2 * CHUNK * K * V * 3  # K S, Q S, K^T U
    per_chunk += 2 * CHUNK * CHUNK * V * 2  # T (..), P U
    return per_chunk * heads * tokens / CHUNK


class Benchmark:
    def __init__(self, args):
        import torch
        from linattn import runtime
        from triton.testing import do_bench

        self.args, self.torch = args, torch
        torch.manual_seed(args.seed)
        torch.zeros(1, device="cuda")
        self.runtime, self.do_bench = runtime, do_bench
        self.artifact = runtime.load(str(args.folder))
        self.recorded = json.loads((ROOT / "benchmarks" / "peers.json").read_text())
        try:
            from fla.ops.gated_delta_rule import chunk_gated_delta_rule

            self.fla = chunk_gated_delta_rule
        except Exception as error:  # broken installations raise anything
            print(f"no FLA in this run ({error}): recorded figures only")
            self.fla = None

    def time(self, call, ms=60):
        call()
        self.torch.cuda.synchronize()
        return self.do_bench(call, warmup=15, rep=ms, return_mode="median")

    def clock(self):
        """SM clock in Hz, while it is busy."""
        query = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
        out = subprocess.run(query, capture_output=True, text=True).stdout
        return float(out.split()[0]) * 1e6 if out.strip() else None

    def inputs(self, key_heads, heads, lengths):
        torch, T = self.torch, sum(lengths)
        F = torch.nn.functional

        def unit(*shape):
            return F.normalize(torch.randn(*shape, device="cuda"), dim=-1).bfloat16()

        q, k = unit(T, key_heads, 128), unit(T, key_heads, 128)
        v = torch.randn(T, heads, 128, device="cuda").bfloat16()
        g = F.logsigmoid(torch.randn(T, heads, device="cuda"))
        if self.args.gate == "slow":
            g = -2e-3 * torch.rand(T, heads, device="cuda")
        beta = torch.rand(T, heads, device="cuda").sigmoid()
        s0 = torch.zeros(len(lengths), heads, 128, 128, device="cuda")
        ends = torch.tensor(lengths, device="cuda").cumsum(0)
        cu = torch.cat([torch.zeros(1, device="cuda", dtype=torch.int64), ends]).int()
        return q, k, v, g, beta, s0, cu

    def reference(self, q, k, v, g, beta, s0, cu):
        """Outputs and states of all sequences, in fp64."""
        group = v.shape[1] // q.shape[1]

        def heads_first(x, repeat=1):
            return x.double().repeat_interleave(repeat, 1).transpose(0, 1).contiguous()

        outputs, states = [], []
        bounds = cu.tolist()
        for n, (a, b) in enumerate(zip(bounds, bounds[1:])):
            o, S = chunk_reference(
                self.torch,
                heads_first(q[a:b], group), heads_first(k[a:b], group), heads_first(v[a:b]),
                heads_first(g[a:b]), heads_first(beta[a:b]), s0[n].double(), 128**-0.5,
            )  # fmt: skip
            outputs.append(o.transpose(0, 1))
            states.append(S)
        return self.torch.cat(outputs), self.torch.stack(states)

    def run_gdn(self, heads, shape):
        key_heads, value_heads = map(int, heads.split("/"))
        lengths = SEQUENCES[shape]
        function = self.artifact[f"gdn_{key_heads}_{value_heads}"]
        inputs = self.inputs(key_heads, value_heads, lengths)
        T = sum(lengths)
        got = function(*inputs)
        row = {"operator": "gated_deltanet", "heads": heads, "sequences": shape}
        row["plan"] = function.description["plan"]["name"]
        o, S = self.reference(*inputs)
        row["error_o"], row["error_state"] = relative_rms(got[0], o), relative_rms(got[1], S)
        del o, S
        row["right"] = row["error_o"] <= LIMIT and row["error_state"] <= LIMIT
        if not row["right"]:
            return row
        ms = self.time(lambda: function(*inputs, out=got))
        clock = self.clock()
        moved = sum(t.numel() * t.element_size() for t in (*inputs[:5], *got))
        floor = moved / COPY_BANDWIDTH * 1e3
        row |= {"ms": ms, "floor_ms": floor, "of_floor": floor / ms, "sm_clock": clock}
        row["tflops"] = flops(T, value_heads, key_heads) / ms / 1e9
        row["intensity"] = flops(T, value_heads, key_heads) / moved
        if clock:
            device = self.runtime.device()["multiprocessors"]
            chunks = sum(-(-length // CHUNK) for length in lengths) * value_heads
            busy = min(device, len(lengths) * value_heads)
            row["cycles"] = ms * 1e-3 * clock * busy / chunks
        row["peers"] = dict(self.recorded["gated_deltanet"].get(f"{heads} {shape}", {}))
        row["peers_recorded"] = True
        if self.fla:
            q, k, v, g, beta, _, cu = inputs
            batch = [x[None] for x in (q, k, v, g, beta)]
            # Those of value heads: FLA takes grouped keys as they are.
            row["fla_ms"] = self.time(
                lambda: self.fla(*batch, output_final_state=True, cu_seqlens=cu.long())
            )
            row["fla_ratio"] = row["fla_ms"] / ms
        known = [*row["peers"].values(), *([row["fla_ms"]] if self.fla else [])]
        row["best_ratio"] = min(known) / ms if known else None
        return row

    def same_bits(self, runs):
        """Runs of one call while another stream works, all with the same bits."""
        torch = self.torch
        name = next(iter(self.artifact))
        heads = self.artifact[name].description["arguments"]
        key_heads, value_heads = heads[0]["shape"][-2], heads[2]["shape"][-2]
        inputs = self.inputs(key_heads, value_heads, [1000, 0, 24, 500])
        function = self.artifact[name]
        first = [x.clone() for x in function(*inputs)]
        other, noise = torch.cuda.Stream(), torch.randn(2048, 2048, device="cuda")
        again = [torch.empty_like(x) for x in first]
        different = torch.zeros((), device="cuda", dtype=torch.int64)
        for _ in range(runs):
            with torch.cuda.stream(other):
                noise = (noise @ noise).clamp(-1, 1)
            for x in again:
                x.fill_(float("nan"))
            function(*inputs, out=again)
            for x, y in zip(again, first):
                # As bits: what is not a number is the same as itself.
                width = torch.int16 if x.element_size() == 2 else torch.int32
                different += (x.view(width) != y.view(width)).any()
        return {"function": name, "runs": runs, "different": int(different)}

    def graph(self):
        """A captured call gives what a plain one gives, for new inputs too."""
        torch = self.torch
        name = next(iter(self.artifact))
        arguments = self.artifact[name].description["arguments"]
        key_heads, value_heads = arguments[0]["shape"][-2], arguments[2]["shape"][-2]
        function = self.artifact[name]
        inputs = self.inputs(key_heads, value_heads, [300, 100])
        size = max(function.workspace_bytes(*inputs), 1)
        workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        out = function(*inputs, workspace=workspace)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function(*inputs, out=out, workspace=workspace)
        fresh = self.inputs(key_heads, value_heads, [200, 200])
        for mine, new in zip(inputs, fresh):
            mine.copy_(new)
        graph.replay()
        plain = function(*fresh)
        torch.cuda.synchronize()
        return all(torch.equal(a, b) for a, b in zip(out, plain))

    def refusals(self):
        """What a call with wrong tensors says, on this device."""
        torch = self.torch
        name = next(iter(self.artifact))
        function = self.artifact[name]
        arguments = function.description["arguments"]
        key_heads, value_heads = arguments[0]["shape"][-2], arguments[2]["shape"][-2]
        inputs = list(self.inputs(key_heads, value_heads, [64]))
        said = []
        for i, change in (
            (0, lambda t: t.float()),
            (1, lambda t: t[:-1]),
            (2, lambda t: t.transpose(1, 2)),
            (3, lambda t: t.cpu()),
            (5, lambda t: None),
        ):
            wrong = list(inputs)
            wrong[i] = change(wrong[i])
            try:
                function(*wrong)
                said.append("accepted")
            except self.runtime.LinattnError as error:
                said.append(str(error))
        torch.cuda.synchronize()
        return said


def print_row(row):
    label = f"{row['operator']:15} {row['heads']:6} {row['sequences']:11}"
    if not row["right"]:
        print(f"{label} WRONG: o {row['error_o']:.1e}, state {row['error_state']:.1e}")
        return
    fla = f"{row['fla_ms']:8.3f} x{row['fla_ratio']:.2f}" if "fla_ms" in row else "       -"
    best = f"x{row['best_ratio']:.2f}" if row["best_ratio"] else "-"
    print(
        f"{label} {row['ms']:9.3f} ms  {row.get('cycles', 0):9.0f} cycles  "
        f"FLA {fla}  best peer {best}  floor {100 * row['of_floor']:.0f}%  "
        f"errors {row['error_o']:.1e} {row['error_state']:.1e}",
        flush=True,
    )


def run_all(args):
    bench = Benchmark(args)
    started = time.time()
    report = {"device": bench.runtime.device(), "gate": args.gate, "rows": []}
    for heads in args.heads:
        if f"gdn_{heads.replace('/', '_')}" not in bench.artifact:
            continue
        for shape in args.shapes:
            row = bench.run_gdn(heads, shape)
            report["rows"].append(row)
            print_row(row)
    report["refusals"] = bench.refusals()
    report["graph"] = bench.graph()
    if args.bits:
        report["same_bits"] = bench.same_bits(args.bits)
        print(report["same_bits"])
    print("graph capture:", "ok" if report["graph"] else "WRONG")
    for said in report["refusals"]:
        print("  refused:", said)
    report["seconds"] = round(time.time() - started, 1)
    ratios = [r["fla_ratio"] for r in report["rows"] if "fla_ratio" in r]
    if ratios:
        report["fla_ratio_geomean"] = statistics.geometric_mean(ratios)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    bits = report.get("same_bits", {}).get("different", 0)
    right = all(r["right"] for r in report["rows"])
    return 0 if right and report["graph"] and not bits else 1


# --------------------------------------------------------------------------- plot
def plot(args):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    report = json.loads(args.results.read_text())
    figure, axes = plt.subplots(figsize=(8, 5))
    intensities = [8, MATRIX_RATE / COPY_BANDWIDTH, 4096]
    roof = [min(COPY_BANDWIDTH * x, MATRIX_RATE) / 1e12 for x in intensities]
    axes.loglog(intensities, roof, color="black", label="copy bandwidth, bf16 rate")
    for heads in sorted({r["heads"] for r in report["rows"]}):
        rows = [r for r in report["rows"] if r["heads"] == heads and r["right"]]
        points = axes.loglog(
            [r["intensity"] for r in rows], [r["tflops"] for r in rows], "o", label=heads
        )
        for row in rows:
            axes.annotate(row["sequences"], (row["intensity"], row["tflops"]), fontsize=6)
            if "fla_ms" in row:
                theirs = row["tflops"] * row["ms"] / row["fla_ms"]
                axes.loglog(row["intensity"], theirs, "x", color=points[0].get_color())
    axes.set_xlabel("multiply-adds of the chunk form, times two, per byte of its tensors")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"Gated DeltaNet forward, {report['device']['name']} (x: FLA)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(args.output, dpi=150)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("compile", help="the kernels of all shapes")
    make.add_argument("-o", dest="output", type=Path, default=Path("gpu-bench"))
    make.add_argument("--target", default="sm_90a")
    make.add_argument("--lowering", help="of linattn-compile")
    make.add_argument("--plan", help="of linattn-compile")
    make.add_argument("--tool", default=ROOT / "build" / "bin" / "linattn-compile")
    go = commands.add_parser("run", help="check and time them on this GPU")
    go.add_argument("folder", type=Path)
    go.add_argument("--json", type=Path)
    go.add_argument("--gate", choices=["usual", "slow"], default="usual")
    go.add_argument("--shapes", nargs="+", choices=list(SEQUENCES), default=list(SEQUENCES))
    go.add_argument("--bits", type=int, default=0, help="runs that must have the same bits")
    go.add_argument("--seed", type=int, default=0)
    for each in (make, go):
        each.add_argument("--heads", nargs="+", default=HEADS, help="key/value")
    draw = commands.add_parser("plot", help="a roofline of the results")
    draw.add_argument("results", type=Path)
    draw.add_argument("-o", dest="output", type=Path, default=Path("roofline.png"))
    args = parser.parse_args()
    return {"compile": compile_all, "run": run_all, "plot": plot}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
