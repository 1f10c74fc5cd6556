"""Compiles every recurrence example for a chip: ptxas must take it without
spills, stack (local memory) or notes on performance."""

import json
import subprocess
import sys
from pathlib import Path

examples, chip, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
bad = 0
for path in sorted(examples.glob("*.mlir")):
    if "linattn.recurrence" not in path.read_text():
        continue
    subprocess.run(
        ["linattn-compile", path, f"--target={chip}", "-o", folder],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    used = json.loads((folder / f"{path.stem}.json").read_text())["resources"]
    clean = (
        used["spill_store_bytes"] == 0
        and used["spill_load_bytes"] == 0
        and used["stack_bytes"] == 0
        and used["notes"] == []
        and 0 < used["registers"] <= 255
    )
    bad += not clean
    print(path.stem, "clean" if clean else used)
print("all clean" if not bad else f"{bad} not clean")
