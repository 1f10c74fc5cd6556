"""Compiles recurrences of K = V = 128 that are short of registers: ptxas must take the plan that the
compiler chooses, or a leaner one in its place, without spills."""

import json
import subprocess
import sys
from pathlib import Path

from linattn.resize import resize

examples, chip, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])


def example(name, **sizes):
    return resize((examples / f"{name}.mlir").read_text(), K=128, V=128, **sizes)


CASES = {
    "rwkv7_f32": example("rwkv7", dtype="f32"),
    "comba": example("comba"),
    "gated_deltanet_24_heads": example("gated_deltanet", heads=24, key_heads=24),
    "deltanet_12_heads": example("deltanet", heads=12),
    "normed_decays": (Path(__file__).parent / "normed-decays.mlir").read_text(),
}
for name, text in CASES.items():
    source = folder / f"{name}.mlir"
    source.write_text(text)
    where = folder / name
    subprocess.run(
        ["linattn-compile", source, f"--target={chip}", "--lowering=chunkwise", "-o", where]
        + (["--size=B=1", "--size=T=8192"] if "heads" in name else []),
        check=True,
        stderr=subprocess.DEVNULL,
    )
    (file,) = where.glob("*.json")
    used = json.loads(file.read_text())["resources"]
    print(name, "spills", used["spill_store_bytes"])
