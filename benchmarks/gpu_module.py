#!/usr/bin/env python3
"""A whole differential attention module in bf16 on an NVIDIA GPU, against fp64.

    benchmarks/gpu_module.py compile -o gpu-module      here: no GPU needed
    benchmarks/gpu_module.py run gpu-module --json F    there: torch, a driver,
                                                        liblinattn_runtime.so

The linear maps are torch's; all between them (lambda of its four vectors, both
softmax maps, their difference, the norm and the output scale) is one kernel. The
reference is the module in fp64 on the same bf16 weights and input; beside it stands
the error of the same module in torch alone, in bf16.
"""

import subprocess
import sys

from gpu_common import ROOT, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

SOURCE = ROOT / "test" / "Execution" / "Inputs" / "differential-core.mlir"
NAME = "published_lambda"
# Heads of outputs; map m of head h takes query head 2 h + m, key head 2 (h / 2) + m
# and value head h / 2.
H, D, V, WIDTH = 4, 64, 128, 512
LAMBDA_INIT, EPS, SCALE = 0.2, 1e-5, 0.8
SHAPES = [(2, 2048), (1, 1000), (3, 65)]


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    command = [args.tool, SOURCE, f"--function={NAME}", f"--target={args.target}"]
    subprocess.run([str(c) for c in (*command, "-o", args.output)], check=True)
    return 0


class Module:
    """Weights in bf16, and the module around a function of q, k, v."""

    def __init__(self, torch):
        self.torch = torch

        def matrix(*shape):
            return (torch.randn(*shape, device="cuda") * shape[0] ** -0.5).bfloat16()

        self.maps = {
            "q": matrix(WIDTH, 2 * H * D), "k": matrix(WIDTH, H * D),
            "v": matrix(WIDTH, H // 2 * V), "o": matrix(H * V, WIDTH),
        }  # fmt: skip
        self.vectors = [torch.randn(H, D, device="cuda") * 0.1 for _ in range(4)]
        self.weight = torch.rand(V, device="cuda") + 0.5

    def run(self, x, attention):
        B, T, _ = x.shape
        q, k, v = (x @ self.maps[n].to(x.dtype) for n in "qkv")
        q, k = q.reshape(B, T, 2 * H, D), k.reshape(B, T, H, D)
        y = attention(q, k, v.reshape(B, T, H // 2, V))
        return y.reshape(B, T, H * V) @ self.maps["o"].to(x.dtype)

    def formula(self, q, k, v):
        """In the type of its inputs."""
        torch, T = self.torch, q.shape[1]
        lq1, lk1, lq2, lk2 = (y.to(torch.float64) for y in self.vectors)
        lam = ((lq1 * lk1).sum(-1).exp() - (lq2 * lk2).sum(-1).exp() + LAMBDA_INIT).to(q.dtype)
        heads = torch.arange(H, device="cuda")
        mask = torch.ones(T, T, dtype=torch.bool, device="cuda").tril()
        maps = []
        for m in (0, 1):
            qm = q[:, :, 2 * heads + m].transpose(1, 2)
            km = k[:, :, 2 * (heads // 2) + m].transpose(1, 2)
            scores = (qm @ km.transpose(2, 3)) * D**-0.5
            p = scores.masked_fill(~mask, -float("inf")).softmax(-1)
            maps.append(p @ v[:, :, heads // 2].transpose(1, 2))
        o = maps[0] - lam[:, None, None] * maps[1]
        o = o * (o.square().mean(-1, keepdim=True) + EPS).rsqrt() * self.weight.to(o.dtype)
        return (SCALE * o).transpose(1, 2)


def run_all(args):
    import torch
    from linattn import runtime

    torch.manual_seed(0)
    torch.zeros(1, device="cuda")
    function = runtime.load(str(args.folder))[NAME]
    module, timer, rows = Module(torch), make_timer(torch, rep=40), []

    def kernel(q, k, v):
        out = function(q, k, v, *module.vectors, module.weight)
        return out if torch.is_tensor(out) else out[0]

    for B, T in SHAPES:
        x = torch.randn(B, T, WIDTH, device="cuda").bfloat16()
        want = module.run(x.double(), module.formula)

        def error(y, want=want):
            return float(((y.double() - want).square().mean() / want.square().mean()).sqrt())

        row = {"B": B, "T": T, "error": error(module.run(x, kernel))}
        row["torch_error"] = error(module.run(x, module.formula))
        row["right"] = row["error"] <= 1.2 * row["torch_error"]
        row["ms"] = timer(lambda x=x: module.run(x, kernel))
        row["torch_ms"] = timer(lambda x=x: module.run(x, module.formula))
        rows.append(row)
        print(
            f"{B}x{T}: {row['ms']:.3f} ms, error {row['error']:.1e}; torch alone "
            f"{row['torch_ms']:.3f} ms, {row['torch_error']:.1e}",
            "" if row["right"] else "WRONG",
            flush=True,
        )
    write_report(args.json, {"device": runtime.device(), "rows": rows})
    return 0 if all(row["right"] for row in rows) else 1


def no_options(parser):
    pass


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-module", compile_all, run_all, no_options, no_options))
