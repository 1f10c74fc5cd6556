"""RWKV-7: r = S^T a (undecayed); S = Diag(e^w) S + b r^T + k v^T;
o = S^T q + (sum_i q_i k_i bonus_i) v, with a = -kappa and b = kappa o eta."""

import linattn
from linattn import Param, Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "w": "log_gate",
    "kappa": "unit_key", "eta": "rate", "bonus": "weight",
})
def rwkv7(
    S, q: Token["K"], w: Token["K"], k: Token["K"], v: Token["V"], kappa: Token["K"],
    eta: Token["K"], bonus: Param["K"],
):
    r = S.read(-kappa)
    S = S.decay(w)
    S = S.write(kappa * eta, r)
    S = S.write(k, v)
    return S, S.read(q) + linattn.sum(q * k * bonus) * v


def oracle(q, w, k, v, kappa, eta, bonus, s0, **sequences):
    return reference.rwkv7(q, w, k, v, -kappa, kappa * eta, bonus, s0, **sequences)


OPS = {
    "rwkv7": linattn.compile(
        rwkv7, K=64, V=64, heads=8, dtype="bf16", dtypes={"w": "f32", "eta": "f32"}
    ),
}

if __name__ == "__main__":
    main(OPS, oracle)
