"""The operations of the dialect, one function each. Each gives its value, or its
operation where it has several results or a region."""

from ..tracing import number_text
from . import Type, at_end, create, here, vector


def _float(value):
    return f"{number_text(value)} : f64"


def _value(name, operands, results, attributes=None):
    return create(name, operands, results, attributes).result


def decay(state, gate, linear=False):
    """Diag(e^gate) S; `linear`: Diag(gate) S"""
    attributes = {"linear": "unit"} if linear else {}
    return _value("linattn.decay", [state, gate], [state.type], attributes)


def read(state, key, scale=None):
    """scale S^T key"""
    attributes = {} if scale is None else {"scale": _float(scale)}
    return _value("linattn.read", [state, key], None, attributes)


def write(state, key, value):
    """S + key value^T"""
    return _value("linattn.write", [state, key, value], [state.type])


def delta_update(state, key, value, rate):
    """S + key (rate (value - S^T key))^T"""
    return _value("linattn.delta_update", [state, key, value, rate], [state.type])


def sigmoid(x):
    return _value("linattn.sigmoid", [x], [x.type])


def softplus(x):
    return _value("linattn.softplus", [x], [x.type])


def silu(x):
    return _value("linattn.silu", [x], [x.type])


def l2norm(x, eps=1e-6):
    """x / sqrt(sum x^2 + eps)"""
    kind = x.type
    wide = "f64" if str(kind.element_type) == "f64" else "f32"
    result = vector(*kind.shape, element=Type.parse(wide, kind.context))
    return _value("linattn.l2norm", [x], [result], {"eps": _float(eps)})


def yield_(values, context=None):
    """Ends a step: outputs, then states."""
    return create("linattn.yield", values, [], context=context)


def _segments(*sizes):
    return "array<i32: " + ", ".join(str(int(s)) for s in sizes) + ">"


def _optional(*values):
    return [v for v in values if v is not None]


def _step_type(kind, leading):
    """Of one token and head, or of one head."""
    inner = kind.shape[leading:]
    return vector(*inner, element=kind.element_type) if inner else kind.element_type


def recurrence(tokens, params, states, step, results, *, seqlens=None, slots=None,
               padding=None, snapshots=None, precision=None):
    """Runs `step` over the tokens of each sequence and head.

    step: gets a value per token operand, parameter and state, and returns the list
    that it yields: outputs, then states. results: types. Returns the results."""
    operands = [*tokens, *params, *states, *_optional(seqlens, slots)]
    attributes = {
        "operandSegmentSizes": _segments(
            len(tokens), len(params), len(states), seqlens is not None, slots is not None
        )
    }
    if padding is not None:
        attributes["padding"] = f"{padding} : i64"
    if snapshots is not None:
        attributes["snapshots"] = f"{snapshots} : i64"
    if precision is not None:
        attributes["precision"] = precision
    operation = create("linattn.recurrence", operands, results, attributes, regions=1)
    lead = 2 if seqlens is not None else 3
    kinds = [_step_type(t.type, lead) for t in tokens]
    kinds += [_step_type(p.type, 1) for p in params]
    kinds += [Type.state(*s.type.shape[2:], s.type.element_type) for s in states]
    place = here(tokens[0].type.context)
    block = operation.regions[0].append_block(kinds, place)
    with at_end(block):
        yield_(step(*block.arguments), tokens[0].type.context)
    return operation.results


def short_conv(input, weight, *, bias=None, window=None, seqlens=None, activation="none"):
    """The causal depthwise convolution; [y] or [y, window after it]."""
    results = [input.type] + ([window.type] if window is not None else [])
    numbers = {"none": 0, "silu": 1}
    return create(
        "linattn.short_conv",
        [input, weight, *_optional(bias, window, seqlens)],
        results,
        {
            "activation": f"{numbers[activation]} : i32",
            "operandSegmentSizes": _segments(
                1, 1, bias is not None, window is not None, seqlens is not None
            ),
        },
    ).results


def _attention(name, operands, sizes, results, attributes, score):
    operation = create(
        name, operands, results,
        {**attributes, "operandSegmentSizes": _segments(*sizes)}, regions=1,
    )
    if score is not None:
        context = operands[0].type.context
        wide = "f64" if str(operands[0].type.element_type) == "f64" else "f32"
        index = Type.parse("index", context)
        kinds = [Type.parse(wide, context), index, index, index, index]
        block = operation.regions[0].append_block(kinds, here(context))
        with at_end(block):
            yield_([score(*block.arguments)])
    return operation.results


def _options(scale, causal, window):
    attributes = {} if scale is None else {"scale": _float(scale)}
    if causal:
        attributes["causal"] = "unit"
    if window is not None:
        attributes["window"] = f"{window} : i64"
    return attributes


def softmax_attention(query, key, value, results, *, scale=None, causal=False,
                      window=None, seqlens=None, kv_seqlens=None, score=None):
    """Softmax attention; results: the types of o and, if wanted, the log-sum-exp."""
    operands = [query, key, value, *_optional(seqlens, kv_seqlens)]
    sizes = (1, 1, 1, seqlens is not None, kv_seqlens is not None)
    return _attention("linattn.softmax_attention", operands, sizes, results,
                      _options(scale, causal, window), score)


def diff_attention(version, query, key, value, lambda_, result, *, norm=None, eps=1e-5,
                   output_scale=None, scale=None, causal=False, window=None,
                   seqlens=None, kv_seqlens=None, score=None):
    """Differential attention, version "v1" or "v2"."""
    operands = [query, key, value, lambda_, *_optional(norm, seqlens, kv_seqlens)]
    sizes = (1, 1, 1, 1, norm is not None, seqlens is not None, kv_seqlens is not None)
    attributes = _options(scale, causal, window)
    attributes["version"] = f"{ {'v1': 1, 'v2': 2}[version] } : i32"
    attributes["eps"] = _float(eps)
    if output_scale is not None:
        attributes["outputScale"] = _float(output_scale)
    return _attention("linattn.diff_attention", operands, sizes, [result], attributes,
                      score)[0]
