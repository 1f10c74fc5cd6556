from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from .._compiler import Attribute as Attribute
from .._compiler import Block as Block
from .._compiler import Context as Context
from .._compiler import Location as Location
from .._compiler import Module as Module
from .._compiler import Operation as Operation
from .._compiler import Region as Region
from .._compiler import Type as Type
from .._compiler import Value as Value
from ..errors import CompileError as CompileError

def here(context: Context) -> Location: ...
def at_end(block: Block) -> AbstractContextManager[Block]: ...
def type(text: str, context: Context) -> Type: ...
def attribute(text: str, context: Context) -> Attribute: ...
def f32(context: Context) -> Type: ...
def state(keys: int, values: int, element: Type) -> Type: ...
def vector(*sizes: int, element: Type) -> Type: ...
def tensor(*sizes: int | None, element: Type) -> Type: ...
def create(
    name: str,
    operands: Sequence[Value] = (),
    results: Sequence[Type] | None = None,
    attributes: Mapping[str, Attribute | str] | None = None,
    regions: int = 0,
    location: Location | None = None,
    context: Context | None = None,
) -> Operation: ...
def function(
    module: Module,
    name: str,
    inputs: Sequence[Type],
    results: Sequence[Type],
    argument_attributes: Sequence[Mapping[str, str]] = (),
    location: Location | None = None,
) -> tuple[Operation, Block]: ...
