# H15, H16 for kernels in chunks: head dims that are no power of two, K != V, and
# large ones. The simulator reports every access outside of a tensor; the values
# are those of the fp64 token loop. bf16 and f32.
# REQUIRES: numpy
# RUN: %python %s %examples linattn-run %t
import pathlib
import subprocess
import sys

from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
SIZES = [(60, 72), (72, 96), (96, 60), (192, 64), (16, 16), (256, 512)]
# Decays over K, and kernels that pad what one leaves in memory for another: name,
# K, V, dtype, options.
PADDED = [
    ("kda", 80, 32, "f32", []),
    ("kda", 144, 32, None, []),
    ("kda", 128, 32, "f32", ["--chunk=16"]),
    # Tiles of 32 rows for chunks of 16 tokens, with a token of the next one.
    ("gla", 64, 32, None, ["--plan=chunk=16 column-parts=2 segments=2"]),
    ("gated_deltanet", 48, 32, None, ["--plan=column-parts=2"]),
    # Keys of three tiles of rows, which do not divide over the warps, in two terms.
    ("linear_attention", 48, 32, "f32", ["--mma=bf16x2", "--chunk=16"]),
    ("gated_deltanet", 112, 64, "f32", ["--mma=bf16x2"]),
]

runs = []
for number, (K, V) in enumerate(SIZES):
    name = ("gated_deltanet", "simple_gla", "deltanet")[number % 3]
    runs.append((name, K, V, "f32" if number in (1, 4) else None, ["--size=T=70"]))
runs += [(*case, [*options, "--size=T=17"]) for *case, options in PADDED]

failed = []
for name, K, V, dtype, options in runs:
    text = resize(
        (examples / f"{name}.mlir").read_text(), K=K, V=V, heads=2, key_heads=1, dtype=dtype
    )
    path = folder / f"{name}-{K}-{V}-{dtype}.mlir"
    path.write_text(text)
    command = [tool, str(path), "--size=B=1", *options]
    command += ["--device=sim", "--lowering=chunkwise", "--verify"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        failed.append(path.name)
        print(" ".join(command), run.stdout, run.stderr, sep="\n", file=sys.stderr)
assert not failed, failed
