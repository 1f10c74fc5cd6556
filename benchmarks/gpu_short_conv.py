#!/usr/bin/env python3
"""Times short convolutions on an NVIDIA GPU, against a copy of the same bytes.

    benchmarks/gpu_short_conv.py compile -o gpu-conv     here: no GPU needed
    benchmarks/gpu_short_conv.py run gpu-conv --json F   there: torch, a driver,
                                                         liblinattn_runtime.so

4,096 channels of bf16 (q, k and v of a Gated DeltaNet layer with 32 heads of 128
have 8,192 together), width 4, silu, with the window from call to call. A time is
reported only after the same call agrees with torch's convolution in fp32.
`of_copy` is the time of a copy that moves as many bytes, measured in the same run,
over that of the kernel.
"""

import subprocess
import sys
import types

from gpu_common import ROOT, make_timer, parse, write_report

sys.path.insert(0, str(ROOT / "python"))

CHANNELS, WIDTH = 4096, 4
LIMIT = 2.5e-3  # relative RMS: results are rounded to bf16
# Sequences and tokens of each; the last are packed.
DENSE = [(1, 4096), (1, 65536), (16, 4096), (128, 1), (512, 1)]
PACKED = [(37, 1771), (1000, 65)]


# ------------------------------------------------------------------------ compile
def text_of(packed):
    x = f"tensor<{'?x' if packed else '?x?x'}{CHANNELS}xbf16>"
    w, window = f"tensor<{CHANNELS}x{WIDTH}xbf16>", f"tensor<?x{CHANNELS}x{WIDTH - 1}xbf16>"
    types_of = {"x": x, "w": w, "window": window}
    offsets = ""
    if packed:
        types_of["cu"] = "tensor<?xi32>"
        offsets = "seqlens(%cu : tensor<?xi32>)"
    named = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in types_of.items())
    return f"""func.func @{"packed" if packed else "dense"}({named}) -> ({x}, {window}) {{
  %y, %end = linattn.short_conv %x, %w window(%window : {window}) {offsets}
      activation silu : ({x}, {w}) -> ({x}, {window})
  return %y, %end : {x}, {window}
}}
"""


def compile_all(args):
    args.output.mkdir(parents=True, exist_ok=True)
    for packed in (False, True):
        source = args.output / "conv.mlir"
        source.write_text(text_of(packed))
        command = [args.tool, source, f"--target={args.target}", "-o", args.output]
        subprocess.run([str(c) for c in command], check=True)
        source.unlink()
    return 0


# ---------------------------------------------------------------------------- run
def reference(torch, x, w, window, cu):
    """y and the last window, in fp32; `cu` are offsets on the host."""
    F = torch.nn.functional
    y, end = torch.empty(x.shape, device="cuda"), torch.empty(window.shape, device="cuda")
    for n in range(len(window)):
        where = slice(cu[n], cu[n + 1])
        if cu[n] == cu[n + 1]:
            end[n] = window[n]
            continue
        line = torch.cat([window[n].T, x[where]]).float()
        line = line.T[None]
        y[where] = F.silu(F.conv1d(line, w.float()[:, None], groups=CHANNELS))[0].T
        end[n] = line[0, :, line.shape[2] - WIDTH + 1 :]
    return y, end


def relative_rms(x, want):
    return float(((x.double() - want).square().mean() / want.square().mean()).sqrt())


def run_row(env, packed, N, T):
    torch = env.torch
    torch.manual_seed(N)
    lengths = torch.full((N,), T)
    if packed:  # uneven, some empty, the same sum
        lengths = torch.bincount(torch.randint(0, N - 1, (N * T,)) // 2 * 2, minlength=N)
    cu = [0, *lengths.cumsum(0).tolist()]
    x = torch.randn(N * T, CHANNELS, device="cuda").bfloat16()
    w = (torch.randn(CHANNELS, WIDTH, device="cuda") / 2).bfloat16()
    window = torch.randn(N, CHANNELS, WIDTH - 1, device="cuda").bfloat16()
    y, end = torch.empty_like(x), torch.empty_like(window)
    if packed:
        offsets = torch.tensor(cu, device="cuda", dtype=torch.int32)
        arguments, out = (x, w, window, offsets), [y, end]
    else:
        arguments, out = (x.view(N, T, -1), w, window), [y.view(N, T, -1), end]
    function = env.artifact["packed" if packed else "dense"]
    call = lambda: function(*arguments, out=out)  # noqa: E731
    call()
    want_y, want_end = reference(torch, x, w, window, cu)
    row = {"packed": packed, "N": N, "T": T, "error": relative_rms(y, want_y)}
    row["right"] = row["error"] <= LIMIT and bool((end.float() == want_end).all())
    if row["right"]:
        row["ms"] = env.time(call)
        source = torch.empty(x.numel() + window.numel() + w.numel() // 2, device="cuda").bfloat16()
        target = torch.empty_like(source)
        row["of_copy"] = env.time(lambda: target.copy_(source)) / row["ms"]
    return row


def run_all(args):
    import torch
    from linattn import runtime

    torch.zeros(1, device="cuda")
    env = types.SimpleNamespace(torch=torch, artifact=runtime.load(str(args.folder)))
    env.time = make_timer(torch, rep=60)
    rows = []
    for packed, sizes in ((False, DENSE), (True, PACKED)):
        for N, T in sizes:
            row = run_row(env, packed, N, T)
            rows.append(row)
            what = f"{'packed' if packed else 'dense'} {N} x {T}"
            if row["right"]:
                share = f"{100 * row['of_copy']:.0f}% of a copy"
                print(f"{what}: {row['ms']:.4f} ms  {share}  error {row['error']:.1e}", flush=True)
            else:
                print(f"{what} WRONG: {row['error']}", flush=True)
    write_report(args.json, {"device": runtime.device(), "rows": rows})
    return 0 if all(row["right"] for row in rows) else 1


def no_options(parser):
    pass


if __name__ == "__main__":
    sys.exit(parse(__doc__, "gpu-conv", compile_all, run_all, no_options, no_options))
