"""What the GPU benchmarks have in common: the command line, times, the report."""

import argparse
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY_BANDWIDTH = 4.3e12  # bytes per second, read and written, of an H200


def make_timer(torch, rep):
    """Median milliseconds of a call by triton's do_bench."""
    from triton.testing import do_bench

    def median(call):
        call()
        torch.cuda.synchronize()
        return do_bench(call, warmup=15, rep=rep, return_mode="median")

    return median


def dimensions(shape, B, T):
    """A shape of a description with its sizes by name replaced."""
    sizes = {"B": B, "T": T}
    return [sizes.get(d, d) if isinstance(d, str) else d for d in shape]


def write_report(path, report):
    if path:
        path.write_text(json.dumps(report, indent=1) + "\n")


def parse(doc, folder, compile_all, run_all, add_compile, add_run):
    """The two commands; `add_..` add options of their own."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("compile", help="the kernels of all rows")
    make.add_argument("-o", dest="output", type=Path, default=Path(folder))
    make.add_argument("--target", default="sm_90a")
    make.add_argument("--tool", default=ROOT / "build" / "bin" / "linattn-compile")
    add_compile(make)
    make.set_defaults(run=compile_all)
    run = commands.add_parser("run", help="check and time them")
    run.add_argument("folder", type=Path)
    run.add_argument("--json", type=Path)
    add_run(run)
    run.set_defaults(run=run_all)
    args = parser.parse_args()
    return args.run(args)


def capture(torch, call):
    """A graph of what `call` launches, which has run once before."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph
