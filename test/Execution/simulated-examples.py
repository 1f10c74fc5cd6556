# Every recurrence example as a kernel on the simulator: right against the fp64
# token loop, and without a finding (races, bounds, uninitialised values ..).
# RUN: %python %s %examples linattn-run
import pathlib
import subprocess
import sys

examples, tool = sys.argv[1:]
failed = []
ran = 0
for path in sorted(pathlib.Path(examples).glob("*.mlir")):
    text = path.read_text()
    if "linattn.recurrence" not in text:
        continue
    if "seqlens(" in text:
        sizes = ["--seqlens=0,3,3,5"]
    elif "slots(" in text:
        sizes = ["--size", "B=2", "--size", "T=2", "--slots=1,-1"]
    else:
        sizes = ["--size", "B=1", "--size", "T=5"]
    command = [tool, str(path), *sizes, "--device=sim", "--gates=mixed", "--verify"]
    run = subprocess.run(command, capture_output=True, text=True)
    ran += 1
    if run.returncode != 0:
        failed.append(path.name)
        print(" ".join(command), run.stdout, run.stderr, sep="\n", file=sys.stderr)
assert ran >= 18, f"only {ran} examples found"
assert not failed, f"failed on the simulator: {failed}"
