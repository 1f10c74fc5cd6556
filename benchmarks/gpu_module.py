#!/usr/bin/env python3
"""Whole layers in bf16 on an NVIDIA GPU, against fp64.

    benchmarks/gpu_module.py compile -o gpu-module      here: no GPU needed
    benchmarks/gpu_module.py run gpu-module --json F    there: torch, a driver,
                                                        liblinattn_runtime.so

The linear maps are torch's; all between them is ours: of differential attention
(lambda of its four vectors, both softmax maps, their difference, the norm and the
output scale) one kernel, of Gated DeltaNet (norms of keys and queries, gates of raw
numbers, rates over value columns, the recurrence, the norm of its output and the
gate) two launches of one function. The reference is the layer in fp64 on the same bf16
weights and input; beside it stands the error of the same layer in torch alone, in
bf16 with, for the recurrence, an f32 token loop.
"""

import subprocess
import sys

from gpu_common import ROOT, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

INPUTS = ROOT / "test" / "Execution" / "Inputs"
SHAPES = [(2, 2048), (1, 1000), (3, 65)]


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for layer in LAYERS:
        command = [args.tool, INPUTS / layer.source, f"--function={layer.function}"]
        command += [f"--target={args.target}", "-o", args.output]
        subprocess.run([str(c) for c in command], check=True)
    return 0


def matrix(torch, *shape):
    return (torch.randn(*shape, device="cuda") * shape[0] ** -0.5).bfloat16()


class DifferentialAttention:
    """Map m of head h takes query head 2 h + m, key head 2 (h / 2) + m and value
    head h / 2."""

    source, function = "differential-core.mlir", "published_lambda"
    WIDTH, H, D, V = 512, 4, 64, 128
    LAMBDA_INIT, EPS, SCALE = 0.2, 1e-5, 0.8

    def __init__(self, torch):
        self.torch, H, D, V = torch, self.H, self.D, self.V
        sizes = {"q": 2 * H * D, "k": H * D, "v": H // 2 * V}
        self.maps = {n: matrix(torch, self.WIDTH, size) for n, size in sizes.items()}
        self.maps["o"] = matrix(torch, H * V, self.WIDTH)
        self.vectors = [torch.randn(H, D, device="cuda") * 0.1 for _ in range(4)]
        self.weight = torch.rand(V, device="cuda") + 0.5

    def run(self, x, core):
        (B, T, _), H, D, V = x.shape, self.H, self.D, self.V
        q, k, v = (x @ self.maps[n].to(x.dtype) for n in "qkv")
        q, k = q.reshape(B, T, 2 * H, D), k.reshape(B, T, H, D)
        y = core(q, k, v.reshape(B, T, H // 2, V))
        return y.reshape(B, T, H * V) @ self.maps["o"].to(x.dtype)

    def kernel(self, function):
        def core(q, k, v):
            out = function(q, k, v, *self.vectors, self.weight)
            return out if self.torch.is_tensor(out) else out[0]

        return core

    def formula(self, q, k, v):
        """In the type of its inputs."""
        torch, T, H, D = self.torch, q.shape[1], self.H, self.D
        lq1, lk1, lq2, lk2 = (y.to(torch.float64) for y in self.vectors)
        lam = (lq1 * lk1).sum(-1).exp() - (lq2 * lk2).sum(-1).exp() + self.LAMBDA_INIT
        lam = lam.to(q.dtype)
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
        norm = (o.square().mean(-1, keepdim=True) + self.EPS).rsqrt()
        return (self.SCALE * o * norm * self.weight.to(o.dtype)).transpose(1, 2)


class WideDifferentialAttention(DifferentialAttention):
    """Values of 192 columns: the maps go over the keys in turn."""

    source, function = "differential-wide.mlir", "lambda_of_vectors"
    WIDTH, H, D, V = 768, 4, 96, 192
    LAMBDA_INIT, EPS, SCALE = 0.2, 1e-6, 0.8


class GatedDeltaNet:
    """The layer of test/Modules/gated_deltanet.mlir with wider heads."""

    source, function = "gated-deltanet-core.mlir", "gated_deltanet_core"
    WIDTH, H, D = 256, 4, 64

    def __init__(self, torch):
        self.torch, H, D = torch, self.H, self.D
        self.maps = {n: matrix(torch, self.WIDTH, H * D) for n in "qkvzb"}
        self.maps |= {"a": matrix(torch, self.WIDTH, H), "o": matrix(torch, H * D, self.WIDTH)}
        self.A_log = torch.rand(H, device="cuda") - 0.5
        self.dt_bias = torch.randn(H, device="cuda")
        self.weight = torch.rand(1, D, device="cuda") + 0.5

    def run(self, x, core):
        (B, T, _), H, D = x.shape, self.H, self.D
        wide = [(x @ self.maps[n].to(x.dtype)).reshape(B, T, H, D) for n in "qkvzb"]
        y = core(*wide, x @ self.maps["a"].to(x.dtype))
        return y.reshape(B, T, H * D).to(x.dtype) @ self.maps["o"].to(x.dtype)

    def kernel(self, function):
        def core(q, k, v, z, b, a):
            state = self.torch.zeros(q.shape[0], self.H, self.D, self.D, device="cuda")
            params = self.A_log, self.dt_bias, self.weight
            return function(q, k, v, z, b, a.float(), *params, state)[0]

        return core

    def formula(self, q, k, v, z, b, a):
        """Token after token, in f64 or f32."""
        torch = self.torch
        wide = torch.float64 if q.dtype == torch.float64 else torch.float32
        q, k, v, z, b, a = (y.to(wide) for y in (q, k, v, z, b, a))

        def normalized(y):
            return y * (y.square().sum(-1, keepdim=True) + 1e-6).rsqrt()

        q, k, b = normalized(q) * self.D**-0.5, normalized(k), b.sigmoid()
        rate = torch.nn.functional.softplus(a + self.dt_bias.to(wide))
        decay = (-self.A_log.to(wide).exp() * rate).exp()
        S = torch.zeros(q.shape[0], self.H, self.D, self.D, device="cuda", dtype=wide)
        outputs = []
        for t in range(q.shape[1]):
            S = decay[:, t, :, None, None] * S
            known = torch.einsum("bhkv,bhk->bhv", S, k[:, t])
            S = S + k[:, t, :, :, None] * (b[:, t] * (v[:, t] - known))[:, :, None]
            outputs.append(torch.einsum("bhkv,bhk->bhv", S, q[:, t]))
        o = torch.stack(outputs, 1)
        norm = (o.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
        return o * norm * self.weight.to(wide) * torch.nn.functional.silu(z)


LAYERS = [DifferentialAttention, WideDifferentialAttention, GatedDeltaNet]
# What a kernel may err beside torch's roundings of the linear maps: the promise of
# docs/Numerics.md.
CORE_LIMIT = 5e-3


def run_shape(torch, layer, function, timer, B, T):
    x = torch.randn(B, T, layer.WIDTH, device="cuda").bfloat16()
    want = layer.run(x.double(), layer.formula)

    def error(y):
        return float(((y.double() - want).square().mean() / want.square().mean()).sqrt())

    core = layer.kernel(function)
    row = {"layer": type(layer).__name__, "B": B, "T": T}
    row["error"] = error(layer.run(x, core))
    row["torch_error"] = error(layer.run(x, layer.formula))
    row["right"] = row["error"] <= row["torch_error"] + CORE_LIMIT
    row["ms"] = timer(lambda: layer.run(x, core))
    row["torch_ms"] = timer(lambda: layer.run(x, layer.formula))
    print(
        f"{row['layer']} {B}x{T}: {row['ms']:.3f} ms, error {row['error']:.1e}; torch "
        f"alone {row['torch_ms']:.3f} ms, {row['torch_error']:.1e}",
        "" if row["right"] else "WRONG",
        flush=True,
    )
    return row


def run_all(args):
    import torch
    from linattn import runtime

    torch.manual_seed(0)
    torch.zeros(1, device="cuda")
    functions = runtime.load(str(args.folder))
    timer, rows = make_timer(torch, rep=40), []
    for kind in LAYERS:
        layer = kind(torch)
        for B, T in SHAPES:
            rows.append(run_shape(torch, layer, functions[kind.function], timer, B, T))
    write_report(args.json, {"device": runtime.device(), "rows": rows})
    return 0 if all(row["right"] for row in rows) else 1


def no_options(parser):
    pass


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-module", compile_all, run_all, no_options, no_options))
