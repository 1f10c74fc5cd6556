"""The loop over tokens that every recurrence shares: which sequence starts from
which state, where it begins and ends, and what is stored."""

import numpy as np

from .functions import expand_heads, f64


def scan(
    step,
    tokens,
    states,
    *,
    heads=None,
    cu_seqlens=None,
    slots=None,
    padding=-1,
    snapshots=None,
):
    """Runs `step(*states, *tokens) -> (*outputs, *states)` token by token.

    tokens: arrays [B, T, H', ...], or [T, H', ...] with cu_seqlens.
    states: pairs (array [N, H, K, V] or None for zero, (K, V)).
    heads: the largest head count where no token or state has it.
    slots: sequence n starts from and ends in state slots[n] of the pool;
      `padding` marks a sequence that does not exist.
    snapshots: "token", or a number of tokens per chunk: also returns each state
      after every token [.., T, H, K, V], or at the end of every chunk (see
      `chunk_count`).
    Inside `step` the arrays have axes [sequence, head, ...]. Returns the tuple
    (*outputs, *final states, *snapshots). Rows that no sequence covers are 0.
    """
    tokens = [f64(x) for x in tokens]
    packed = cu_seqlens is not None
    if packed:
        cu_seqlens = np.asarray(cu_seqlens, dtype=np.int64)
        tokens = [x[None] for x in tokens]
    batch, length = tokens[0].shape[:2]
    for x in tokens:
        if x.shape[:2] != (batch, length):
            raise ValueError(f"tokens differ in batch or length: {x.shape[:2]}")
    counts = [x.shape[2] for x in tokens] + [
        s.shape[1] for s, _ in states if s is not None
    ]
    heads = max(counts + ([heads] if heads else []))
    tokens = [expand_heads(x, heads, axis=2) for x in tokens]

    sequences = len(cu_seqlens) - 1 if packed else batch
    pools = [
        np.zeros((sequences, heads, *shape)) if s is None else f64(s).copy()
        for s, shape in states
    ]
    for pool, (_, shape) in zip(pools, states):
        if pool.shape[1:] != (heads, *shape):
            raise ValueError(f"state {pool.shape} is not [N, {heads}, {shape}]")
    rows = np.arange(sequences) if slots is None else np.asarray(slots, np.int64)
    live = np.flatnonzero(rows != padding) if slots is not None else rows

    # What a token yields, from one that is all zero: T may be 0.
    with np.errstate(all="ignore"):
        probe = step(
            *(np.zeros((1, heads, *shape)) for _, shape in states),
            *(np.zeros((1, *x.shape[2:])) for x in tokens),
        )
    n_out = len(probe) - len(states)
    outputs = [np.zeros((batch, length, *p.shape[1:])) for p in probe[:n_out]]
    chunk = {None: 0, "token": 1}.get(snapshots, snapshots)
    per_row = 0
    if chunk:
        per_row = chunk_count(length, chunk, cu_seqlens)
    taken = [np.zeros((batch, per_row, *p.shape[1:])) for p in pools] if chunk else []

    def run(batch_rows, first, last, pool_rows, first_snapshot):
        S = [pool[pool_rows] for pool in pools]
        for t in range(first, last):
            result = step(*S, *(x[batch_rows, t] for x in tokens))
            S = list(result[n_out:])
            for o, value in zip(outputs, result[:n_out]):
                o[batch_rows, t] = value
            done = t + 1 - first
            if chunk and (done % chunk == 0 or t + 1 == last):
                for snapshot, s in zip(taken, S):
                    snapshot[batch_rows, first_snapshot + (done - 1) // chunk] = s
        for pool, s in zip(pools, S):
            pool[pool_rows] = s

    if packed:
        for n in live:
            first, last = cu_seqlens[n], cu_seqlens[n + 1]
            before = first if chunk == 1 else first // chunk + n if chunk else 0
            run(np.array([0]), first, last, rows[n : n + 1], before)
        outputs = [o[0] for o in outputs]
        taken = [s[0] for s in taken]
    elif len(live):
        run(live, 0, length, rows[live], 0)
    return (*outputs, *pools, *taken)


def chunk_count(length, chunk, cu_seqlens=None):
    """Snapshots of `length` tokens, `chunk` tokens apart. Packed sequences each
    begin a chunk of their own; sequence n begins at cu_seqlens[n] // chunk + n,
    which leaves room for every one of them without a scan."""
    if chunk == 1:
        return length
    if cu_seqlens is None:
        return -(-length // chunk)
    return length // chunk + len(cu_seqlens) - 1


def written_rows(batch, length, cu_seqlens=None, slots=None, padding=-1):
    """The tokens that some sequence covers: bool [B, T], or [T] packed."""
    if cu_seqlens is None:
        mask = np.ones((batch, length), dtype=bool)
        if slots is not None:
            mask[np.asarray(slots) == padding] = False
        return mask
    mask = np.zeros(length, dtype=bool)
    for n in range(len(cu_seqlens) - 1):
        if slots is None or slots[n] != padding:
            mask[cu_seqlens[n] : cu_seqlens[n + 1]] = True
    return mask
