# What linattn-run says to a wrong command line, module or input, and that it
# ends with exit code 2 then.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import module

packed = write_module("packed", module("gated_deltanet"))
pool = write_module("pool", module("deltanet", packed=False, padding=-1))


def refuse(*args, message):
    done = call(*args)
    assert done.returncode == 2, (args, done.returncode, done.stderr)
    assert message in done.stderr, (args, done.stderr)
    assert done.stdout == "", done.stdout


def save(name, array):
    path = os.path.join(WORK, name + ".npy")
    np.save(path, array)
    return path


def text(name, contents):
    path = os.path.join(WORK, name)
    with open(path, "wb") as f:
        f.write(contents)
    return path


# The command line.
refuse(message="Not enough positional command line arguments")
refuse(packed, "--frob", message="Unknown command line argument '--frob'")
refuse(packed, "--gates=wild", message="for the --gates option: is one of none, usual, slow, strong, extreme, mixed, got 'wild'")
refuse(packed, "--state=one", message="for the --state option: is one of random, zero, got 'one'")
refuse(packed, "--seed=x", message="for the --seed option: takes a whole number from 0 to 18446744073709551615, got 'x'")
refuse(packed, "--repeat=0", message="error: --repeat is at least 1, got 0")
refuse(
    packed,
    "--mma=bf16",
    message="error: --chunk, --mma, --keep-rounding, --rounding-model and --hoist belong to "
    "--lowering=chunkwise, got --lowering=serial",
)
refuse(
    packed,
    "--lowering=chunkwise",
    "--chunk=48",
    message="error: --chunk is 16, 32, 64 or 128, got 48",
)
refuse(
    packed,
    "--lowering=chunkwise",
    "--mma=fp8",
    message="error: --mma is f32, tf32x3, bf16, f16 or bf16x2, got fp8",
)
refuse(packed, "--slots=a", message="for the --slots option: takes a whole number from -9223372036854775808 to 9223372036854775807, got 'a'")
refuse(
    packed, "--device=abacus",
    message="error: nothing here runs --device=abacus --lowering=serial "
    "--precision=fp32; there are: --device=cpu --lowering=serial",
)
refuse(packed, "--lowering=magic", message="error: nothing here runs --device=cpu")
refuse(packed, "--precision=fp8", message="error: nothing here runs --device=cpu")
# Given twice: two values, and neither is taken silently.
refuse(packed, "--seed=1", "--seed", "2", message="error: --seed is given once, got '1' and '2'")
refuse(packed, "--seqlens=0,4", "--seqlens=8", message="error: --seqlens is given once, got '0,4' and '8'")
refuse(pool, "--slots", "0,1", "--slots=2", message="error: --slots is given once, got '0,1' and '2'")
refuse(packed, "--plan=slice=32", "--plan=chunk=16", message="error: --plan is given once, got 'slice=32' and 'chunk=16'")
refuse(packed, "--gates=none", "--gates=slow", message="error: --gates is given once, got 'none' and 'slow'")
refuse(packed, "--verify", "--verify", message="error: --verify is given once, got no value and no value")
refuse(packed, "--size=N=1", "--size=N=2", message="error: dimension N is 1 by --size, but 2 by --size")

# The module.
refuse("/nowhere.mlir", message="error: cannot open '/nowhere.mlir': No such file or directory\n")
refuse(text("bad.mlir", b"func.func @f("), message="bad.mlir:1:13: error: expected")
refuse(text("empty.mlir", b""), message="error: the module has no public function")
refuse(packed, "--function=f", message="error: --function=f: no such function with a body; there are: @gated_deltanet")
refuse(
    text("scalar.mlir", b"func.func @f(%x: f32) { return }"),
    message="error: argument '0' is a ranked tensor of f16, bf16, f32, f64, i32 or i64, got f32",
)

