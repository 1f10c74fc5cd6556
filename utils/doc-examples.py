#!/usr/bin/env python3
"""Prints the examples that stand in the descriptions of .td files as modules that
parse, so that a test can hold the documentation against the parser.

    utils/doc-examples.py FILE.td ... | linattn-opt -split-input-file

An example is a block of ```mlir, or `..` after "Example:". Values that it uses
without a definition become arguments, of the types that the example gives them.
Exit code 1 if a type, attribute or operation has no example.
"""

import re
import sys

OPEN, CLOSE = "(<[{", ")>]}"


def split_top(text, separator=","):
    """Splits at separators outside of all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in OPEN:
            depth += 1
        elif c in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def matching(text, start):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in OPEN:
            depth += 1
        elif text[i] in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"unbalanced: {text}")


def without_regions(text):
    """The text without what stands between braces."""
    while "{" in text:
        start = text.index("{")
        text = text[:start] + text[matching(text, start) + 1 :]
    return text


def statements(text):
    """Top-level operations: (results, rest). Regions are left out."""
    flat = re.sub(r"//[^\n]*", "", without_regions(text))
    pattern = r"((?:%\w+(?:\s*,\s*%\w+)*\s*=\s*)?\b[a-z_]+\.[a-z_0-9]+\b(?!\s*<))"
    # `linattn.state` in a type is no operation: it follows a `!` or `#`.
    pattern = r"(?<![!#\w])" + pattern
    starts = [m for m in re.finditer(pattern, flat)]
    for m, following in zip(starts, starts[1:] + [None]):
        end = following.start() if following else len(flat)
        results = re.findall(r"%\w+", m.group(0).split("=")[0]) if "=" in m[0] else []
        yield results, m[0].split("=")[-1].strip(), flat[m.end() : end]


def operand_types(rest):
    """The types that an operation states for its operands, by name."""
    types = {}
    for m in re.finditer(r"(%\w+)\s*:\s*", rest):
        at = rest[: m.start()].rstrip()
        # `name(%a : type, ..)`: the type stands beside the value.
        depth = at.count("(") - at.count(")")
        if depth > 0:
            inner = rest[m.end() :]
            end = next(
                i
                for i in range(len(inner))
                if inner[i] in ",)" and not inside(inner, i)
            )
            types[m[1]] = inner[:end].strip()
    bare = re.sub(r"\w+\s*\([^()]*%[^()]*\)", "", rest)
    values, colon, listed = bare.partition(" : ")
    if not colon:
        values, colon, listed = bare.partition("\n:")
    names = re.findall(r"%\w+", values)
    listed = listed.strip()
    if listed.startswith("("):
        listed = listed[1 : matching(listed, 0)]
    else:
        listed = re.split(r"->", listed)[0]
    types.update(zip(names, split_top(listed)))
    return types


def inside(text, index):
    """Whether `index` stands inside a bracket that opened in `text`."""
    head = text[:index]
    return sum(head.count(c) for c in "<[{(") > sum(head.count(c) for c in ">]})")


def as_step(args, body):
    """A recurrence around a step: its arguments, then its operations."""
    yielded = re.search(r"linattn\.yield ([^:]*) : (.*)", body)
    types = split_top(yielded[2])
    tokens, states = ["tensor<?x?x1xf32>"], []
    for kind in types:
        state = re.match(r"!linattn\.state<(\d+x\d+x\w+)>", kind)
        if state:
            states.append(f"tensor<?x1x{state[1]}>")
        else:
            tokens.append("tensor<?x?x1x" + kind.removeprefix("vector<"))
    named = [f"%a{i} : {t}" for i, t in enumerate(tokens)]
    held = [f"%s{i} : {t}" for i, t in enumerate(states)]
    signature = ", ".join(x.replace(" : ", ": ") for x in named + held)
    results = ", ".join(tokens[1:] + states)
    inner = ", ".join(["%unused: f32"] + [f"{n}: {t}" for n, t in args])
    return (
        f"func.func @example({signature}) {{\n"
        f"  %out:{len(types)} = linattn.recurrence tokens({', '.join(named)})"
        + (f" state({', '.join(held)})" if held else "")
        + f"\n      -> ({results}) {{\n  ^step({inner}):\n    {body}\n  }}\n  return\n}}\n"
    )


def module(example):
    if example.startswith("!"):
        return f"func.func private @example({example})\n"
    if example.startswith("#"):
        return f"func.func private @example() attributes {{example = {example}}}\n"
    if "func.func" in example or "module" in example:
        return example + "\n"
    defined, args, last = set(), {}, ""
    for results, name, rest in statements(example):
        types = operand_types(rest)
        for operand in re.findall(r"%\w+", rest):
            if operand not in defined and operand not in args:
                if operand not in types:
                    raise ValueError(f"no type for {operand} in: {example}")
                args[operand] = types[operand]
        defined.update(results)
        last = name
    if last == "linattn.yield":
        return as_step(list(args.items()), example)
    signature = ", ".join(f"{name}: {kind}" for name, kind in args.items())
    return f"func.func @example({signature}) {{\n{example}\n  return\n}}\n"


def definitions(text):
    """(name, description) of each operation, type and attribute."""
    for part in re.split(r"^(?=def |class )", text, flags=re.M)[1:]:
        name = re.match(r"def (\w+)", part)
        found = re.search(r"let description = \[\{(.*?)\}\];", part, re.S)
        if name and found:
            yield name[1], found[1]


def examples(description):
    for block in re.findall(r"```mlir\n(.*?)```", description, re.S):
        lines = block.rstrip().split("\n")
        indent = min(len(x) - len(x.lstrip()) for x in lines if x.strip())
        yield "\n".join(x[indent:] for x in lines)
    for inline in re.findall(r"Example:\s*`([^`]+)`", description):
        yield inline.strip()


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    missing = []
    out = []
    for path in sys.argv[1:]:
        with open(path) as f:
            text = f.read()
        for name, description in definitions(text):
            found = list(examples(description))
            if not found and not name.endswith("_Dialect"):
                missing.append(name)
            out += [f"// {name}\n{module(example)}" for example in found]
    print("// -----\n".join(out), end="")
    for name in missing:
        print(f"doc-examples.py: {name} has no example", file=sys.stderr)
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
