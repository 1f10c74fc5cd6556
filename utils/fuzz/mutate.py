"""Mutations of MLIR text. Half of them keep a module well formed (another size, type
or operation throughout), so that they reach verifiers and passes; the others break
it as an editor or a bad disk would."""

import re

TOKEN = re.compile(
    r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|[%@^!#][\w.$:#-]*|[A-Za-z_][\w.$]*"
    r"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|->|\s+|."
)

NUMBERS = ["0", "1", "2", "3", "7", "64", "65", "1024", "1025", "65537", "-1", "-9"]
NUMBERS += ["2147483648", "4294967297", "9223372036854775807", "-9223372036854775808"]
NUMBERS += ["18446744073709551616", "0.0", "-0.0", "1.0e-6", "1.0e308", "1.0e999"]
NUMBERS += ["0x7FF0000000000000", "0x7FF8000000000000", "0x7FC00000"]
SIZES = ["0", "1", "2", "3", "4", "5", "8", "?", "17", "1024", "1025", "65537"]
SIZES += ["2147483648", "9223372036854775807", "[4]", "-1", "*"]
FLOATS = ["f16", "bf16", "f32", "f64"]
ELEMENTS = FLOATS + ["f8E4M3FN", "f8E5M2", "f128", "f80", "tf32", "i1", "i8", "i32", "i64"]
ELEMENTS += ["index", "complex<f32>", "vector<2xf32>", "tensor<4xf32>", "none", "si4"]
TYPES = ["tensor<*xf32>", "tensor<f32>", "tensor<4xf32>", "tensor<?x?x2x4xf32>", "f32"]
TYPES += ["vector<4xf32>", "vector<[4]xf32>", "vector<f32>", "vector<2x4xf32>", "index"]
TYPES += ["!linattn.state<4x4xf32>", "!linattn.state<4x4xf64>", "memref<?xf32>", "none"]
TYPES += ["tensor<?xi32>", "tensor<?xi64>", "() -> ()", "tuple<>", "!llvm.ptr", "i1"]
TYPES += ["tensor<?x?x2x4xf32, 1 : i32>", "complex<f32>", "tensor<?x2x4x4xf32>"]

# Operations that may stand for one another: same shape of operands and results.
SAME_FORM = [
    ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf"]
    + ["arith.maximumf", "arith.minimumf", "arith.maxnumf", "math.powf"],
    ["arith.negf", "math.exp", "math.log", "math.sqrt", "math.rsqrt", "math.tanh"]
    + ["math.absf", "math.log1p", "math.floor", "math.sin", "math.erf"]
    + ["linattn.sigmoid", "linattn.softplus", "linattn.silu", "math.cbrt"],
    ["arith.addi", "arith.muli", "arith.subi", "arith.maxsi", "arith.divsi"],
    ["arith.truncf", "arith.extf", "arith.bitcast", "arith.fptosi"],
    ["linattn.softmax_attention", "linattn.diff_attention v1"]
    + ["linattn.diff_attention v2"],
    ["<add>", "<mul>", "<maximumf>", "<minnumf>", "<maxsi>"],
]

CLAUSES = ["linear", "causal", "scale 0.5", "window 3", "eps 0.0", "activation silu"]
CLAUSES += ["snapshots(every = 1)", "snapshots(every = 3)", "padding = -1", "score {}"]
CLAUSES += ["attributes {a}", "{a}", "fastmath<fast>", "output_scale 2.0"]
CLAUSES += ["precision(<mma = bf16, solve = f32>)"]

SIZE = re.compile(r"(?<![\w.])(\d+|\?)(?=x(?:\d|\?|f|b|i|\[|v|c))")


def shrink(text):
    """Real head widths cost seconds in a lowering: small ones find the same."""
    small = {"128": "8", "256": "8", "64": "4", "32": "4", "16": "2", "24": "3"}
    pattern = re.compile(r"(?<=[<x])(\d+)(?=x)")
    return pattern.sub(lambda m: small.get(m[1], m[1]), text)


def pick_span(rng, pattern, text):
    found = list(re.finditer(pattern, text))
    return rng.choice(found) if found else None


def substitute(rng, text, pattern, choices, everywhere):
    """Another choice for one match of the pattern, or for all matches like it."""
    match = pick_span(rng, pattern, text)
    if not match:
        return text
    new = rng.choice(choices)
    if not everywhere:
        return text[: match.start()] + new + text[match.end() :]
    old = match.group(0)
    return re.sub(pattern, lambda m: new if m.group(0) == old else m.group(0), text)


def another_size(rng, text, seeds):
    return substitute(rng, text, SIZE, SIZES[:9], everywhere=True)


def one_size(rng, text, seeds):
    return substitute(rng, text, SIZE, SIZES, everywhere=False)


def another_float(rng, text, seeds):
    return substitute(rng, text, r"\b(?:b?f16|f32|f64)\b", FLOATS, everywhere=True)


def one_element(rng, text, seeds):
    pattern = r"(?<=x)(?:b?f16|f32|f64|i32|i64)\b|\b(?:f32|bf16|index)\b"
    return substitute(rng, text, pattern, ELEMENTS, everywhere=False)


def one_type(rng, text, seeds):
    pattern = r"!linattn\.state<[^<>]*>|(?:tensor|vector)<[^<>]*>"
    return substitute(rng, text, pattern, TYPES, everywhere=rng.random() < 0.3)


def another_operation(rng, text, seeds):
    group = rng.choice(SAME_FORM)
    pattern = "|".join(rf"(?<!\w){re.escape(op)}(?!\w)" for op in group)
    return substitute(rng, text, pattern, group, everywhere=rng.random() < 0.3)


def another_value(rng, text, seeds):
    names = re.findall(r"%[\w#]+", text)
    if not names:
        return text
    return substitute(rng, text, r"%[\w#]+", names, everywhere=False)


def another_number(rng, text, seeds):
    return substitute(
        rng, text, r"(?<![\w.x%@#])-?\d+(?:\.\d+)?(?:e-?\d+)?\b(?!x)", NUMBERS, False
    )


def clause(rng, text, seeds):
    match = pick_span(rng, r"linattn\.\w+ [^\n:]*?(?= :| score|\n)", text)
    if not match:
        return text
    return f"{text[: match.end()]} {rng.choice(CLAUSES)} {text[match.end() :]}"


def drop_clause(rng, text, seeds):
    match = pick_span(
        rng, r"(?:params|state|seqlens|slots|snapshots|bias|window|norm)\([^()]*\)", text
    )
    return text[: match.start()] + text[match.end() :] if match else text


def lines(rng, text, seeds):
    """Deletes, repeats or moves some lines."""
    parts = text.split("\n")
    if len(parts) < 3:
        return text
    i = rng.randrange(len(parts))
    taken = parts[i : i + rng.randint(1, 3)]
    action = rng.randrange(3)
    if action != 1:
        del parts[i : i + len(taken)]
    if action != 0:
        at = rng.randrange(len(parts) + 1)
        parts[at:at] = taken
    return "\n".join(parts)


def splice(rng, text, seeds):
    """Puts some lines of another module in."""
    other = rng.choice(seeds).split("\n")
    parts = text.split("\n")
    i = rng.randrange(len(other))
    at = rng.randrange(len(parts) + 1)
    replaced = rng.randint(0, 3)
    parts[at : at + replaced] = other[i : i + rng.randint(1, 12)]
    return "\n".join(parts)


def tokens(rng, text, seeds):
    """Deletes, repeats, swaps or replaces single tokens."""
    parts = TOKEN.findall(text)
    solid = [i for i, t in enumerate(parts) if not t.isspace()]
    if not solid:
        return text
    i, j = rng.choice(solid), rng.choice(solid)
    action = rng.randrange(5)
    if action == 0:
        parts[i] = ""
    elif action == 1:
        parts[i] += " " + parts[i]
    elif action == 2:
        parts[i], parts[j] = parts[j], parts[i]
    elif action == 3:
        parts[i] = parts[j]
    else:
        other = TOKEN.findall(rng.choice(seeds))
        parts[i] = rng.choice(other)
    return "".join(parts)


def truncate(rng, text, seeds):
    return text[: rng.randrange(len(text) + 1)]


def noise(rng, text, seeds):
    parts = list(text)
    for _ in range(rng.randint(1, 8)):
        if parts:
            parts[rng.randrange(len(parts))] = chr(rng.choice([rng.randrange(256), 0]))
    return "".join(parts)


# (mutation, weight): those that keep a module well formed come often.
MUTATIONS = [
    (another_size, 8),
    (another_float, 6),
    (another_operation, 8),
    (another_value, 8),
    (another_number, 6),
    (clause, 3),
    (drop_clause, 3),
    (one_size, 5),
    (one_element, 4),
    (one_type, 4),
    (lines, 6),
    (splice, 3),
    (tokens, 8),
    (truncate, 1),
    (noise, 1),
]


def mutate(rng, text, seeds):
    """The text, mutated once to six times; `seeds` lend lines and tokens."""
    chosen, weights = zip(*MUTATIONS)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 6])):
        text = rng.choices(chosen, weights)[0](rng, text, seeds)
    # The marker between modules belongs to the driver.
    return re.sub(r"//\s*-----", "//", text)
