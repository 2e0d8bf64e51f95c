"""Compiled loops of the evolution: offspring that change few coordinates are evaluated in O(n) or less.

Individuals are rows beta = alpha y with gradient = y - K beta and fitness y'beta - beta' K beta / 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.compiled import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bits = NDArray[np.uint8]


@compiled
def swap_differences(beta: Floats, couples: Integers, swapped: Bits, differences: Floats, counts: Integers) -> None:
    """Set differences[r] to the change of couple r's first row by the swap, and counts[r] to its number of nonzeros."""
    for r in range(len(couples)):
        one, other = couples[r, 0], couples[r, 1]
        count = 0
        for i in range(beta.shape[1]):
            change = beta[other, i] - beta[one, i] if swapped[r, i] != 0 else 0.0
            differences[r, i] = change
            count += change != 0.0
        counts[r] = count


@compiled
def make_children(
    K: Floats,
    beta: Floats,
    gradient: Floats,
    fitness: Floats,
    couples: Integers,
    differences: Floats,
    counts: Integers,
    few: int,
    products: Floats,
    first: int,
) -> None:
    """Write each couple's two children to the rows from `first` on.

    products[r] = K differences[r] is passed if counts[r] > few; otherwise it is computed here from the rows of K.
    """
    n = len(K)
    for r in range(len(couples)):
        one, other = couples[r, 0], couples[r, 1]
        child, sibling = first + 2 * r, first + 2 * r + 1
        product = products[r]
        if counts[r] <= few:
            product[:] = 0.0
            for i in range(n):
                change = differences[r, i]
                if change != 0.0:
                    for k in range(n):
                        product[k] += change * K[i, k]
        slope = other_slope = bend = 0.0
        for i in range(n):
            change = differences[r, i]
            if change != 0.0:
                slope += change * gradient[one, i]
                other_slope += change * gradient[other, i]
                bend += 0.5 * change * product[i]
            # copied, not added: a value that is zero or at its bound stays exactly so
            beta[child, i] = beta[one, i] if change == 0.0 else beta[other, i]
            beta[sibling, i] = beta[other, i] if change == 0.0 else beta[one, i]
            gradient[child, i] = gradient[one, i] - product[i]
            gradient[sibling, i] = gradient[other, i] + product[i]
        fitness[child] = fitness[one] + slope - bend
        fitness[sibling] = fitness[other] - other_slope - bend


@compiled
def flip_some(
    K: Floats,
    beta: Floats,
    gradient: Floats,
    fitness: Floats,
    hits: Integers,
    values: Floats,
    changed: Integers,
    changes: Floats,
    counts: Integers,
    mutant_fitness: Floats,
) -> None:
    """Mutate each row at its hits: nonzero entries to zero, others to the given value; note the changes and the fitness.

    `hits` are sorted indices of the flattened rows, and `values` the new beta at each. Row r's mutant differs from it by
    changes[r, :counts[r]] in the coordinates changed[r, :counts[r]].
    """
    n = len(K)
    counts[:] = 0
    mutant_fitness[:] = fitness
    for h in range(len(hits)):
        r = hits[h] // n
        i = hits[h] % n
        change = -beta[r, i] if beta[r, i] != 0.0 else values[h]
        count = counts[r]
        if change == 0.0 or count == changed.shape[1]:
            continue
        slope = gradient[r, i]
        for k in range(count):
            slope -= K[changed[r, k], i] * changes[r, k]
        mutant_fitness[r] += change * (slope - 0.5 * K[i, i] * change)
        changed[r, count] = i
        changes[r, count] = change
        counts[r] = count + 1


@compiled
def take_rows(
    K: Floats,
    beta: Floats,
    gradient: Floats,
    winners: Integers,
    changed: Integers,
    changes: Floats,
    counts: Integers,
    new_beta: Floats,
    new_gradient: Floats,
) -> None:
    """Write the winners: indices below `len(counts)` are rows, larger indices the mutants of these rows."""
    n = len(K)
    rows = len(counts)
    for place in range(len(winners)):
        r = winners[place] % rows
        for k in range(n):
            new_beta[place, k] = beta[r, k]
            new_gradient[place, k] = gradient[r, k]
        if winners[place] < rows:
            continue
        for c in range(counts[r]):
            i = changed[r, c]
            change = changes[r, c]
            # exactly zero where it was set to zero, so that the next mutation sees it
            new_beta[place, i] = beta[r, i] + change
            for k in range(n):
                new_gradient[place, k] -= change * K[i, k]
