"""Attention with a softmax, differential attention and the short convolution, as
functions that compile like a recurrence: `softmax_attention(causal=True)` gives an
op that is called with q, k and v."""

from dataclasses import dataclass

from .code import Options
from .emit import Module, Sym, tensor
from .errors import ArgumentError, Error
from .op import FLOATS, Op
from .shapes import Shape
from .source import user_line
from .tracing import Trace, Traced, escape, lift, number_text


@dataclass(frozen=True)
class Operand:
    name: str
    dtype: str
    dims: tuple  # sizes and symbols


@dataclass(frozen=True)
class FunctionSignature:
    operands: tuple[Operand, ...]
    seqlens: str | None = None

    def __getitem__(self, name):
        return next((o for o in self.operands if o.name == name), None)


class Function:
    """A function of one operation that is not a recurrence."""

    states = ()
    kinds = {}
    samples = {}

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.file, self.line = user_line()

    def layouts(self, packed):
        """Per argument its forms: tuples of symbols and None (a fixed size)."""
        raise NotImplementedError

    def check(self, signature):
        """Raises ArgumentError; text of the operation and its result types."""

    def signature_of(self, described, seqlens):
        layouts = self.layouts(seqlens is not None)
        operands = []
        for name, (shape, _, dtype, *_) in described.items():
            forms = layouts[name]
            form = next((f for f in forms if len(f) == len(shape)), None)
            if form is None:
                words = " or ".join(describe_form(f) for f in forms)
                raise ArgumentError(f"argument '{name}' is {words}, got {list(shape)}")
            if dtype not in FLOATS:
                raise ArgumentError(
                    f"argument '{name}' is {', '.join(FLOATS[:-1])} or f64, got {dtype}"
                )
            dims = tuple(
                d if isinstance(d, Sym) else size for d, size in zip(form, shape)
            )
            operands.append(Operand(name, dtype, dims))
        return FunctionSignature(tuple(operands), seqlens)

    def module(self, signature):
        module = self._write(signature, True)
        module.text_key = self._write(signature, False).text
        return module

    def _write(self, signature, locations):
        place = f' loc("{escape(self.file)}":{self.line}:1)' if locations else ""
        body, results = self.operation(signature, locations)
        operands = list(signature.operands)
        if signature.seqlens:
            operands.append(Operand("cu", signature.seqlens, (Sym("N", 1),)))
        types = [tensor(dims, dtype) for dims, dtype in results]
        parameters = []
        for o in operands:
            sample = self.samples.get(o.name)
            extra = f', linattn.sample = "{sample}"' if sample else ""
            parameters.append(
                f'    %{o.name}: {tensor(o.dims, o.dtype)} '
                f'{{linattn.name = "{o.name}"{extra}}}{place}'
            )
        names = [f"%results#{i}" if len(types) > 1 else "%results" for i in range(len(types))]
        many = f":{len(types)}" if len(types) > 1 else ""
        text = (
            f"func.func @{self.name}(\n" + ",\n".join(parameters)
            + f")\n    -> ({', '.join(types)}) {{\n  %results{many} = {body}{place}\n"
            f"  return {', '.join(names)} : {', '.join(types)}{place}\n}}{place}\n"
        )
        arguments = [
            dict(name=o.name, said="cu_seqlens" if o.name == "cu" else o.name,
                 dtype=o.dtype, shape=list(o.dims),
                 role="seqlens" if o.name == "cu" and signature.seqlens else "input",
                 inner_contiguous=False, written=False,
                 counted="T" if o.name == "cu" and signature.seqlens else None, padding=-1)
            for o in operands
        ]
        symbols = sorted({d.name for o in operands for d in o.dims if isinstance(d, Sym)})
        return Module(
            self.name, text, arguments,
            [dict(dtype=e, rank=len(d), role="output", dims=d, in_place=-1) for d, e in results],
            symbols,
        )


def describe_form(form):
    letters = iter("HDEFG")
    return "[" + ", ".join(d.name if isinstance(d, Sym) else next(letters) for d in form) + "]"


def leading(packed, tokens="T"):
    return (Sym(tokens),) if packed else (Sym("B"), Sym(tokens))


