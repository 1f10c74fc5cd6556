"""A small set of cases that holds every pair of values of any two axes."""

import random
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


def covering(axes, seed, wanted=lambda case: True, tries=24):
    """The same for products too large to list: each case starts from a pair that
    is left and takes, axis by axis, the values that cover the most pairs; of
    `tries` such cases the best one stays. Values must be hashable. What no such case
    is wanted for is tried again with the other values at random, and given up only
    if none of a thousand is."""
    rng = random.Random(seed)
    names = sorted(axes, key=lambda a: (-len(axes[a]), a))
    missing = {
        ((a, x), (b, y))
        for a, b in combinations(names, 2)
        for x, y in product(axes[a], axes[b])
    }

    def pairs_of(case):
        return {
            ((a, case[a]), (b, case[b])) for a, b in combinations(names, 2)
            if a in case and b in case
        }

    def attempt(pair):
        case = dict(pair)
        rest = [a for a in names if a not in case]
        rng.shuffle(rest)
        for a in rest:
            values = list(axes[a])
            rng.shuffle(values)

            def gain(value):
                more = ((a, value), *case.items())
                found = 0
                for b, y in more[1:]:
                    first, second = sorted(((a, value), (b, y)), key=lambda p: names.index(p[0]))
                    found += (first, second) in missing
                return found

            case[a] = max(values, key=gain)
        return case

    chosen = []

    def choose(found):
        best = max(found, key=lambda c: len(pairs_of(c) & missing))
        chosen.append({a: best[a] for a in axes})
        return pairs_of(best)

    hard = set()
    while missing:
        pair = rng.choice(sorted(missing, key=repr))
        found = [c for c in (attempt(pair) for _ in range(tries)) if wanted(c)]
        if not found:
            missing.discard(pair)
            hard.add(pair)
            continue
        covered = choose(found)
        missing -= covered
        hard -= covered
    # The values that cover the most may be those that are not wanted together.
    missing = hard
    while missing:
        pair = min(missing, key=repr)
        cases = ({a: rng.choice(axes[a]) for a in names} | dict(pair) for _ in range(1000))
        found = [c for c in cases if wanted(c)]
        missing -= choose(found) if found else {pair}
    return chosen
