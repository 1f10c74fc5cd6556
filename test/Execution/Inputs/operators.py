"""Every recurrence of the field, packed or with slots, at small and odd sizes.

K = 8, V = 5, two heads, f32. An operator is its token operands (name, trailing
dimensions, how they are drawn), parameters, states and step.
"""

ALIASES = """
!K = vector<8xf32>
!V = vector<5xf32>
!S = !linattn.state<8x5xf32>
!Z = !linattn.state<8x1xf32>
"""

Q = ("q", "8", "unit_key")
K = ("k", "8", "unit_key")
V = ("v", "5", "value")
G = ("g", "", "log_gate")
GK = ("g", "8", "log_gate")
BETA = ("beta", "", "rate")
STATE = ("s0", "8x5")

OPERATORS = {
    "linear": (
        [Q, K, V], [], [STATE],
        """
    %s1 = linattn.write %s0, %k, %v : !S, !K, !V
    %o = linattn.read %s1, %q scale 0.35 : !S, !K
    linattn.yield %o, %s1 : !V, !S""",
    ),
    "normalized": (
        [Q, K, V], [], [STATE, ("z0", "8x1")],
        """
    %one = arith.constant dense<1.0> : vector<1xf32>
    %qa = math.absf %q : !K
    %ka = math.absf %k : !K
    %s1 = linattn.write %s0, %ka, %v : !S, !K, !V
    %z1 = linattn.write %z0, %ka, %one : !Z, !K, vector<1xf32>
    %n = linattn.read %s1, %qa : !S, !K
    %d = linattn.read %z1, %qa : !Z, !K
    %d0 = vector.extract %d[0] : f32 from vector<1xf32>
    %ds = vector.broadcast %d0 : f32 to !V
    %o = arith.divf %n, %ds : !V
    linattn.yield %o, %s1, %z1 : !V, !S, !Z""",
    ),
    "retnet": (
        [Q, K, V], [("g", "", "log_gate")], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, f32
    %s2 = linattn.write %s1, %k, %v : !S, !K, !V
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "gla": (
        [Q, K, V, GK], [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, !K
    %s2 = linattn.write %s1, %k, %v : !S, !K, !V
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "mamba2": (
        [Q, K, V, ("dt", "", "raw_gate")],
        [("A_log", "", "a_log"), ("dt_bias", "", "raw"), ("D", "", "weight")],
        [STATE],
        """
    %raw = arith.addf %dt, %dt_bias : f32
    %rate = linattn.softplus %raw : f32
    %A = math.exp %A_log : f32
    %drop = arith.mulf %A, %rate : f32
    %g = arith.negf %drop : f32
    %rates = vector.broadcast %rate : f32 to !V
    %u = arith.mulf %rates, %v : !V
    %s1 = linattn.decay %s0, %g : !S, f32
    %s2 = linattn.write %s1, %k, %u : !S, !K, !V
    %r = linattn.read %s2, %q : !S, !K
    %ds = vector.broadcast %D : f32 to !V
    %skip = arith.mulf %ds, %v : !V
    %o = arith.addf %r, %skip : !V
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "deltanet": (
        [Q, K, V, BETA], [], [STATE],
        """
    %s1 = linattn.delta_update %s0, %k, %v, %beta : !S, !K, !V, f32
    %o = linattn.read %s1, %q : !S, !K
    linattn.yield %o, %s1 : !V, !S""",
    ),
    "gated_deltanet": (
        [Q, K, V, G, BETA], [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, f32
    %s2 = linattn.delta_update %s1, %k, %v, %beta : !S, !K, !V, f32
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "gated_deltanet_channel_rate": (
        [Q, K, V, G, ("beta", "5", "rate")], [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, f32
    %s2 = linattn.delta_update %s1, %k, %v, %beta : !S, !K, !V, !V
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "kda": (
        [Q, K, V, GK, BETA], [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, !K
    %s2 = linattn.delta_update %s1, %k, %v, %beta : !S, !K, !V, f32
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "deltaproduct": (
        [Q, ("k", "8", "unit_key"), ("k2", "8", "unit_key"), V,
         ("v2", "5", "value"), G, BETA],
        [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, f32
    %s2 = linattn.delta_update %s1, %k, %v, %beta : !S, !K, !V, f32
    %s3 = linattn.delta_update %s2, %k2, %v2, %beta : !S, !K, !V, f32
    %o = linattn.read %s3, %q : !S, !K
    linattn.yield %o, %s3 : !V, !S""",
    ),
    "gdn2": (
        [Q, K, V, GK, ("b", "8", "rate"), ("w", "5", "rate")], [], [STATE],
        """
    %s1 = linattn.decay %s0, %g : !S, !K
    %bk = arith.mulf %b, %k : !K
    %r = linattn.read %s1, %bk : !S, !K
    %wv = arith.mulf %w, %v : !V
    %u = arith.subf %wv, %r : !V
    %s2 = linattn.write %s1, %k, %u : !S, !K, !V
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "comba": (
        [Q, K, ("p", "8", "unit_key"), V, G, BETA, ("beta2", "", "rate")],
        [], [STATE],
        """
    %r = linattn.read %s0, %p : !S, !K
    %s1 = linattn.decay %s0, %g : !S, f32
    %bs = vector.broadcast %beta : f32 to !V
    %b2s = vector.broadcast %beta2 : f32 to !V
    %bv = arith.mulf %bs, %v : !V
    %br = arith.mulf %b2s, %r : !V
    %u = arith.subf %bv, %br : !V
    %s2 = linattn.write %s1, %k, %u : !S, !K, !V
    %o = linattn.read %s2, %q : !S, !K
    linattn.yield %o, %s2 : !V, !S""",
    ),
    "rwkv7": (
        [Q, K, V, ("w", "8", "log_gate"), ("kappa", "8", "unit_key"),
         ("eta", "8", "rate")],
        [("bonus", "8", "weight")], [STATE],
        """
    %a = arith.negf %kappa : !K
    %b = arith.mulf %kappa, %eta : !K
    %r = linattn.read %s0, %a : !S, !K
    %s1 = linattn.decay %s0, %w : !S, !K
    %s2 = linattn.write %s1, %b, %r : !S, !K, !V
    %s3 = linattn.write %s2, %k, %v : !S, !K, !V
    %y = linattn.read %s3, %q : !S, !K
    %qk = arith.mulf %q, %k : !K
    %qku = arith.mulf %qk, %bonus : !K
    %sum = vector.reduction <add>, %qku : !K into f32
    %sums = vector.broadcast %sum : f32 to !V
    %extra = arith.mulf %sums, %v : !V
    %o = arith.addf %y, %extra : !V
    linattn.yield %o, %s3 : !V, !S""",
    ),
}


def tensor(*dims):
    return "tensor<" + "x".join([d for d in dims if d] + ["f32"]) + ">"


def step_type(dims):
    return f"vector<{dims}xf32>" if dims else "f32"


def module(name, packed=True, padding=None):
    """The operator as a function; with a padding, on a pool of slots."""
    tokens, params, states, step = OPERATORS[name]
    rows = "?" if packed else "?x?"
    operands = (
        [(n, tensor(rows, "2", d), k) for n, d, k in tokens]
        + [(n, tensor("2", d), k) for n, d, k in params]
        + [(n, tensor("?x2", d), "state") for n, d in states]
    )
    arguments = [
        f'%all_{n}: {t} {{linattn.name = "{n}", linattn.sample = "{k}"}}'
        for n, t, k in operands
    ]
    extra = ""
    if packed:
        arguments.append('%cu: tensor<?xi32> {linattn.name = "cu"}')
        extra += "seqlens(%cu : tensor<?xi32>) "
    if padding is not None:
        arguments.append('%slots: tensor<?xi32> {linattn.name = "slots"}')
        extra += f"slots(%slots : tensor<?xi32>, padding = {padding}) "

    def group(keyword, names):
        typed = [f"%all_{n} : {t}" for n, t, _ in operands if n in names]
        return f"{keyword}({', '.join(typed)}) " if typed else ""

    block = [f"%{n}: {step_type(d)}" for n, d, _ in tokens + params] + [
        f"%{n}: !linattn.state<{d}xf32>" for n, d in states
    ]
    results = [tensor(rows, "2", "5")] + [tensor("?x2", d) for _, d in states]
    types = ", ".join(results)
    return f"""{ALIASES}
func.func @{name}({", ".join(arguments)}) -> ({types}) {{
  %r:{len(results)} = linattn.recurrence
      {group("tokens", [n for n, _, _ in tokens])}
      {group("params", [n for n, _, _ in params])}
      {group("state", [n for n, _ in states])} {extra} -> ({types}) {{
  ^step({", ".join(block)}):{step}
  }}
  return {", ".join(f"%r#{i}" for i in range(len(results)))} : {types}
}}
"""


def token_names(name):
    return [n for n, _, _ in OPERATORS[name][0]]


def state_names(name):
    return [n for n, _ in OPERATORS[name][2]]


def param_names(name):
    return [n for n, _, _ in OPERATORS[name][1]]
