"""A hand-written fused Gated DeltaNet forward kernel for Hopper, run on the simulator.

    gated_delta.py run      KERNEL.ptx [--timing T] [--seed N] [--tokens N] [--heads N]
    gated_delta.py repaired KERNEL.ptx ...
    gated_delta.py faults   KERNEL.ptx [--only NAME]

`run` makes inputs, runs the kernel `gdn_mc` and compares the outputs and the final
state with a token loop in double precision. `repaired` does so after three small
repairs, after which the simulator finds nothing. `faults` plants ten faults in the
repaired kernel, one after the other, and expects the simulator to find each. The kernel itself is not
part of this project: see docs/Simulator.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

SHARED_BYTES, THREADS, D = 232288, 512, 128


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def inputs(tokens, key_heads, heads):
    rng = np.random.default_rng(7)
    unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
    q = to_bf16(unit(rng.standard_normal((tokens, key_heads, D))))
    k = to_bf16(unit(rng.standard_normal((tokens, key_heads, D))))
    v = to_bf16(rng.standard_normal((tokens, heads, D)))
    x = rng.standard_normal((tokens, heads))
    g = (-np.log1p(np.exp(-x))).astype(np.float32)
    beta = (1 / (1 + np.exp(-rng.random((tokens, heads))))).astype(np.float32)
    s0 = rng.standard_normal((1, heads, D, D)).astype(np.float32)
    return q, k, v, g, beta, s0


def reference(q, k, v, g, beta, s0):
    q, k, v = (from_bf16(x).astype(np.float64) for x in (q, k, v))
    tokens, heads = g.shape
    group = heads // q.shape[1]
    o = np.zeros((tokens, heads, D))
    s = s0[0].astype(np.float64)
    for t in range(tokens):
        for h in range(heads):
            kt, qt = k[t, h // group], q[t, h // group]
            s[h] *= np.exp(np.float64(g[t, h]))
            u = np.float64(beta[t, h]) * (v[t, h] - kt @ s[h])
            s[h] += np.outer(kt, u)
            o[t, h] = qt @ s[h] * D**-0.5
    return o, s


def launch_file(directory, tokens, key_heads, heads, arrays):
    names = ["q", "k", "v", "g", "beta", "s0"]
    types = ["bf16", "bf16", "bf16", "f32", "f32", "f32"]
    buffers = []
    for name, kind, array in zip(names, types, arrays):
        np.save(os.path.join(directory, name + ".npy"), array)
        buffers.append(
            dict(name=name, type=kind, shape=list(array.shape), init="npy", file=name + ".npy")
        )
    buffers += [
        dict(name="o", type="bf16", shape=[tokens, heads, D], init="none", output=True),
        dict(name="s", type="f32", shape=[1, heads, D, D], init="none", output=True),
        dict(name="cu", type="s32", shape=[2], init="values", values=[0, tokens]),
    ]

    def tensor_map(buffer, n):
        return dict(
            tensor_map=dict(
                buffer=buffer,
                type="bf16",
                dims=[D, n, tokens],
                strides=[2 * D, 2 * D * n],
                box=[64, 1, 64],
                swizzle=128,
            )
        )

    args = [tensor_map("q", key_heads), tensor_map("k", key_heads)]
    args += [tensor_map("v", heads), tensor_map("o", heads)]
    args += [dict(buffer=b) for b in ("g", "beta", "o", "s0", "s", "cu")]
    args += [dict(type="s32", value=key_heads), dict(type="s32", value=heads)]
    args += [dict(type="f32", value=D**-0.5)]
    path = os.path.join(directory, "launch.json")
    with open(path, "w") as f:
        json.dump(
            dict(
                kernel="gdn_mc",
                grid=[2 * heads],
                block=THREADS,
                dynamic_shared=SHARED_BYTES,
                buffers=buffers,
                args=args,
            ),
            f,
        )
    return path


def simulate(ptx, launch, directory, options):
    report = os.path.join(directory, "report.json")
    command = ["linattn-sim", ptx, launch, "--save", directory, "--json", report] + options
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 2:
        sys.exit(result.stderr)
    with open(report) as f:
        return json.load(f), result.stdout + result.stderr


def error(a, r):
    return float(np.linalg.norm(a - r) / np.linalg.norm(r))


class Fault:
    """Edits the PTX text; `finds` are kinds of findings, one of which must appear."""

    def __init__(self, name, finds, edit):
        self.name, self.finds, self.edit = name, finds, edit


def kernel_span(text):
    """The body of gdn_mc, in which the faults are planted."""
    start = text.index(".entry gdn_mc(")
    end = text.find(".visible .entry", start)
    return start, end if end >= 0 else len(text)


def replace_nth(pattern, replacement, nth=0, count=1):
    """Replaces `count` matches from the nth on (all: None)."""

    def edit(text):
        matches = list(re.finditer(pattern, text, re.M))
        chosen = matches[nth:] if count is None else matches[nth : nth + count]
        if not chosen:
            sys.exit(f"nothing matches {pattern!r}")
        for m in reversed(chosen):
            text = text[: m.start()] + m.expand(replacement) + text[m.end() :]
        return text

    return edit


def repair(body):
    """Removes what the simulator finds in the kernel as it is; docs/Simulator.md
    explains each."""
    # The consumers' lane 0 gives stages back for its whole warp.
    body = body.replace(
        "wgmma.wait_group.sync.aligned 1;",
        "wgmma.wait_group.sync.aligned 1;\nbar.warp.sync -1;",
    )
    # They zero the rows past the end, which others still read (and then do not use);
    # behind the last sequence the tensor map has filled them with zeros.
    consumer = body.index("setmaxnreg.inc")
    body = body[:consumer] + re.sub(r"st\.shared\.v4\.b32 .*;", "", body[consumer:])
    # The last 12 bytes of the decay vectors' copy are padding.
    first = body.index("mbarrier.init")
    pads = "".join(
        f"st.shared.v4.b32 [smem+{163840 + 17408 * a + 16384 + 256}], {{0, 0, 0, 0}};\n"
        for a in range(2)
    )
    return body[:first] + pads + "fence.proxy.async.shared::cta;\n" + body[first:]


EXPECT = r"(mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[%r\d+\]), %r\d+;"
TRY_WAIT = r"mbarrier\.try_wait\.parity\.shared::cta\.b64 p, \[(%r\d+)\], (%r\d+);"

FAULTS = [
    # fence: generic writes of Tm and P are read by copies and wgmma.
    Fault("no-proxy-fence", ["proxy-fence"],
          replace_nth(r"fence\.proxy\.async\.shared::cta;", "", 1, None)),
    # byte counts: the phase completes early, or never.
    Fault("too-few-bytes", ["mbarrier"], replace_nth(EXPECT, r"\1, 32768;")),
    Fault("too-many-bytes", ["deadlock"], replace_nth(EXPECT, r"\1, 40976;")),
    # phase: an auxiliary warp's wait for a chunk passes before the chunk is there.
    Fault("wrong-phase", ["shared-race"],
          replace_nth(TRY_WAIT, r".reg .b32 flipped;\nxor.b32 flipped, \2, 1;\n"
                      r"mbarrier.try_wait.parity.shared::cta.b64 p, [\1], flipped;", 6)),
    # wait: accumulators are read before their wgmma is complete.
    Fault("no-wgmma-wait", ["wgmma-register"],
          replace_nth(r"wgmma\.wait_group\.sync\.aligned 0;", "")),
    # barrier: the auxiliary warps overwrite the previous chunk's blocks.
    Fault("no-named-barrier", ["shared-race"], replace_nth(r"bar\.sync %r\d+, 128;", "", 3)),
    # arrival: one of eight that give a stage back is missing.
    Fault("missing-arrival", ["deadlock"],
          replace_nth(r"mbarrier\.arrive\.shared::cluster\.b64 _, \[%r\d+\];", "")),
    # descriptor: the stride between 8-row groups leads out of the arena.
    Fault("descriptor", ["out-of-bounds"],
          replace_nth(r"1073741888", "1073749952", 0, None)),
    # cluster: a block leaves while the other one uses its shared memory.
    Fault("no-exit-barrier", ["cluster-memory"],
          replace_nth(r"barrier\.cluster\.(arrive\.release|wait\.acquire)\.aligned;", "", 2, 2)),
    # registers: a product starts before the writes of its A registers are fenced.
    Fault("no-wgmma-fence", ["wgmma-register"],
          replace_nth(r"wgmma\.fence\.sync\.aligned;", "", 4)),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["run", "repaired", "faults"])
    parser.add_argument("ptx")
    parser.add_argument("--timing", default="random")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--only")
    args = parser.parse_args()
    key_heads = 1
    data = inputs(args.tokens, key_heads, args.heads)
    with tempfile.TemporaryDirectory() as directory:
        launch = launch_file(directory, args.tokens, key_heads, args.heads, data)
        options = ["--timing", args.timing, "--seed", args.seed]
        with open(args.ptx) as f:
            text = f.read()
        start, end = kernel_span(text)
        path = os.path.join(directory, "kernel.ptx")

        def simulate_body(body):
            with open(path, "w") as f:
                f.write(text[:start] + body + text[end:])
            return simulate(path, launch, directory, options)

        if args.action != "faults":
            body = text[start:end]
            report, output = simulate_body(repair(body) if args.action == "repaired" else body)
            print(output, end="")
            o, s = reference(*data)
            eo = error(from_bf16(np.load(os.path.join(directory, "o.npy"))), o)
            es = error(np.load(os.path.join(directory, "s.npy"))[0], s)
            print(f"relative RMS error: o {eo:.2e} state {es:.2e}")
            print(f"findings: {len(report['findings'])}")
            return 0 if eo < 5e-3 and es < 5e-3 else 1
        missed = 0
        for fault in FAULTS:
            if args.only and fault.name != args.only:
                continue
            report, output = simulate_body(fault.edit(repair(text[start:end])))
            kinds = [f["kind"] for f in report["findings"]]
            found = [k for k in fault.finds if k in kinds]
            missed += not found
            print(f"{fault.name}: {'found' if found else 'MISSED'} {sorted(set(kinds))}")
            if args.only:
                print(output)
        return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
