# Recurrences that nobody wrote kernels for, from text to kernels on tensor cores:
# right on the simulator, and in chunks on the CPU, against the fp64 token loop.
# REQUIRES: numpy
# RUN: %python %s %S/Inputs linattn-run
import subprocess
import sys

folder, tool = sys.argv[1:]
FUNCTIONS = {
    "made-up.mlir": ["two_decays_two_writes", "three_updates", "two_memories", "between_decays"],
    "made-up-columns.mlir": ["two_rates", "three_rates", "crossed_states", "uneven_widths"],
}
CASES = [
    ("sim", "--size=B=1", "--size=T=70", "--gates=usual"),
    ("sim", "--size=B=2", "--size=T=33", "--gates=mixed", "--state=zero"),
    ("cpu", "--size=B=1", "--size=T=150", "--gates=extreme"),
]
named = [(file, f) for file, functions in FUNCTIONS.items() for f in functions]
for number, (file, function) in enumerate(named):
    # Two sequences for one in four.
    for device, *case in CASES if number % 4 == 0 else CASES[::2]:
        command = [tool, f"{folder}/{file}", f"--function={function}", f"--device={device}"]
        command += ["--lowering=chunkwise", "--verify", *case]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, (command, run.stdout, run.stderr)
