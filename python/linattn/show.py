"""Tables and progress bars of the command line: with rich where it is installed, as
plain text where it is not."""

import sys
from contextlib import contextmanager

try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
except ImportError:
    Console = None


def table(title, columns, rows):
    """`rows` of text under `columns`."""
    rows = [[str(cell) for cell in row] for row in rows]
    if Console is not None and sys.stdout.isatty():
        made = Table(title=title, title_justify="left")
        for i, column in enumerate(columns):
            made.add_column(column, justify="left" if i == 0 else "right")
        for row in rows:
            made.add_row(*row)
        Console().print(made)
        return
    widths = [
        max(len(c), *(len(r[i]) for r in rows)) if rows else len(c)
        for i, c in enumerate(columns)
    ]
    print(title)
    for row in [columns, *rows]:
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths))
        ]
        print("  " + "  ".join(cells).rstrip())


@contextmanager
def progress(what, total):
    """Gives a function to call when one more is done, with a word on what is next."""
    if Console is None or not sys.stderr.isatty():
        yield lambda text="": None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda text="": bar.update(task, advance=1, description=f"{what} {text}")


def seconds(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1 or unit == "us":
            return f"{value * factor:.3g} {unit}"


def count(value, unit):
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