# Sizes.
refuse(
    packed,
    "--size=T=50",
    message="error: dimension N (dimension 0 of argument 'cu') has no size; the "
    "sequences are packed: give their offsets with --seqlens=0,.., or how many "
    "there are with --size N=NUMBER to have offsets drawn",
)
refuse(packed, "--size=N=2", message="error: seqlens 'cu' have no tokens to count; give offsets with --seqlens=0,.. or the number of tokens with --size")
refuse(packed, "--size=N", message="error: --size takes NAME=NUMBER, got 'N'")
refuse(packed, "--size=M=2", message="error: --size M=2: no dimension has this name; there are: N, T; the sequences are packed: --seqlens=0,.. gives offsets")
refuse(pool, message="error: dimension B (dimension 0 of argument 'slots') has no size; give it with --size B=NUMBER or an --input")
refuse(packed, "--size=T=-1", message="error: dimension T is from 0 to 9223372036854775807, got -1 from --size")
refuse(packed, "--size=T=9223372036854775808", message="error: dimension T is from 0 to 9223372036854775807, got 9223372036854775808 from --size")
refuse(packed, "--size=T=five", message="error: --size takes NAME=NUMBER, got 'T=five'")
static = text(
    "static.mlir",
    b"""func.func @f(%x: tensor<?x64x1x4xf32> {linattn.name = "x"}) -> tensor<?x64x1x4xf32> {
  %o = linattn.recurrence tokens(%x : tensor<?x64x1x4xf32>) -> (tensor<?x64x1x4xf32>) {
  ^step(%xt: vector<4xf32>):
    linattn.yield %xt : vector<4xf32>
  }
  return %o : tensor<?x64x1x4xf32>
}
""",
)
refuse(static, "--size=B=1,T=50", message="error: dimension T (dimension 1 of argument 'x') is static, 64, got 50 from --size")
assert call(static, "--size=B=1,T=64").returncode == 0
refuse(packed, "--size=N=3", "--seqlens=0,4", message="error: dimension N is 3 by --size, but 1 by --seqlens")
refuse(packed, "--size=T=4000000000000000000", "--seqlens=0,1", message="does not fit in memory")

# Offsets and slots.
refuse(packed, "--seqlens=1,4", message="error: seqlens 'cu' start at 0, got 1")
refuse(packed, "--seqlens=0,4,3", message="error: seqlens 'cu' do not decrease, got 4 before 3 at element 2")
refuse(packed, "--seqlens=0,9", "--size=T=8", message="error: seqlens 'cu' do not pass the rows of their tokens, 8, got 9")
refuse(packed, "--seqlens=0,5000000000", message="error: argument 'cu' is i32, got 5000000000 at element 1")
refuse(packed, "--seqlens=0,4", "--slots=1", message="error: --slots: @gated_deltanet has no slots")
refuse(pool, "--seqlens=0,4", message="error: --seqlens: @deltanet has no seqlens")
refuse(pool, "--size=T=1,P=2", "--slots=0,2", message="error: slots 'slots' are the padding -1 or a state of the pool, 0 to 1, got 2 at element 1")
refuse(pool, "--size=T=1", "--slots=0,-2", message="got -2 at element 1")
refuse(pool, "--size=T=1", "--slots=3,-1,3", message="error: slots 'slots' name a state once, got 3 at elements 0 and 2")
refuse(pool, "--size=T=1,B=3,P=2", message="error: argument 'slots': 3 sequences need as many slots, but the pool has 2; give slots with --slots or a larger P")

