"""Compiles every recurrence, attention and convolution example for a chip, token by token (not
attention) and in the form that the compiler chooses: ptxas must take it without spills, stack (local
memory) or notes on performance. What has a kernel on tiles multiplies by mma. PART/PARTS: every so many of them, from the first or the next."""

import json
import subprocess
import sys
from pathlib import Path

examples, chip, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
part, parts = map(int, sys.argv[4].split("/")) if len(sys.argv) > 4 else (0, 1)
ON_TILES = {"linear_attention", "retnet", "simple_gla", "deltanet", "gated_deltanet",
            "gated_deltanet_packed", "mamba2", "comba", "comba_decayed",
            "normalized_linear_attention", "kda", "kda_snapshots", "gla", "gdn2",
            "rwkv7"}  # fmt: skip
bad = 0
for path in sorted(examples.glob("*.mlir"))[part::parts]:
    attention = "_attention" in path.stem and "linear" not in path.stem
    convolution = path.stem == "short_conv"
    if not (attention or convolution) and "linattn.recurrence" not in path.read_text():
        continue
    for lowering in ("auto",) if attention or convolution else ("serial", "auto"):
        subprocess.run(
            ["linattn-compile", path, f"--target={chip}", f"--lowering={lowering}", "-o", folder],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        description = json.loads((folder / f"{path.stem}.json").read_text())
        used = description["resources"]
        clean = (
            used["spill_store_bytes"] == 0
            and used["spill_load_bytes"] == 0
            and used["stack_bytes"] == 0
            and used["notes"] == []
            and 0 < used["registers"] <= 255
            and used["shared_bytes"]
            >= max(launch.get("dynamic_shared_bytes", 0) for launch in description["launches"])
        )
        if attention or (lowering == "auto" and path.stem in ON_TILES):
            ptx = (folder / f"{path.stem}.ptx").read_text()
            served = "mma.sync" in description["plan"]["name"] and "mma.sync" in ptx
            if not served:
                print(path.stem, "is not served by mma")
            clean = clean and served
        bad += not clean
        print(path.stem, lowering, "clean" if clean else used)
print("all clean" if not bad else f"{bad} not clean")
