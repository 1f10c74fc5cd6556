"""Builds any module of the dialect, and of MLIR's own ones.

    from linattn import ir
    from linattn.ir import ops

    ctx = ir.Context()
    module = ir.Module.create(ir.here(ctx))
    f32 = ir.Type.parse("f32", ctx)
    with ir.at_end(module.body):
        ...
        s1 = ops.decay(s, g)

Operations get the line of the user's program that made them, so the errors of
`Operation.verify` and of passes point there. `str(module.operation)`,
`module.to_bytecode()` and `ir.Module.parse` exchange modules with other packages of
MLIR; `module.operation.to_text(generic=True)` reads everywhere, also where the
dialect is not known."""

import threading
from contextlib import contextmanager

from ..errors import CompileError
from ..native import compiler as _compiler
from ..source import user_frame

_native = _compiler()
Attribute = _native.Attribute
Block = _native.Block
Context = _native.Context
Location = _native.Location
Module = _native.Module
Operation = _native.Operation
Region = _native.Region
Type = _native.Type
Value = _native.Value

__all__ = [
    "Attribute", "Block", "CompileError", "Context", "Location", "Module", "Operation",
    "Region", "Type", "Value", "at_end", "attribute", "create", "f32", "function",
    "here", "state", "tensor", "type", "vector",
]

_places = threading.local()


def here(context):
    """The line of the user's program that is running."""
    frame = user_frame()
    return Location.file(frame.f_code.co_filename, frame.f_lineno, 1, context)


@contextmanager
def at_end(block):
    """Where `create` and the functions of `ops` put operations meanwhile."""
    stack = _places.__dict__.setdefault("stack", [])
    stack.append(block)
    try:
        yield block
    finally:
        stack.pop()


def _place():
    stack = _places.__dict__.get("stack")
    return stack[-1] if stack else None


def type(text, context):
    """A type from its text."""
    return Type.parse(text, context)


def attribute(text, context):
    """An attribute from its text."""
    return Attribute.parse(text, context)


def f32(context):
    return Type.parse("f32", context)


def state(keys, values, element):
    """!linattn.state<keys x values x element>"""
    return Type.state(keys, values, element)


def vector(*sizes, element):
    return Type.parse("vector<" + "".join(f"{s}x" for s in sizes) + f"{element}>",
                      element.context)


def tensor(*sizes, element):
    """Sizes; None or -1 for a dynamic one."""
    dims = "".join("?x" if s in (None, -1) else f"{s}x" for s in sizes)
    return Type.parse(f"tensor<{dims}{element}>", element.context)


def _attributes(attributes, context):
    return {
        name: value if isinstance(value, Attribute) else Attribute.parse(value, context)
        for name, value in attributes.items()
    }


def create(name, operands=(), results=None, attributes=None, regions=0, location=None,
           context=None):
    """Any operation, by its full name.

    results: types, or None to infer them. attributes: values of ir.Attribute or their
    text. It stands at the end of the block of `at_end`, if there is one."""
    operands = list(operands)
    if context is None:
        if operands:
            context = operands[0].type.context
        elif results:
            context = results[0].context
        elif location is None:
            block = _place()
            if block is None or not block.arguments:
                raise ValueError(f"{name}: say context=, no operand has one")
            context = block.arguments[0].type.context
    operation = Operation.create(
        name, location or here(context), operands, results,
        _attributes(attributes or {}, context), regions,
    )
    block = _place()
    return operation if block is None else block.append(operation)


def function(module, name, inputs, results, argument_attributes=(), location=None):
    """A func.func at the end of a module; returns it and its entry block.

    argument_attributes: per argument a dictionary of text, such as
    {"linattn.name": '"q"'}."""
    context = module.context
    kind = Type.parse(
        "(" + ", ".join(map(str, inputs)) + ") -> (" + ", ".join(map(str, results)) + ")",
        context,
    )
    attributes = {"sym_name": Attribute.string(name, context), "function_type": str(kind)}
    if argument_attributes:
        parts = (
            "{" + ", ".join(f"{k} = {v}" for k, v in a.items()) + "}"
            for a in argument_attributes
        )
        attributes["arg_attrs"] = "[" + ", ".join(parts) + "]"
    location = location or here(context)
    operation = Operation.create(
        "func.func", location, [], [], _attributes(attributes, context), 1
    )
    module.body.append(operation)
    return operation, operation.regions[0].append_block(list(inputs), location)