# Files.
q = save("q", np.zeros((4, 2, 8), np.float32))
refuse(packed, "--input=q", message="error: --input takes ARGUMENT=FILE.npy, got 'q'")
refuse(packed, f"--input=z={q}", message=": no argument has this name; there are: q, k, v, g, beta, s0, cu")
refuse(packed, "--input=q=/nowhere.npy", message="error: /nowhere.npy: cannot be read: No such file or directory")
refuse(packed, f"--input=q={q}", f"--input=q={q}", message=f"error: --input: argument 'q' is given once, got '{q}' and '{q}'")
refuse(packed, f"--input=q={q}", "--size=T=5", message=f"error: dimension T is 5 by --size, but 4 by {q}")
refuse(packed, f"--input=k={save('k', np.zeros((4, 2, 7), np.float32))}", message="error: dimension 2 of argument 'k' is 8, got 7 from ")
refuse(packed, f"--input=k={save('k', np.zeros((4, 2)))}", message="error: argument 'k' has 3 dimension(s), got 2 (4x2) from ")
refuse(packed, f"--input=cu={save('cu', np.zeros(3))}", message="error: argument 'cu' is i32, got f64 from ")
refuse(packed, f"--input=q={save('i', np.zeros((4, 2, 8), np.int32))}", message="error: argument 'q' is f32, got i32 from ")
wide = save("wide", np.zeros((4, 2, 8)))
refuse(packed, f"--input=q={wide}", message=f"error: argument 'q' is f32, got f64 from {wide}; give --round-inputs to have it rounded")
assert call(packed, f"--input=q={wide}", "--seqlens=0,4", "--round-inputs").returncode == 0
refuse(packed, f"--input=cu={save('cu', np.array([0, 2**40]))}", message="error: argument 'cu' is i32, got 1099511627776 at element 1")
refuse(packed, f"--input=cu={save('cu', np.array([0, 4]))}", "--seqlens=0,4", message="error: argument 'cu' is given twice: by --input and by --seqlens")
refuse(packed, f"--input=q={save('f', np.asfortranarray(np.zeros((4, 2, 8))))}", message="f.npy: fortran_order is False here (row-major), got True; save numpy.ascontiguousarray of it")
refuse(packed, f"--input=q={save('b', np.zeros((4, 2, 8), '>f4'))}", message="b.npy: the element type is one of <f2 <f4 <f8 <i4 <i8, got '>f4'")
whole = open(q, "rb").read()
refuse(packed, f"--input=q={text('cut.npy', whole[:200])}", message="cut.npy: 4x2x8 of <f4 has 256 bytes, but 72 follow the header")
refuse(packed, f"--input=q={text('zip.npy', b'PK' + whole)}", message="zip.npy: not a .npy file")

negative = whole.replace(b"'shape': (4, 2, 8), }", b"'shape': (4, -2, 8),}")
refuse(packed, f"--input=q={text('negative.npy', negative)}", message="negative.npy: the header has a negative size in 'shape', got -2\n")

# What a pass refuses is told by its place in the file, not by the module in the
# middle of the pass.
snapshots = write_module(
    "snapshots",
    """func.func @f(%k: tensor<?x?x1x4xf32>, %s0: tensor<?x1x4x4xf32>)
    -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x?x1x4x4xf32>) {
  %o:3 = linattn.recurrence tokens(%k : tensor<?x?x1x4xf32>)
      state(%s0 : tensor<?x1x4x4xf32>) snapshots(every = 1)
      -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x?x1x4x4xf32>) {
  ^step(%kt: vector<4xf32>, %s: !linattn.state<4x4xf32>):
    %s1 = linattn.write %s, %kt, %kt : !linattn.state<4x4xf32>, vector<4xf32>, vector<4xf32>
    linattn.yield %kt, %s1 : vector<4xf32>, !linattn.state<4x4xf32>
  }
  return %o#0, %o#1, %o#2 : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x?x1x4x4xf32>
}
""",
)
refuse(
    snapshots, "--size=B=1,T=4", "--lowering=chunkwise",
    message="error: has no chunk form: 'snapshots' takes states at ends of chunks only",
)
done = call(snapshots, "--size=B=1,T=4", "--lowering=chunkwise")
assert "see current operation" not in done.stderr, done.stderr
done = call(snapshots, "--size=B=1,T=4", "--lowering=chunkwise", "--mlir-print-op-on-diagnostic=true")
assert "see current operation" in done.stderr, done.stderr

# Places that cannot be written.
sizes = [packed, "--seqlens=0,4"]
refuse(*sizes, "--save=/dev/null/x", message="error: --save /dev/null/x: cannot be created: Not a directory")
refuse(*sizes, "--json=/nowhere/x.json", message="error: --json /nowhere/x.json: cannot be written: No such file or directory")
