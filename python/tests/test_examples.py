"""Every example and module, on the CPU in fp64, against the numpy oracle.

Each function of a .mlir file with a `reference:` comment (see linattn.testing)
runs over gate distributions, lengths, packed sequences, initial states and
slots: every pair of two such values, or with --full every combination.
"""

import os
import re
import subprocess

import numpy as np
import pytest

from conftest import ROOT
from covering import cross, pairwise
from linattn.resize import resize
from linattn.testing import LIMIT, Sequences, check_saved, functions

RUN = os.path.join(
    os.environ.get("LINATTN_BIN", ROOT / "build" / "bin"), "linattn-run"
)
if not os.path.exists(RUN):
    # Who names a build wants it tested.
    if "LINATTN_BIN" in os.environ:
        raise FileNotFoundError(RUN)
    pytest.skip("linattn-run is not built", allow_module_level=True)

FILES = sorted([*ROOT.glob("examples/*.mlir"), *ROOT.glob("test/Modules/*.mlir")])
FUNCTIONS = [f for path in FILES for f in functions(path)]

GATES = ["none", "usual", "slow", "strong", "extreme", "mixed"]
LENGTHS = [0, 1, 2, 64, 65, 300]
GATED = re.compile(r'linattn\.sample = "(log_gate|linear_gate|raw_gate|a_log)"')


def axes_of(function):
    """What can be varied of a function, read off its text."""
    text = function.text
    axes = {"T": LENGTHS}
    if GATED.search(text):
        axes["gates"] = GATES
    if re.search(r"\b(state|window)\(", text):
        axes["state"] = ["random", "zero"]
    if "seqlens(" in text:
        axes["packing"] = ["one", "empties", "tail"]
    else:
        axes["B"] = [1, 2]
    if "slots(" in text:
        axes["slots"] = ["all", "padded"]
    if '"S"' in text:
        axes["keys"] = ["as many", "more"]
    return axes


# Numbers in one result. States after each token get large, and heads are alike:
# what has more, or many tokens, runs with four of them.
LARGEST = 2**22
FEW_HEADS = 4


def largest_tensor(function, case):
    """Of those with two dynamic dimensions: [B, T, ..]."""
    tokens = case.get("B", 1) * case["T"]
    shapes = re.findall(r"tensor<\?x\?x((?:\d+x)*)", function.text)
    return max(
        [tokens * np.prod([int(d) for d in re.findall(r"\d+", s)]) for s in shapes],
        default=0,
    )


def with_few_heads(function, folder):
    """The function with four heads, and so fewer of the keys where they are shared;
    as it is if it is no example of a recurrence."""
    state = re.search(r"state\(%(\w+) : tensor<\?x(\d+)x", function.text)
    if function.path.parent.name != "examples" or not state:
        return function.path
    heads = int(state[2])
    keys = re.findall(
        r"tensor<\?x\?x(\d+)x[^>]*> \{[^}]*sample = \"(?:unit_key|raw)\"", function.text
    )
    key_heads = max(1, FEW_HEADS * min(map(int, keys), default=heads) // heads)
    path = folder / function.path.name
    path.write_text(resize(function.text, heads=FEW_HEADS, key_heads=key_heads))
    return path


def cases_of(function, full):
    def wanted(case):
        # Without a token no gate is read.
        return case["T"] != 0 or case.get("gates", "usual") == "usual"

    return (cross if full else pairwise)(axes_of(function), wanted)


def options(case):
    """The command line of a case, and how its tokens fall into sequences."""
    T, line = case["T"], ["--size", f"T={case['T']}"]
    cu = slots = None
    if "packing" in case:
        cu = {
            "one": (0, T),
            "empties": (0, 0, T // 3, T // 3, T, T),
            "tail": (0, T // 2, max(T - 2, T // 2)),
        }[case["packing"]]
        line.append("--seqlens=" + ",".join(map(str, cu)))
        sequences = len(cu) - 1
    else:
        sequences = case["B"]
        line += ["--size", f"B={sequences}"]
    if "slots" in case:
        # A pool with two rows to spare, sequences in reverse.
        slots = list(range(sequences, 0, -1))
        if case["slots"] == "padded":
            slots[0] = -1
        line += ["--size", f"P={sequences + 2}", "--slots=" + ",".join(map(str, slots))]
    if "keys" in case:
        line += ["--size", f"S={T + (5 if case['keys'] == 'more' else 0)}"]
    line += [f"--{key}={case[key]}" for key in ("gates", "state") if key in case]
    return line, Sequences(cu, tuple(slots) if slots else None)


def pytest_generate_tests(metafunc):
    if "case" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--full")
    parameters, ids = [], []
    for function in FUNCTIONS:
        if not function.expression:
            continue
        for case in cases_of(function, full):
            parameters.append((function, case))
            values = "-".join(f"{k}={v}" for k, v in case.items())
            ids.append(f"{function.name}-{values}".replace(" ", "_"))
    metafunc.parametrize("function, case", parameters, ids=ids)


def test_oracle_and_numpy_agree(function, case, tmp_path):
    line, sequences = options(case)
    path = function.path
    if case["T"] >= 64 or largest_tensor(function, case) > LARGEST:
        path = with_few_heads(function, tmp_path)
    command = [
        RUN, str(path), f"--function={function.name}", *line,
        "--precision=fp64", "--lowering=serial", "--threads=1", "--save", str(tmp_path),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr}"
    with np.errstate(all="ignore"):
        errors = check_saved(function, tmp_path, sequences)
    bad = [str(e) for e in errors if not e.ok(LIMIT)]
    assert not bad, f"{' '.join(command)}\n" + "\n".join(bad)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_every_function_says_what_it_computes(function):
    assert function.expression, f"{function.path}: @{function.name} has no reference:"
