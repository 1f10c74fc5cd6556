# What the cost model chooses (docs/Plans.md) for sizes that are told, static in the
# types, or unknown. (That it has at most 20 numbers is asserted where it stands.)
# RUN: %python %s %examples linattn-compile %t
import pathlib
import subprocess
import sys

from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)

# Operator, heads, sizes, plan.
CHOICES = [
    # Blocks of heads fill the GPU, or nothing is known.
    ("gated_deltanet", 64, "B=1,T=32768", ""),
    ("gated_deltanet", 32, "B=4,T=8192", ""),
    ("gated_deltanet", 2, None, ""),
    ("kda", 64, "B=1,T=8192", ""),
    ("gla", 16, "B=4,T=8192", ""),
    ("simple_gla", 48, "B=2,T=4096", ""),
    # Half of it, for long: narrower slices.
    ("gated_deltanet", 32, "B=1,T=32768", "column-parts=2 slice=32"),
    # A small part: segments, but of sequences that are long.
    ("gated_deltanet", 8, "B=1,T=32768", "segments=8"),
    ("kda", 4, "B=1,T=32768", "segments=16"),
    ("gla", 4, "B=1,T=65536", "segments=16"),
    ("linear_attention", 8, "B=1,T=32768", "segments=8"),
    ("mamba2", 24, "B=1,T=12288", "segments=8"),
    ("deltanet", 12, "B=1,T=8192", "segments=4"),
    ("linear_attention", 8, "B=1,T=256", ""),
]


def ask(operator, heads, sizes, *options):
    text = (examples / f"{operator}.mlir").read_text()
    source = folder / f"{operator}_{heads}.mlir"
    source.write_text(resize(text, K=128, V=128, heads=heads))
    command = [tool, str(source), "--target=sm_90a", "--print-plans", "-o", str(folder)]
    command += [f"--size={sizes}"] if sizes else []
    return subprocess.run([*command, *options], capture_output=True, text=True, check=True).stderr


wrong = []
for operator, heads, sizes, plan in CHOICES:
    said = ask(operator, heads, sizes)
    chosen = f"chosen '{plan}':" if plan else "chosen the default plan:"
    if chosen not in said or "''" in said:
        wrong.append((operator, heads, sizes, plan, said))
for case in wrong:
    print(*case, file=sys.stderr)
assert not wrong

# No transition, no segments.
assert "segments" not in ask("gated_deltanet_channel_rate", 8, "B=1,T=32768")

# Static sizes of the types are known without being told.
text = resize((examples / "gated_deltanet.mlir").read_text(), K=128, V=128, heads=8)
static = folder / "static.mlir"
static.write_text(text.replace("tensor<?x?x", "tensor<1x32768x").replace("tensor<?x8x", "tensor<1x8x"))
said = subprocess.run(
    [tool, str(static), "--target=sm_90a", "--print-plans", "-o", str(folder)],
    capture_output=True, text=True, check=True,
).stderr
assert "for 1 sequences of 32768 tokens" in said and "chosen 'segments=8'" in said, said
