"""Rewrites an example recurrence to other sizes.

    text = resize(Path("examples/kda.mlir").read_text(), K=60, V=96, heads=4,
                  key_heads=2, dtype="f32", packed=True)

K and V are the rows and columns of the first state. Which vectors of the step are
as wide follows from the operations: the key of a read has K elements, its result
V, and elementwise operations keep widths. Operands are found by the form that
every file in `examples/` has: one function, one recurrence, one operation per
statement. What has another width (the 1 of a normaliser) keeps it.
"""

import re
from dataclasses import dataclass

SHAPED = re.compile(r"(tensor|vector|!linattn\.state)<((?:[\d?]+x)+)(\w+)>")
NAME = re.compile(r"%\w+")


class Widths:
    """Sets of names whose last dimension must be the same."""

    def __init__(self):
        self.parent = {}

    def find(self, name):
        self.parent.setdefault(name, name)
        while self.parent[name] != name:
            name = self.parent[name]
        return name

    def unite(self, *names):
        for name in names[1:]:
            self.parent[self.find(name)] = self.find(names[0])


def keys(state):
    """The width of a state's rows, as a name; its columns are the state's own."""
    return "keys of " + state


@dataclass
class Statement:
    """`names` are the result and the operands, `types` what stands behind the last
    colon, with the width each type has."""

    text: str
    results: list
    operation: str
    operands: list

    @staticmethod
    def parse(text):
        head, equals, body = text.partition(" = ")
        if not equals or not head.startswith("%"):
            head, body = "", text
        operation = body.split()[0]
        operands = NAME.findall(body)
        return Statement(text, NAME.findall(head), operation, operands)

    def widths(self):
        """Names of the widths of its shaped types, in order; a state has two. Names
        that must agree are given as further tuples."""
        shaped = [m[1] for m in SHAPED.finditer(self.text)]
        ops, results = self.operands, self.results
        if self.operation in ("linattn.read", "linattn.write", "linattn.decay",
                              "linattn.delta_update"):
            state, *vectors = ops
            order = {
                "linattn.read": [keys(state)],
                "linattn.write": [keys(state), state],
                "linattn.decay": [keys(state)],
                "linattn.delta_update": [keys(state), state, state],
            }[self.operation]
            # Scalars (a gate, a rate) come last and have no shaped type.
            order = order[: len(shaped) - 1]
            same = [(o, v) for o, v in zip(order, vectors)]
            same.append((state, results[0]))
            if self.operation != "linattn.read":
                same.append((keys(state), keys(results[0])))
            return [(keys(state), state), *order], same
        if self.operation == "linattn.yield":
            states = {m.start() for m in SHAPED.finditer(self.text)
                      if m[1] == "!linattn.state"}
            widths = []
            for name, match in zip(ops, SHAPED.finditer(self.text)):
                widths.append((keys(name), name) if match.start() in states else name)
            return widths, []
        if self.operation == "vector.broadcast":
            return [results[0]] * len(shaped), []
        if self.operation == "vector.reduction":
            return [ops[0]] * len(shaped), []
        if self.operation == "vector.extract" and len(shaped) == 1:
            return [ops[0]], []
        if not shaped:
            return [], []
        return [results[0]] * len(shaped), [(results[0], *ops)]


def statements(region):
    """The statements of a step, with the lines that go on joined."""
    found = []
    for line in region.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith("//"):
            continue
        if stripped.startswith(("%", "linattn.yield")):
            found.append(stripped)
        else:
            found[-1] += " " + stripped
    return [Statement.parse(text) for text in found]


def group(text, keyword):
    """[(name, type)] of `keyword(%a : type, ..)`."""
    match = re.search(r"\b" + keyword + r"\((%[^()]*)\)", text)
    if not match:
        return []
    return re.findall(r"(%\w+) : (tensor<[^>]*>)", match[1])


