# Recurrences that nobody wrote kernels for, with their states in a pool: several
# decays, reads and writes a token, states that are crossed, keys and norms of what
# was read. As many tokens as are computed ahead of their turn, fewer and more; gates
# of every size, whose factors wait until they are small. Simulator against the fp64
# loop.
# REQUIRES: numpy
# RUN: %python %s %S/Inputs linattn-run %t
import pathlib
import re
import subprocess
import sys

inputs, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
FUNCTIONS = {
    "made-up.mlir": ["two_decays_two_writes", "three_updates", "two_memories", "between_decays"],
    "made-up-columns.mlir": ["two_rates", "three_rates", "crossed_states", "uneven_widths"],
    "made-up-norms.mlir": ["pooled_norm", "gated_norm"],
    "simt-shapes.mlir": ["odd192", "mixing"],
}
TOKENS = [11, 8, 17, 3]
GATES = ["usual", "extreme", "mixed", "slow"]


def with_pool(text):
    """Every state of the functions in a pool, sequences by their slots."""
    if "slots" not in text:
        text = re.sub(
            r'("\})\)(\s*->)', r'\1, %slots: tensor<?xi32> {linattn.name = "slots"})\2', text, 1
        )
        states = r"(\sstate\([^)]*\)(\s+seqlens\([^)]*\))?)"
        text = re.sub(states, r"\1 slots(%slots : tensor<?xi32>, padding = -1)", text)
    return text


for file, functions in FUNCTIONS.items():
    text = (inputs / file).read_text()
    for number, function in enumerate(functions):
        start = text.index(f"func.func @{function}(")
        end = text.find("\nfunc.func", start + 1)
        source = folder / f"{function}.mlir"
        body = text[start : end if end >= 0 else None]
        source.write_text(with_pool(body[: body.rindex("\n}") + 3]))
        command = [tool, str(source), "--device=sim", "--lowering=serial", "--verify"]
        command += ["--size=P=4", "--slots=2,-1,0", f"--gates={GATES[number]}"]
        if "seqlens" in body:
            command += ["--seqlens=0,9,11,11"]
        else:
            command += [f"--size=T={TOKENS[number]}"]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, (command, run.stdout, run.stderr)
