"""Random recurrences that verify: what mutated text rarely is. They need not make
sense as models; every operand, clause and operation of a step may stand anywhere."""

FLOATS = ["f16", "bf16", "f32", "f32", "f32", "f64"]
BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf"]
UNARY = ["arith.negf", "math.exp", "math.absf", "math.tanh", "math.sqrt", "math.log1p"]
UNARY += ["linattn.sigmoid", "linattn.softplus", "linattn.silu"]
CONSTANTS = ["0.0", "1.0", "-1.0", "0.5", "-0.0", "1.0e-6", "3.0e4"]
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def vector(shape, element):
    return f"vector<{'x'.join(map(str, shape))}x{element}>" if shape else element


class Step:
    """The region of one recurrence: values by (shape, element), and its text."""

    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0
        self.values = []  # (name, shape, element)
        self.states = []  # [current name, K, V, element]
        self.old = []  # earlier versions, to read

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text, shape, element):
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape, element))
        return name

    def constant(self, shape, element):
        value = self.rng.choice(CONSTANTS)
        if shape:
            value = f"dense<{value}>"
        return self.emit(
            f"arith.constant {value} : {vector(shape, element)}", shape, element
        )

    def of_shape(self, shape, element=None):
        """A value of that shape, made from others if there is none."""
        fit = [v for v in self.values if v[1] == shape and element in (None, v[2])]
        if fit and self.rng.random() < 0.9:
            return self.rng.choice(fit)
        element = element or self.rng.choice(FLOATS)
        scalars = [v for v in self.values if not v[1] and v[2] == element]
        if shape and scalars and self.rng.random() < 0.7:
            source = self.rng.choice(scalars)[0]
            text = f"vector.broadcast {source} : {element} to {vector(shape, element)}"
            return self.emit(text, shape, element), shape, element
        return self.constant(shape, element), shape, element

    def arithmetic(self):
        rng = self.rng
        name, shape, element = rng.choice(self.values)
        kind = vector(shape, element)
        action = rng.randrange(7)
        if action < 2:
            other = self.of_shape(shape, element)[0]
            a, b = rng.choice([(name, other), (other, name)])
            self.emit(f"{rng.choice(BINARY)} {a}, {b} : {kind}", shape, element)
        elif action == 2:
            op = rng.choice(UNARY)
            if len(shape) < 2 or not op.startswith("linattn"):
                self.emit(f"{op} {name} : {kind}", shape, element)
        elif action == 3:
            to = rng.choice([e for e in FLOATS if BITS[e] != BITS[element]])
            op = "arith.extf" if BITS[to] > BITS[element] else "arith.truncf"
            self.emit(f"{op} {name} : {kind} to {vector(shape, to)}", shape, to)
        elif action == 4 and len(shape) == 1:
            fold = rng.choice(["add", "mul", "maximumf"])
            self.emit(f"vector.reduction <{fold}>, {name} : {kind} into {element}", (), element)
        elif action == 5 and shape:
            at, rest = rng.randrange(shape[0]), shape[1:]
            text = f"vector.extract {name}[{at}] : {vector(rest, element)} from {kind}"
            self.emit(text, rest, element)
        elif action == 6 and len(shape) == 1:
            to = "f64" if element == "f64" else "f32"
            text = f"linattn.l2norm {name} : {kind} -> {vector(shape, to)}"
            self.emit(text, shape, to)

    def on_state(self):
        rng = self.rng
        state = rng.choice(self.states)
        current, K, V, element = state
        kind = f"!linattn.state<{K}x{V}x{element}>"
        compute = "f64" if element == "f64" else "f32"
        action = rng.randrange(5)
        if action < 2:
            read_from = rng.choice([current] + [o[0] for o in self.old if o[1:] == (K, V, element)])
            key, _, e = self.of_shape((K,))
            scale = rng.choice(["", " scale 0.125", " scale -0.0"])
            text = f"linattn.read {read_from}, {key}{scale} : {kind}, {vector((K,), e)}"
            self.emit(text, (V,), compute)
            return
        self.old.append((current, K, V, element))
        state[0] = self.name()
        if action == 2:
            gate, shape, e = self.of_shape(rng.choice([(), (K,)]))
            text = f"linattn.decay {current}, {gate}{rng.choice(['', ' linear'])}"
            text += f" : {kind}, {vector(shape, e)}"
        else:
            key, _, ke = self.of_shape((K,))
            value, _, ve = self.of_shape((V,))
            operands, kinds = f"{key}, {value}", f"{vector((K,), ke)}, {vector((V,), ve)}"
            op = "write"
            if action == 4:
                rate, shape, re = self.of_shape(rng.choice([(), (V,)]))
                operands, kinds = f"{operands}, {rate}", f"{kinds}, {vector(shape, re)}"
                op = "delta_update"
            text = f"linattn.{op} {current}, {operands} : {kind}, {kinds}"
        self.lines.append(f"{state[0]} = {text}")


