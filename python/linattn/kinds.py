"""What a parameter of a step is: written as an annotation or in `kinds=`.

    def step(S: State, z: State["K", 1], q: Token["K"], g, A_log: Param): ..

A parameter without annotation is a token operand, the first one the state.
Shapes: "K", "V", numbers; nothing for a number per token (or head)."""

from dataclasses import dataclass

from .errors import TraceError


@dataclass(frozen=True)
class Kind:
    role: str  # token, param or state
    shape: tuple | None = None  # None: from its use or its array

    def __getitem__(self, shape):
        shape = shape if isinstance(shape, tuple) else (shape,)
        for size in shape:
            if not (size in ("K", "V") or isinstance(size, int) and size > 0):
                raise TraceError(
                    f"a shape is made of 'K', 'V' and positive numbers, got {size!r}"
                )
        most = 2 if self.role != "param" else 1
        if len(shape) > most:
            raise TraceError(f"a {self.role} has at most {most} sizes, got {shape!r}")
        return Kind(self.role, shape)

    def __call__(self, *shape):
        return self[shape] if shape else Kind(self.role, ())


State = Kind("state")
Token = Kind("token")
Param = Kind("param")


def parse_kind(text, role="token"):
    """'number', 'K', 'V', '2xK', or the same behind 'param '."""
    if isinstance(text, Kind):
        return text
    if not isinstance(text, str):
        raise TraceError(f"a kind is text or State, Token, Param; got {text!r}")
    words = text.split()
    if words and words[0] in ("token", "param"):
        role, words = words[0], words[1:]
    body = "".join(words)
    if body in ("", "number"):
        return Kind(role, ())
    sizes = tuple(int(p) if p.isdigit() else p for p in body.split("x"))
    return Kind(role)[sizes]
