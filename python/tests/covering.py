"""A small set of cases that holds every pair of values of any two axes."""

from itertools import combinations, product


def cross(axes, wanted=lambda case: True):
    """Every combination, as dictionaries."""
    cases = (dict(zip(axes, values)) for values in product(*axes.values()))
    return [case for case in cases if wanted(case)]


def pairs(case):
    return set(combinations(sorted(case.items(), key=repr), 2))


def pairwise(axes, wanted=lambda case: True):
    """Of `cross`, chosen greedily: each case covers the most pairs that are left.
    The same input gives the same cases."""
    cases = [(case, pairs(case)) for case in cross(axes, wanted)]
    missing = set().union(*(p for _, p in cases)) if cases else set()
    chosen = []
    while missing:
        case, covered = max(cases, key=lambda c: len(c[1] & missing))
        chosen.append(case)
        missing -= covered
    return chosen or [case for case, _ in cases[:1]]
