"""Scalar functions and norms, in fp64 and in forms that do not overflow."""

import numpy as np


def f64(x):
    return np.asarray(x, dtype=np.float64)


def exp(x):
    return np.exp(f64(x))


def sigmoid(x):
    # exp only ever sees a negative argument.
    x = f64(x)
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def softplus(x):
    """log(1 + e^x)"""
    return np.logaddexp(0.0, f64(x))


def silu(x):
    """x sigmoid(x)"""
    return f64(x) * sigmoid(x)


def relu(x):
    return np.maximum(f64(x), 0.0)


def elu(x):
    x = f64(x)
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def l2norm(x, eps=1e-6):
    """x / sqrt(sum x^2 + eps) over the last axis"""
    x = f64(x)
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)


def rms_norm(x, weight=None, eps=1e-6):
    """x / sqrt(mean x^2 + eps) over the last axis, times weight"""
    x = f64(x)
    y = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return y if weight is None else y * f64(weight)


def expand_heads(x, heads, axis):
    """Head h of the result is head h // (heads / own heads) of x."""
    x = np.asarray(x)
    own = x.shape[axis]
    if own == heads:
        return x
    if own == 0 or heads % own:
        raise ValueError(f"{own} heads do not divide {heads} heads")
    return np.repeat(x, heads // own, axis=axis)
