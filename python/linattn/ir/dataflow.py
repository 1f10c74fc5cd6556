"""Modules compared by what they compute, not by the order of their operations."""


def expressions(module):
    """Per function its type, and what it returns as an expression of its arguments;
    the steps of recurrences likewise. Equal lists mean equal modules, up to the order
    and sharing of operations. Attributes of arguments do not count."""
    return [
        (str(op.attributes["function_type"]), _block(op.regions[0].blocks[0]))
        for op in module.body.operations
        if op.name == "func.func"
    ]


def _block(block):
    known = {a: ("argument", a.index, str(a.type)) for a in block.arguments}
    return _operation(block.operations[-1], known)


def _operation(op, known):
    attributes = tuple(sorted((n, str(a)) for n, a in op.attributes.items()))
    steps = tuple(_block(b) for region in op.regions for b in region.blocks)
    operands = tuple(_value(v, known) for v in op.operands)
    return op.name, tuple(str(r.type) for r in op.results), attributes, steps, operands


def _value(value, known):
    if value not in known:
        known[value] = (value.index, _operation(value.owner, known))
    return known[value]
