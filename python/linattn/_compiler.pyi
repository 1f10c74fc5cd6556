"""MLIR with the linattn dialect, and the compiler."""

from collections.abc import Sequence

from linattn.errors import CompileError as CompileError


class Context:
    """Holds types and attributes; knows every dialect of MLIR and linattn's."""

    def __init__(self) -> None: ...

    @property
    def allow_unregistered_dialects(self) -> bool: ...

    @allow_unregistered_dialects.setter
    def allow_unregistered_dialects(self, arg: bool, /) -> None: ...

class Type:
    """A type of MLIR."""

    @staticmethod
    def parse(text: str, context: Context) -> Type: ...

    @staticmethod
    def state(keys: int, values: int, element_type: Type) -> Type:
        """!linattn.state<KxVxelement>"""

    @property
    def is_state(self) -> bool: ...

    @property
    def keys(self) -> int: ...

    @property
    def values(self) -> int: ...

    @property
    def element_type(self) -> Type | None:
        """Of a state, tensor, vector or memref; else None."""

    @property
    def shape(self) -> list[int] | None:
        """Sizes, -1 where one is dynamic; None where there is no shape."""

    @property
    def context(self) -> Context: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Attribute:
    """An attribute of MLIR."""

    @staticmethod
    def parse(text: str, context: Context) -> Attribute: ...

    @staticmethod
    def string(text: str, context: Context) -> Attribute: ...

    @staticmethod
    def precision(mma: str, solve: str, context: Context) -> Attribute:
        """#linattn.precision; f32, tf32x3, bf16, f16 or bf16x2"""

    @property
    def string_value(self) -> str | None: ...

    @property
    def context(self) -> Context: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Location:
    """Where an operation comes from."""

    @staticmethod
    def file(file: str, line: int, column: int, context: Context) -> Location: ...

    @staticmethod
    def unknown(context: Context) -> Location: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Value:
    """A result of an operation, or an argument."""

    @property
    def type(self) -> Type: ...

    @property
    def owner(self) -> Operation | None:
        """The operation that gives it; None for an argument."""

    @property
    def index(self) -> int:
        """Its place among the results or arguments."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

class Operation:
    """An operation."""

    @staticmethod
    def create(name: str, location: Location, operands: Sequence[Value] = [], results: Sequence[Type] | None = None, attributes: dict = {}, regions: int = 0) -> Operation:
        """
        An operation that is in no block yet. `results` are types; None infers them.
        """

    @property
    def name(self) -> str: ...

    @property
    def operands(self) -> list[Value]: ...

    @property
    def results(self) -> list[Value]: ...

    @property
    def result(self) -> Value: ...

    @property
    def attributes(self) -> dict: ...

    def set_attribute(self, name: str, value: Attribute) -> None: ...

    @property
    def regions(self) -> list[Region]: ...

    @property
    def location(self) -> Location: ...

    def verify(self) -> None:
        """Raises CompileError if the operation is wrong."""

    def to_text(self, generic: bool = False, locations: bool = False) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

class Block:
    """A list of operations, with arguments."""

    @property
    def arguments(self) -> list[Value]: ...

    @property
    def operations(self) -> list[Operation]: ...

    def append(self, operation: Operation) -> Operation:
        """Puts an operation at the end and returns it."""

class Region:
    """A list of blocks."""

    @property
    def blocks(self) -> list[Block]: ...

    def append_block(self, types: Sequence[Type], location: Location) -> Block: ...

class Artifact:
    """Code of one function; None for a part that it does not have."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> object: ...

    @property
    def object(self) -> object: ...

    @property
    def header(self) -> object: ...

    @property
    def ptx(self) -> object: ...

    @property
    def cubin(self) -> object: ...

class LoadedKernel:
    """An object file, loaded into this process."""

    @property
    def entry(self) -> int: ...

    @property
    def sizes(self) -> int: ...

def load_object(object: bytes, function: str) -> LoadedKernel: ...

class Module:
    """A module of MLIR."""

    @staticmethod
    def parse(source: object, context: Context, file_name: str = 'module.mlir') -> Module:
        """From text or bytecode; verified."""

    @staticmethod
    def create(location: Location) -> Module:
        """An empty one."""

    @property
    def operation(self) -> Operation: ...

    @property
    def body(self) -> Block: ...

    @property
    def context(self) -> Context: ...

    def clone(self) -> Module: ...

    def to_bytecode(self) -> bytes: ...

    def run(self, pipeline: str) -> None:
        """
        Runs a textual pipeline, such as 'builtin.module(linattn-normalize)'. Handles into the module are stale afterwards.
        """

    def compile(self, target: str, lowering: str = 'serial', function: str | None = None, cpu: str = 'native', mma: str | None = None, plan: str | None = None, chunk: int = 64, keep_rounding: bool = False, widen: bool = False, assemble: bool = True, tool_path: str | None = None, sequences: int = 0, tokens: int = 0) -> Artifact: ...
