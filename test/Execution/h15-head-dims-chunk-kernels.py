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

failed = []
for number, (K, V) in enumerate(SIZES):
    name = ("gated_deltanet", "simple_gla", "deltanet")[number % 3]
    dtype = "f32" if number in (1, 4) else None
    text = resize(
        (examples / f"{name}.mlir").read_text(), K=K, V=V, heads=2, key_heads=1, dtype=dtype
    )
    path = folder / f"{name}-{K}-{V}.mlir"
    path.write_text(text)
    command = [tool, str(path), "--size=B=1", "--size=T=70"]
    command += ["--device=sim", "--lowering=chunkwise", "--verify"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        failed.append(path.name)
        print(" ".join(command), run.stdout, run.stderr, sep="\n", file=sys.stderr)
assert not failed, failed