class Attention(Function):
    """What both attentions share."""

    def __init__(self, name, arguments, scale, causal, window, score):
        super().__init__(name, arguments)
        if window is not None and not (isinstance(window, int) and window > 0):
            raise Error(f"{name}: window is a positive number of tokens, got {window!r}")
        self.scale, self.causal, self.window, self.score = scale, causal, window, score

    def clauses(self):
        text = "" if self.scale is None else f" scale {number_text(self.scale)}"
        text += " causal" if self.causal else ""
        return text + (f" window {self.window}" if self.window else "")

    def score_region(self, dtype, locations):
        if self.score is None:
            return ""
        element = "f64" if dtype == "f64" else "f32"
        trace = Trace()
        names = ["s", "b", "h", "t", "j"]
        with trace:
            values = [Traced(trace, "%s", Shape(()), element, origin="score")]
            for name in names[1:]:
                values.append(index_value(trace, name, element))
            result = lift(self.score(*values), "the score")
        if result.shape.rank or result.element != element:
            raise Error(f"{self.name}: the score is a number, got {result.described()}")
        return (
            f" score {{\n  ^score(%s: {element}, %b: index, %h: index, %t: index, "
            f"%j: index):\n{trace.text(locations)}\n    linattn.yield {result.name} : "
            f"{element}\n  }}"
        )


def index_value(trace, name, element):
    """A position as a float."""
    whole = trace.fresh("i")
    trace.record(whole, lambda: f"arith.index_cast %{name} : index to i64")
    return trace.value(
        Shape(()), element, lambda: f"arith.sitofp {whole} : i64 to {element}"
    )


class SoftmaxAttention(Attention):
    def __init__(self, scale, causal, window, score, return_lse):
        super().__init__(
            "softmax_attention", ["q", "k", "v"], scale, causal, window, score
        )
        self.return_lse = return_lse

    def layouts(self, packed):
        keys = (*leading(packed, "T" if packed else "S"), None, None)
        return {"q": [(*leading(packed), None, None)], "k": [keys], "v": [keys]}

    def operation(self, signature, locations):
        q, k, v = (signature[n] for n in self.arguments)
        if q.dims[-1] != k.dims[-1]:
            raise ArgumentError(
                f"argument 'k' has vectors of {q.dims[-1]} as 'q', got {k.dims[-1]}"
            )
        if k.dims[-2] != v.dims[-2]:
            raise ArgumentError(
                f"argument 'v' has {k.dims[-2]} heads as 'k', got {v.dims[-2]}"
            )
        if q.dims[-2] % k.dims[-2]:
            raise ArgumentError(
                f"the {k.dims[-2]} heads of 'k' do not divide the {q.dims[-2]} of 'q'"
            )
        results = [((*q.dims[:-1], v.dims[-1]), q.dtype)]
        if self.return_lse:
            results.append((q.dims[:-1], "f64" if q.dtype == "f64" else "f32"))
        text = f"linattn.softmax_attention %q, %k, %v{self.clauses()}"
        if signature.seqlens:
            text += f" seqlens(%cu : tensor<?x{signature.seqlens}>)"
        text += self.score_region(q.dtype, locations)
        types = ", ".join(tensor(o.dims, o.dtype) for o in (q, k, v))
        outs = ", ".join(tensor(d, e) for d, e in results)
        return f"{text} : ({types}) -> ({outs})", results