def resize(text, *, K=None, V=None, heads=None, key_heads=None, dtype=None,
           packed=False):
    """See the module. `key_heads` is the head count of operands drawn as keys;
    `dtype` "f32" makes 16-bit inputs f32; `packed` packs a batch."""
    step = re.search(r"\^step\((.*?)\):\n(.*?)\n  \}", text, re.S)
    signature = re.search(r"func\.func @\w+\((.*?)\)\n?\s*->", text, re.S)[1]
    call = text[text.index("linattn.recurrence") : step.end()]
    tokens, params, states = (group(call, k) for k in ("tokens", "params", "state"))
    arguments = re.findall(r"(%\w+): ([^,()]*(?:<[^>]*>)?)", step[1])
    operands = [name for name, _ in tokens + params + states]
    renamed = dict(zip([name for name, _ in arguments], operands))
    body = statements(step[2])

    widths = Widths()
    for inner, outer in renamed.items():
        widths.unite(outer, "step " + inner)
        if outer in dict(states):
            widths.unite(keys(outer), keys("step " + inner))
    prefix = lambda n: keys("step " + n[8:]) if n.startswith("keys of ") else "step " + n
    for statement in body:
        for same in statement.widths()[1]:
            widths.unite(*map(prefix, same))
    first = states[0][0]
    wanted = {widths.find(keys(first)): K, widths.find(first): V}
    assert len(wanted) == 2, "K and V are the same width"

    def width(name, old):
        return wanted.get(widths.find(name)) or old

    samples = dict(re.findall(
        r'(%\w+): tensor<[^>]*> \{linattn\.name = "\w+", linattn\.sample = "(\w+)"', signature))
    batched = "seqlens(" not in text
    drop = 1 if packed and batched else 0
    head_dim = 2 if batched else 1
    keyed = {name for name, _ in tokens if samples.get(name) in ("unit_key", "raw")
             and widths.find(name) == widths.find(keys(first))}

    def shaped(match, name, head=None, lead=0):
        """The type `match` of `name`, whose dimension `head` counts heads."""
        dims = match[2][:-1].split("x")
        pair = isinstance(name, tuple)
        for place, part in ((-2, name[0]), (-1, name[1])) if pair else ((-1, name),):
            if part is not None and dims[place].isdigit():
                dims[place] = str(width(part, int(dims[place])))
        if head is not None and heads:
            dims[head] = str(key_heads if name in keyed and key_heads else heads)
        element = match[3]
        if dtype == "f32" and element in ("bf16", "f16"):
            element = "f32"
        return f"{match[1]}<{'x'.join(dims[lead:])}x{element}>"

    def operand(kind, name, type):
        match = SHAPED.match(type)
        rank = match[2].count("x")
        if kind == "state":
            return shaped(match, (keys(name), name), head=1)
        if kind == "param":
            return shaped(match, name if rank > 1 else None, head=0)
        vector = rank > head_dim + 1
        # A number per update ([.., n]) has no width of ours.
        return shaped(match, name if vector else None, head=head_dim, lead=drop)

    kinds = [("token", tokens), ("param", params), ("state", states)]
    types = {name: operand(kind, name, type) for kind, some in kinds for name, type in some}

    # Statements: types by their widths; casts that are none any more vanish.
    lines, alias = [], {}
    for statement in body:
        order = iter(statement.widths()[0])

        def rewrite(match):
            name = next(order)
            name = tuple(map(prefix, name)) if isinstance(name, tuple) else prefix(name)
            return shaped(match, name)

        line = SHAPED.sub(rewrite, statement.text)
        line = NAME.sub(lambda m: alias.get(m[0], m[0]), line)
        cast = re.match(r"(%\w+) = arith\.(?:truncf|extf) (%\w+) : (\S+) to (\S+)$", line)
        if not cast and dtype == "f32":
            line = re.sub(r"\bbf16\b", "f32", line)
            cast = re.match(r"(%\w+) = arith\.(?:truncf|extf) (%\w+) : (\S+) to (\S+)$", line)
        if cast and cast[3] == cast[4]:
            alias[cast[1]] = cast[2]
            continue
        lines.append("    " + line)

    # Results: outputs as what is yielded, then states, then snapshots of them.
    yielded = body[-1].operands
    results = re.search(r"->\s*\((.*?)\) \{\n\s*\^step", call, re.S)[1]
    matches = list(SHAPED.finditer(results))
    outputs = len(yielded) - len(states)
    new_results = []
    for i, match in enumerate(matches):
        if i < outputs:
            vector = match[2].count("x") > head_dim + 1
            new_results.append(shaped(match, "step " + yielded[i] if vector else None,
                                      head=head_dim, lead=drop))
        elif i < len(yielded):
            name = states[i - outputs][0]
            new_results.append(shaped(match, (keys(name), name), head=1))
        else:
            name = states[i - len(yielded)][0]
            new_results.append(shaped(match, (keys(name), name), head=head_dim, lead=drop))
    result_types = ", ".join(new_results)

    def typed(some):
        return ", ".join(f"{name} : {types[name]}" for name, _ in some)

    function = re.search(r"func\.func @(\w+)", text)[1]
    new_signature = re.sub(
        r"(%\w+): (tensor<[^>]*>)",
        lambda m: f"{m[1]}: {types.get(m[1], m[2])}", signature)
    clauses = [f"tokens({typed(tokens)})"]
    if params:
        clauses.append(f"params({typed(params)})")
    clauses.append(f"state({typed(states)})")
    if drop:
        new_signature += ',\n    %cu: tensor<?xi32> {linattn.name = "cu"}'
        clauses.append("seqlens(%cu : tensor<?xi32>)")
    clauses += re.findall(
        r"\b(?:seqlens|slots|snapshots|precision)\((?:[^()]|\([^()]*\))*\)", call)
    block = []
    for name, type in arguments:
        match = SHAPED.match(type.strip())
        outer = renamed[name]
        if not match:
            block.append(f"{name}: {type.strip()}")
        elif match[1] == "!linattn.state":
            block.append(f"{name}: {shaped(match, (keys(outer), outer))}")
        else:
            plain = outer in dict(tokens) and "x" not in match[2][:-1] and \
                SHAPED.match(types[outer])[2].count("x") <= head_dim + 1 - drop
            block.append(f"{name}: {shaped(match, None if plain else outer)}")
    body_text = "\n".join(lines)
    count = len(matches)
    returned = ", ".join(f"%r#{i}" for i in range(count))
    return (
        f"func.func @{function}(\n    {new_signature.strip()})\n    -> ({result_types}) {{\n"
        f"  %r:{count} = linattn.recurrence\n      " + "\n      ".join(clauses)
        + f"\n      -> ({result_types}) {{\n  ^step({', '.join(block)}):\n{body_text}\n  }}\n"
        f"  return {returned} : {result_types}\n}}\n"
    )
