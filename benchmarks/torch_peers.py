"""Gated DeltaNet and KDA in torch, in three ways, to time against linattn.

q, k, v [B, T, H, D], beta [B, T, H], log decays g [B, T, H] (Gated DeltaNet) or
[B, T, H, D] (KDA), state [B, H, D, D], fp32; T is a multiple of the chunk.

  rows    chunks of tokens; the inverse of the triangular matrix row by row
  solve   chunks of tokens; torch.linalg.solve_triangular, and everything that
          does not need the state as products over all chunks at once
  loop    token after token

Letters as in docs/Algebra.md.
"""

import torch

CHUNK, BLOCK = 64, 16


def chunks(x):
    """[B, T, H, ..] as [B, H, T / C, C, ..]."""
    x = x.transpose(1, 2)
    b, h, t = x.shape[:3]
    return x.reshape(b, h, t // CHUNK, CHUNK, *x.shape[3:]).contiguous()


def tokens(o):
    """[B, H, N, C, V] as [B, T, H, V]."""
    b, h, n, c, v = o.shape
    return o.reshape(b, h, n * c, v).transpose(1, 2).contiguous()


def invert_rows(a):
    """(I - a)^-1 of strictly lower triangular a, in place, row by row."""
    for i in range(1, a.shape[-1]):
        row = a[..., i, :i].clone()
        known = a[..., :i, :i].clone()
        a[..., i, :i] = row + (row.unsqueeze(-1) * known).sum(-2)
    return a + torch.eye(a.shape[-1], dtype=a.dtype)


def solve_unit_lower(a, *sides):
    """(I - a)^-1 applied to all right-hand sides at once."""
    eye = torch.eye(a.shape[-1], dtype=a.dtype)
    solved = torch.linalg.solve_triangular(
        eye - a, torch.cat(sides, -1), upper=False, unitriangular=True
    )
    return solved.split([side.shape[-1] for side in sides], -1)


def run_chunks(s, reads, p, u, w, last, ends):
    """The loop over chunks: U = u - w S, O = reads S + P U, S = last S + ends^T U."""
    outputs = []
    for i in range(u.shape[2]):
        update = u[:, :, i] - w[:, :, i] @ s
        outputs.append(reads[:, :, i] @ s + p[:, :, i] @ update)
        s = last[:, :, i] * s + ends[:, :, i].transpose(-1, -2) @ update
    return tokens(torch.stack(outputs, 2)), s


def gated_delta_chunks(q, k, v, g, beta, s, scale, inverse):
    q, k, v, g, beta = map(chunks, (q * scale, k, v, g, beta))
    sums = g.cumsum(-1)
    gamma = (sums.unsqueeze(-1) - sums.unsqueeze(-2)).tril().exp().tril()
    kb = k * beta.unsqueeze(-1)
    vb = v * beta.unsqueeze(-1)
    a = -(kb @ k.transpose(-1, -2) * gamma).tril(-1)
    kd = kb * sums.exp().unsqueeze(-1)
    if inverse == "rows":
        t = invert_rows(a)
        u, w = t @ vb, t @ kd
    else:
        u, w = solve_unit_lower(a, vb, kd)
    p = q @ k.transpose(-1, -2) * gamma
    end = sums[..., -1:]
    return run_chunks(
        s,
        q * sums.exp().unsqueeze(-1),
        p,
        u,
        w,
        end.exp().unsqueeze(-1),
        k * (end - sums).exp().unsqueeze(-1),
    )


def gated_delta_loop(q, k, v, g, beta, s, scale):
    q, k, v, g, beta = (x.transpose(1, 2) for x in (q * scale, k, v, g, beta))
    decay, outputs = g.exp(), []
    for t in range(q.shape[2]):
        s = s * decay[:, :, t, None, None]
        error = v[:, :, t] - (s * k[:, :, t, :, None]).sum(-2)
        s = s + k[:, :, t, :, None] * (error * beta[:, :, t, None]).unsqueeze(-2)
        outputs.append((s * q[:, :, t, :, None]).sum(-2))
    return torch.stack(outputs, 1), s


def kda_products_by_column(x, y, sums):
    """sum_i x_ri y_ci e^(G_ri - G_ci) for r >= c, column by column."""
    p = torch.zeros(*x.shape[:-1], CHUNK, dtype=x.dtype)
    for c in range(CHUNK):
        drop = (sums - sums[..., c : c + 1, :]).clamp(max=0).exp()
        p[..., c] = ((x * drop) * y[..., c : c + 1, :]).sum(-1)
    return p.tril()


def kda_products_by_block(x, y, g, sums):
    """The same by products of blocks of 16 tokens: x decayed from its block's
    start, y up to it. Inside a block y's exponents are positive, which is fast and
    overflows for strong gates; these are weak."""
    blocks = CHUNK // BLOCK
    shape = (*x.shape[:-2], blocks, BLOCK, x.shape[-1])
    sb = sums.reshape(shape)
    start = sb[..., :1, :] - g.reshape(shape)[..., :1, :]
    xd = x.reshape(shape) * (sb - start).exp()
    p = torch.zeros(*x.shape[:-1], CHUNK, dtype=x.dtype)
    for b in range(blocks):
        at, end = b * BLOCK, (b + 1) * BLOCK
        yd = y[..., :end, :] * (start[..., b, :, :] - sums[..., :end, :]).exp()
        p[..., at:end, :end] = xd[..., b, :, :] @ yd.transpose(-1, -2)
    return p.tril()


def kda_chunks(q, k, v, g, beta, s, scale, inverse):
    q, k, v, g, beta = map(chunks, (q * scale, k, v, g, beta))
    sums = g.cumsum(-2)
    kb = k * beta.unsqueeze(-1)
    vb = v * beta.unsqueeze(-1)
    kd = kb * sums.exp()
    if inverse == "rows":
        t = invert_rows(-kda_products_by_column(kb, k, sums).tril(-1))
        u, w = t @ vb, t @ kd
        p = kda_products_by_column(q, k, sums)
    else:
        a = -kda_products_by_block(kb, k, g, sums).tril(-1)
        u, w = solve_unit_lower(a, vb, kd)
        p = kda_products_by_block(q, k, g, sums)
    end = sums[..., -1:, :]
    return run_chunks(
        s,
        q * sums.exp(),
        p,
        u,
        w,
        end.exp().transpose(-1, -2),
        k * (end - sums).exp(),
    )


def kda_loop(q, k, v, g, beta, s, scale):
    q, k, v, g, beta = (x.transpose(1, 2) for x in (q * scale, k, v, g, beta))
    decay, outputs = g.exp(), []
    for t in range(q.shape[2]):
        s = s * decay[:, :, t, :, None]
        error = v[:, :, t] - (s * k[:, :, t, :, None]).sum(-2)
        s = s + k[:, :, t, :, None] * (error * beta[:, :, t, None]).unsqueeze(-2)
        outputs.append((s * q[:, :, t, :, None]).sum(-2))
    return torch.stack(outputs, 1), s


PEERS = {
    "gated_deltanet": {
        "rows": lambda *a: gated_delta_chunks(*a, "rows"),
        "solve": lambda *a: gated_delta_chunks(*a, "solve"),
        "loop": gated_delta_loop,
    },
    "kda": {
        "rows": lambda *a: kda_chunks(*a, "rows"),
        "solve": lambda *a: kda_chunks(*a, "solve"),
        "loop": kda_loop,
    },
}
