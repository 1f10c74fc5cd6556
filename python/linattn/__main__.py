"""python -m linattn: compile, run, bench and explain recurrences in Python files.

A recurrence is FILE.py:NAME, where NAME is one of the file's recurrences or of the
ops in its dictionary OPS (`:NAME` may be left out if there is one). Sizes and types
come from the op, or from options."""

import argparse
import importlib.util
import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from .errors import Error
from .options import check_sizes
from .show import count, progress, seconds, table

EXIT_WRONG, EXIT_USAGE = 1, 2


class UsageError(Exception):
    pass


def load(text):
    """Recurrences and ops of a file, by name, and the one that is meant."""
    path, _, name = text.partition(":")
    if not Path(path).is_file():
        raise UsageError(f"no file '{path}'")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None:
        raise UsageError(f"'{path}' is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from .op import Op
    from .step import Recurrence

    found = {n: v for n, v in vars(module).items() if isinstance(v, (Recurrence, Op))}
    found.update(
        (n, v) for n, v in getattr(module, "OPS", {}).items() if isinstance(v, Op)
    )
    if not name and len(found) == 1:
        name = next(iter(found))
    if not name and Path(path).stem in found:
        name = Path(path).stem
    if not name and found:
        raise UsageError(
            f"'{path}' has {', '.join(found)}: say which, such as "
            f"{path}:{next(iter(found))}"
        )
    if name not in found:
        raise UsageError(
            f"'{path}' has no recurrence '{name}'; it has {', '.join(found) or 'none'}"
        )
    return found[name]


def pairs(text):
    """NAME=VALUE,.. as a dictionary."""
    found = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"'{part}' is not NAME=VALUE")
        found[name] = value
    return found


def at_least(least):
    """The type of an option that counts."""

    def number(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"is at least {least}, got {value}")
        return value

    return number


def lengths(text):
    return [at_least(0)(part) for part in text.split(",")]