def recurrence(rng):
    packed = rng.random() < 0.3
    H = rng.choice([1, 2, 4, 6])
    heads = [h for h in range(1, H + 1) if H % h == 0]
    K, V = rng.choice([1, 2, 4, 5, 8]), rng.choice([1, 3, 4, 8])
    B = rng.choice(["?", "?", "?", "2", "0"])
    T = rng.choice(["?", "?", "?", "5", "0"])
    lead = f"{T}" if packed else f"{B}x{T}"
    step, arguments, operands = Step(rng), [], {"tokens": [], "params": [], "state": []}
    step_args = []

    def operand(clause, leading, shape, element, step_type=None):
        name = f"%a{len(arguments)}"
        dims = "x".join([leading, *map(str, shape)]).strip("x")
        kind = f"tensor<{dims}x{element}>"
        arguments.append(f"{name}: {kind}")
        operands[clause].append(f"{name} : {kind}")
        inner = step.name()
        step_args.append(f"{inner}: {step_type or vector(shape, element)}")
        return inner, kind

    shapes = [(), (K,), (K,), (V,), (V,), (2, K), (2,)]
    for clause in ["tokens"] * rng.randint(1, 5) + ["params"] * rng.choice([0, 0, 1, 3]):
        shape, element = rng.choice(shapes), rng.choice(FLOATS)
        own = H if not arguments else rng.choice(heads)
        leading = f"{lead}x{own}" if clause == "tokens" else str(own)
        name, _ = operand(clause, leading, shape, element)
        step.values.append((name, shape, element))
    kinds, slots = [], rng.random() < 0.25
    sequences = "?" if packed or slots else B
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        element = rng.choice(["f32", "f32", "f64", "bf16", "f16"])
        k, v = rng.choice([(K, V), (K, V), (K, 1)])
        inner, kind = operand(
            "state", f"{sequences}x{H}", (k, v), element, f"!linattn.state<{k}x{v}x{element}>"
        )
        step.states.append([inner, k, v, element])
        kinds.append((kind, f"{H}x{k}x{v}x{element}"))
    for _ in range(rng.randint(1, 16)):
        if step.states and rng.random() < 0.45:
            step.on_state()
        else:
            step.arithmetic()

    flat = [v for v in step.values if len(v[1]) < 3]
    outputs = rng.sample(flat, min(len(flat), rng.choice([0, 1, 1, 1, 2, 3])))
    if not outputs and not kinds:
        outputs = flat[:1]
    results = [
        f"tensor<{'x'.join([lead, str(H), *map(str, s)])}x{e}>" for _, s, e in outputs
    ]
    results += [kind for kind, _ in kinds]
    clauses = f"tokens({', '.join(operands['tokens'])})"
    for clause in ["params", "state"]:
        if operands[clause]:
            clauses += f" {clause}({', '.join(operands[clause])})"
    if packed:
        offset = rng.choice(["i32", "i64"])
        arguments.append(f"%cu: tensor<?x{offset}>")
        clauses += f" seqlens(%cu : tensor<?x{offset}>)"
    if slots and kinds:
        arguments.append("%slots: tensor<?xi32>")
        padding = rng.choice(["", ", padding = -1", ", padding = -7"])
        clauses += f" slots(%slots : tensor<?xi32>{padding})"
    if kinds and rng.random() < 0.3:
        clauses += f" snapshots(every = {rng.choice([1, 1, 2, 64])})"
        rows = "?" if packed else f"{B}x?"
        results += [f"tensor<{rows}x{rest}>" for _, rest in kinds]
    yielded = [(n, vector(s, e)) for n, s, e in outputs]
    yielded += [(s[0], f"!linattn.state<{s[1]}x{s[2]}x{s[3]}>") for s in step.states]
    body = "\n    ".join(step.lines)
    return (
        f"func.func @generated({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f"  %r:{len(results)} = linattn.recurrence {clauses}\n"
        f"      -> ({', '.join(results)}) {{\n"
        f"  ^step({', '.join(step_args)}):\n    {body}\n"
        f"    linattn.yield {', '.join(n for n, _ in yielded)}"
        f" : {', '.join(k for _, k in yielded)}\n  }}\n"
        f"  return {', '.join(f'%r#{i}' for i in range(len(results)))}"
        f" : {', '.join(results)}\n}}\n"
    )
