"""Mamba-2: dt' = softplus(dt + dt_bias); S = e^{-exp(A_log) dt'} S + B (dt' x)^T;
y = S^T C + D x. B and C come in 2 groups of heads."""

import linattn
from linattn import Param, Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "x": "value", "dt": "raw_gate", "B": "unit_key", "C": "unit_key",
    "A_log": "a_log", "dt_bias": "raw", "D": "weight",
})
def mamba2(S, x: Token["V"], dt: Token(), B, C, A_log: Param(), dt_bias: Param(), D: Param()):
    rate = linattn.softplus(dt + dt_bias)
    g = -(linattn.exp(A_log) * rate)
    S = S.decay(g).write(B, rate * x)
    return S, S.read(C) + D * x


OPS = {
    "mamba2": linattn.compile(
        mamba2, K=128, V=64, heads={"x": 16, "B": 2, "C": 2}, dtype="bf16"
    ),
}

if __name__ == "__main__":
    main(OPS, reference.mamba2)