@contextmanager
def writing(option, path):
    """What is written where an option says."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{option}: cannot write '{path}': {error.strerror}") from None


def sizes(text):
    return {name: int(value) for name, value in pairs(text).items()}


def heads(text):
    if text.isdigit():
        return int(text)
    return {name: int(value) for name, value in pairs(text).items()}


def make_op(args):
    from .op import Op, compile

    found = load(args.recurrence)
    given = {
        name: getattr(args, name)
        for name in ("K", "V", "dtype", "heads", "kinds")
        if getattr(args, name) is not None
    }
    target, lowering = args.target, args.lowering
    if isinstance(found, Op):
        op = found
        options = replace(
            op.options, target=target, lowering=lowering, chunk=args.chunk,
            **({"sizes": check_sizes(args.sizes)} if args.sizes else {}),
        )
        return Op(
            op.recurrence, options,
            **{**dict(K=op.K, V=op.V, dtype=op.dtype, heads=op.heads, kinds=op.kinds),
               **given},
            dtypes=op.dtypes, packed=op.packed, slots=op.slots, padding=op.padding,
            snapshots=op.snapshots, precision=op.precision,
        )
    given = {**dict(K=64, V=64, heads=4, dtype="f32"), **given}
    return compile(found, target=target, lowering=lowering, chunk=args.chunk,
                   sizes=args.sizes, **given)


def compile_command(args):
    op = make_op(args)
    with progress(f"compiling {op.name}", 1) as step:
        files = op.export(args.output)
        step()
    table(f"{op.name} for {op.options.target}", ["file", "bytes"],
          [(f, f.stat().st_size) for f in files])


def run_command(args):
    from . import bench

    op = make_op(args)
    if not op.options.is_cpu:
        raise UsageError("run is for the CPU; on a GPU, call the op on its arrays")
    given, calls = bench.arguments(op, args.B, args.T, args.seed, args.gates)
    with progress("running", 1) as step:
        errors, results = bench.check(op, given, calls)
        step()
    limits = [5e-3 if str(r.dtype) in ("bfloat16", "float16") else 1e-4 for r in results]
    table(
        f"{op.name}: {args.B} sequences of {args.T} tokens, {op.options.form}",
        ["result", "type", "shape", "relative RMS", "limit", "verdict"],
        [
            (i, r.dtype, "x".join(map(str, r.shape)), f"{e:.2e}", f"{limit:.0e}",
             "ok" if e <= limit else "WRONG")
            for i, (r, e, limit) in enumerate(zip(results, errors, limits))
        ],
    )
    if args.save:
        import numpy as np

        with writing("--save", args.save):
            np.savez(args.save, **{f"in_{n}": bench.wide(a) for n, a in given.items()},
                     **{f"out_{i}": bench.wide(r) for i, r in enumerate(results)})
    return 0 if all(e <= limit for e, limit in zip(errors, limits)) else EXIT_WRONG


def bench_command(args):
    from . import bench
    from .costs import machine_of

    op = make_op(args)
    if not op.options.is_cpu:
        raise UsageError("bench is for the CPU; benchmarks/ has the GPU's")
    with progress(f"{op.name}", len(args.lengths) + 1) as step:
        given, calls = bench.arguments(op, args.B, min(args.lengths[0], 256))
        errors, results = bench.check(op, given, calls)
        limits = [5e-3 if str(r.dtype) in ("bfloat16", "float16") else 1e-4 for r in results]
        if any(e > limit for e, limit in zip(errors, limits)):
            print(f"{op.name}: WRONG, relative RMS {errors}: no times", file=sys.stderr)
            return EXIT_WRONG
        step("checked")
        machine = machine_of("cpu")
        rows = bench.run(op, args.lengths, args.B, machine, step, args.budget)
    table(
        f"{op.name} on {machine.name}, {op.options.form}; relative RMS "
        + ", ".join(f"{e:.1e}" for e in errors),
        ["T", "time", "tokens/s", "bytes/s", "flop/s", "bound", "of it"],
        [
            (r["T"], seconds(r["seconds"]), f"{r['tokens_per_second']:,.0f}",
             count(r["bytes"] / r["seconds"], "B/s"),
             count(r["flops"] / r["seconds"], "flop/s"), seconds(r["bound_seconds"]),
             f"{r['bound_seconds'] / r['seconds']:.0%}")
            for r in rows
        ],
    )
    if args.json:
        about = dict(op=op.name, machine=vars(machine), errors=errors, rows=rows)
        with writing("--json", args.json):
            Path(args.json).write_text(json.dumps(about, indent=2) + "\n")
    if args.png:
        with writing("--png", args.png):
            bench.draw(rows, machine, f"{op.name}, B = {args.B}", args.png)
        print(f"drawn: {args.png}")


def explain_command(args):
    from . import code
    from .costs import bound, costs, machine_of

    op = make_op(args)
    target = op.options.target
    module = op.module()
    table(
        f"{op.name} for {target}: what its arguments are",
        ["argument", "role", "per token and head", "type"],
        [
            (a["name"], a["role"],
             "x".join(map(str, module.kinds.get(a["name"], ("", ()))[1])) or
             ("number" if a["name"] in module.kinds else ""), a["dtype"])
            for a in module.arguments
        ],
    )
    print(op.show("normal" if args.normal else "recurrence") if args.text else "", end="")
    found = costs(op, args.B, args.T, op.options.chunk)
    rows = [(name, count(value, "B")) for name, value in found.bytes.items()]
    rows.append(("all", count(found.total_bytes, "B")))
    table(f"what moves: {args.B} sequences of {args.T} tokens", ["", "bytes"], rows)
    machine = machine_of(target)
    rows = []
    for form, flops in (("serial", found.serial_flops), ("chunk", found.chunk_flops)):
        row = [form, count(flops, "flop"), f"{flops / max(found.total_bytes, 1):.3g}"]
        if machine:
            best, by = bound(machine, found, form)
            row += [seconds(best), by]
        rows.append(row)
    columns = ["form", "work", "flop/byte"]
    if machine:
        columns += ["at best", "bound by"]
    table(
        f"bounds on {machine.name} ({machine.source})" if machine
        else f"no peaks are known for {target}", columns, rows,
    )
    if args.no_compile:
        return
    folder = code.entry(module, op.options)
    about = code.description(folder, op.name)
    plan = about.get("plan", {})
    rows = [("plan", plan.get("name") or about.get("lowering", ""))]
    rows += [(n, v) for n, v in plan.items() if n != "name"]
    rows += [
        (f"kernel {launch['kernel']}", f"blocks of {launch['block']} threads")
        for launch in about.get("launches", ())
    ]
    rows += [(f"tool: {n}", v) for n, v in about["tools"].items()]
    rows += [
        (n, v) for n, v in about.get("resources", {}).items() if not isinstance(v, list)
    ]
    table("what was compiled", ["", ""], rows)


def add_common(parser):
    parser.add_argument("recurrence", metavar="FILE.py[:NAME]")
    parser.add_argument("--K", type=int, help="key channels (default: the op's, or 64)")
    parser.add_argument("--V", type=int, help="value channels")
    parser.add_argument("--heads", type=heads, help="a number, or q=16,v=32")
    parser.add_argument("--dtype", help="bf16, f16, f32 or f64")
    parser.add_argument("--kinds", type=pairs, help="such as g=K,beta=V,A_log=param")
    parser.add_argument("--target", default="cpu", help="cpu (default), sm_80, sm_90a, ..")
    parser.add_argument("--lowering", choices=["auto", "chunkwise", "serial"],
                        help="default: auto on a GPU, serial on the CPU")
    parser.add_argument("--chunk", type=int, default=64, choices=[16, 32, 64, 128])
    parser.add_argument("--sizes", type=sizes, help="what a GPU's plan is for: B=1,T=32768")


def add_sizes(parser, T):
    parser.add_argument("--B", type=at_least(1), default=2, help="sequences (default 2)")
    parser.add_argument("--T", type=at_least(0), default=T, help=f"tokens of each (default {T})")


def make_parser():
    parser = argparse.ArgumentParser(
        prog="python -m linattn", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("compile", help="write object files, PTX and cubins")
    add_common(add)
    add.add_argument("-o", "--output", default=".", help="folder (default .)")
    add.set_defaults(do=compile_command)

    add = commands.add_parser("run", help="run on drawn inputs and check against f64")
    add_common(add)
    add_sizes(add, 256)
    add.add_argument("--seed", type=at_least(0), default=0)
    add.add_argument("--gates", default="usual",
                     choices=["none", "usual", "slow", "strong", "extreme", "mixed"])
    add.add_argument("--save", metavar="FILE.npz", help="inputs and results")
    add.set_defaults(do=run_command)

    add = commands.add_parser("bench", help="time over lengths, as table and picture")
    add_common(add)
    add.add_argument("--B", type=at_least(1), default=1, help="sequences (default 1)")
    add.add_argument("--lengths", type=lengths, default="64,256,1024,4096",
                     help="tokens, by commas")
    add.add_argument("--budget", type=float, default=1.0, help="seconds per length")
    add.add_argument("--png", metavar="FILE", help="time against length, and roofline")
    add.add_argument("--json", metavar="FILE")
    add.set_defaults(do=bench_command)

    add = commands.add_parser("explain", help="arguments, bytes, work, bounds, plan")
    add_common(add)
    add_sizes(add, 4096)
    add.add_argument("--text", action="store_true", help="also print level 0")
    add.add_argument("--normal", action="store_true", help="in normal form")
    add.add_argument("--no-compile", action="store_true", help="counts only")
    add.set_defaults(do=explain_command)
    return parser


def main(arguments=None):
    args = make_parser().parse_args(arguments)
    try:
        return args.do(args) or 0
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except Error as error:
        # The compiler's own begin with the word.
        print(f"error: {str(error).removeprefix('error: ')}", file=sys.stderr)
        return EXIT_WRONG


if __name__ == "__main__":
    sys.exit(main())
