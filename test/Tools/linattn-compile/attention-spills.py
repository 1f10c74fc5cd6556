# Attention kernels that are short of registers: the plan that is chosen has no
# spills and no stack. Values too wide for both maps of a differential attention
# go over the keys in turn; score regions that ask where an element stands get
# narrower key tiles. Shared memory fits the smallest devices too.
# REQUIRES: ptxas
# RUN: rm -rf %t && mkdir -p %t && %python %s %S/../../Execution/Inputs/differential-wide.mlir %S/Inputs/scores.mlir %t
import json
import pathlib
import subprocess
import sys

wide, scores, folder = map(pathlib.Path, sys.argv[1:])
CASES = {
    wide: ["lambda_of_vectors", "long_sequence", "window"],
    scores: ["v1_bias_window", "v2_alibi_full", "v2_bias_causal"],
}
CHIPS = {"sm_80": 163, "sm_90a": 227}
jobs = [(m, f, chip) for m, functions in CASES.items() for f in functions for chip in CHIPS]
# Where shared memory is least.
CHIPS["sm_86"] = 99
jobs.append((wide, "long_sequence", "sm_86"))
bad = []
for module, function, chip in jobs:
    subprocess.run(
        ["linattn-compile", module, f"--function={function}", f"--target={chip}", "-o", folder],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    description = json.loads((folder / f"{function}.json").read_text())
    used = description["resources"]
    shared = max(n.get("dynamic_shared_bytes", 0) for n in description["launches"])
    clean = used["spill_store_bytes"] == used["spill_load_bytes"] == used["stack_bytes"] == 0
    if not clean or shared > CHIPS[chip] * 1024:
        bad.append((chip, function, used, shared, description["plan"]))
assert not bad, bad
