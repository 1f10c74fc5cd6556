# What README.md and docs/Tutorial.md show works: their modules are written to
# files, their commands run in order, and where output stands below a command
# it is what the command prints (numbers and paths aside).
#
# REQUIRES: numpy, ptxas, linattn-run, linattn-compile, linattn-opt
# RUN: %python %s linattn-run %S/../../docs/Tutorial.md %S/../../README.md %t

import os
import re
import shutil
import subprocess
import sys

import numpy as np

tool, *pages, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
environment = dict(os.environ)
environment["PATH"] = os.path.dirname(shutil.which(tool)) + ":" + environment["PATH"]

# Figures, versions and ptxas' place differ from run to run; "..." and "(...)"
# stand for more.
FIGURE = re.compile(r"-?\d[\d.,]*(e[+-]?\d+)?")


def pattern(line):
    parts = [re.escape(FIGURE.sub("#", p)) for p in line.strip().split("...")]
    return re.compile(re.sub(r"(\\ )+", r"\\s+", ".*".join(parts)) + r"\s*$")


def check_output(command, expected, printed):
    """Each line shown must be printed, in this order."""
    lines = iter([FIGURE.sub("#", l.strip()) for l in printed.splitlines()])
    for wanted in expected:
        if wanted.strip() == "...":
            continue
        regex = pattern(wanted)
        assert any(regex.match(l) for l in lines), (
            f"{command}\nprints no line like\n{wanted}\nin its place, but\n{printed}"
        )


def run(command, expected):
    command = command.replace("build/bin/", "")
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    check_output(command, expected, done.stdout)


BUILT = re.compile(r"linattn-(run|opt|compile)\b")
count = 0
np.save(os.path.join(work, "q.npy"), np.zeros((2, 9, 4, 64), np.float32))
for page in pages:
    with open(page) as f:
        text = f.read()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    # Files first: some commands stand before the module that they need.
    for kind, block in blocks:
        function = re.search(r"^func\.func @(\w+)", block, re.M)
        if kind == "mlir" and function:
            with open(os.path.join(work, function.group(1) + ".mlir"), "w") as f:
                f.write(block)
        elif kind == "c":
            with open(os.path.join(work, "call.c"), "w") as f:
                f.write(block)
    for kind, block in blocks:
        if kind:
            continue
        command, expected = None, []
        for line in block.splitlines():
            bare = line[2:] if line.startswith("$ ") else line
            if line.startswith("$ ") or BUILT.match(bare):
                if command:
                    run(command, expected)
                    count += 1
                command, expected = bare, []
            elif command:
                expected.append(line)
        if command:
            run(command, expected)
            count += 1
    for command in re.findall(r"^\| `(linattn-[^`]+)`", text, re.M):
        run(command + " -o /dev/null", [])
        count += 1
assert count > 15, count