class DiffAttention(Attention):
    def __init__(self, version, scale, causal, window, score, norm, eps, output_scale):
        if version not in ("v1", "v2"):
            raise Error(f"diff_attention: version is 'v1' or 'v2', got {version!r}")
        if eps != 1e-5 and not norm:
            raise Error(f"diff_attention: eps belongs to norm, got {eps!r} without it")
        self.version, self.norm = version, norm
        self.eps, self.output_scale = eps, output_scale
        names = ["q", "k", "v", "lam" if version == "v1" else "l"]
        super().__init__(
            f"diff_attention_{version}", names + (["w"] if norm else []), scale, causal,
            window, score,
        )

    def layouts(self, packed):
        keys = (*leading(packed, "T" if packed else "S"), None, None)
        lam = [(None,), (*leading(packed), None)]
        return {
            "q": [(*leading(packed), None, None)], "k": [keys], "v": [keys],
            "lam": lam, "l": lam, "w": [(None,)],
        }

    def operation(self, signature, locations):
        q, k, v, lam = (signature[n] for n in self.arguments[:4])
        if q.dims[-2] % 2:
            raise ArgumentError(
                f"argument 'q' has two heads for each head, got {q.dims[-2]}"
            )
        if q.dims[-1] != k.dims[-1]:
            raise ArgumentError(
                f"argument 'k' has vectors of {q.dims[-1]} as 'q', got {k.dims[-1]}"
            )
        heads = q.dims[-2] // 2
        if lam.dims[-1] != heads:
            raise ArgumentError(
                f"argument '{lam.name}' has {heads} heads, half of those of 'q', got "
                f"{lam.dims[-1]}"
            )
        result = ((*q.dims[:-2], heads, v.dims[-1]), q.dtype)
        text = (
            f"linattn.diff_attention {self.version} %q, %k, %v, %{lam.name}{self.clauses()}"
        )
        if self.norm:
            w = signature["w"]
            text += f" norm(%w : {tensor(w.dims, w.dtype)})"
            text += "" if self.eps == 1e-5 else f" eps {number_text(self.eps)}"
        if self.output_scale is not None:
            text += f" output_scale {number_text(self.output_scale)}"
        if signature.seqlens:
            text += f" seqlens(%cu : tensor<?x{signature.seqlens}>)"
        text += self.score_region(q.dtype, locations)
        types = ", ".join(tensor(o.dims, o.dtype) for o in (q, k, v, lam))
        return f"{text} : ({types}) -> {tensor(*result)}", [result]


class ShortConv(Function):
    def __init__(self, bias, window, activation):
        if activation not in (None, "silu"):
            raise Error(f"short_conv: activation is None or 'silu', got {activation!r}")
        self.activation = activation
        names = ["x", "w"] + (["bias"] if bias else []) + (["window"] if window else [])
        super().__init__("short_conv", names)

    def layouts(self, packed):
        rows = Sym("N") if packed else Sym("B")
        return {
            "x": [(*leading(packed), None)], "w": [(None, None)], "bias": [(None,)],
            "window": [(rows, None, None)],
        }

    def operation(self, signature, locations):
        x, w = signature["x"], signature["w"]
        text, results = "linattn.short_conv %x, %w", [(x.dims, x.dtype)]
        channels = x.dims[-1]
        for o in signature.operands[1:]:
            at = 1 if o.name == "window" else 0
            if o.dims[at] != channels:
                raise ArgumentError(
                    f"argument '{o.name}' has {channels} channels as 'x', got {o.dims[at]}"
                )
            if o.name in ("bias", "window"):
                text += f" {o.name}(%{o.name} : {tensor(o.dims, o.dtype)})"
        if window := signature["window"]:
            results.append((window.dims, window.dtype))
        if signature.seqlens:
            text += f" seqlens(%cu : tensor<?x{signature.seqlens}>)"
        text += f" activation {self.activation}" if self.activation else ""
        outs = ", ".join(tensor(d, e) for d, e in results)
        return (
            f"{text} : ({tensor(x.dims, x.dtype)}, {tensor(w.dims, w.dtype)}) -> ({outs})",
            results,
        )


def softmax_attention(*, scale=None, causal=False, window=None, score=None,
                      return_lse=False, target="auto"):
    """o_t = sum_s softmax_s(scale q_t . k_s) v_s over the allowed s.

    Called with q [B, T, H, D], k [B, S, Hkv, D], v [B, S, Hkv, E]; packed [T, H, D]
    with cu_seqlens. score: maps (score, sequence, head, query, key) to the score that
    enters the softmax."""
    function = SoftmaxAttention(scale, causal, window, score, return_lse)
    return Op(function, Options(target))


def diff_attention(version="v1", *, scale=None, causal=False, window=None, score=None,
                   norm=False, eps=1e-5, output_scale=None, target="auto"):
    """One softmax map minus lambda times another; called with q, k, v and lambda (v1)
    or its logit (v2), and the weight of the norm if there is one."""
    function = DiffAttention(
        version, scale, causal, window, score, norm, eps, output_scale
    )
    return Op(function, Options(target))


def short_conv(*, bias=False, window=False, activation=None, target="auto"):
    """The causal depthwise convolution over the last W <= 4 tokens; called with x, w,
    and, where asked for, bias and window."""
    return Op(ShortConv(bias, window, activation), Options(target))
