"""Compiled log-density of a Kriging model's hyperparameters, and slice sampling of it; see `hyperparameters` for phi.

A move of the nugget leaves the correlations as they are, and a move of the warp's strength the factor as well: `level` says
where the computation begins. LENGTHS: from the distances; NUGGET: from the correlations; STRENGTH: from the factor.
"""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled
from spotsvm.surrogates.kriging._correlation_kernels import correlate, factor_with_jitter, solve_lower

LENGTHS, NUGGET, STRENGTH = 0, 1, 2
START, OUT_LOW, OUT_HIGH, SHRINK = 0, 1, 2, 3


@compiled
def scaled_distances(distances, phi, without, out):
    """Write the sum of theta_k times the squared distances in dimension k over all k except `without` (-1: over all k)."""
    out[:] = 0.0
    for k in range(len(distances)):
        if k != without:
            theta = math.exp(-2.0 * phi[k])
            column = distances[k]
            for i in range(len(out)):
                out[i] += theta * column[i]


@compiled
def log_density(data, phi, level, rest, j, psi, U, half_one):
    """Return the log-density of phi, -inf outside the bounds and if the matrix has no factor.

    Results of steps before `level` must belong to phi. `rest` and `j` give the scaled distances in all dimensions but j.
    """
    matern, distances, t, index, count, mean, sd, low, high, warped, jitters = data
    d, n = len(distances), len(count)
    value = 0.0
    for k in range(len(phi)):
        if not low[k] < phi[k] < high[k]:
            return -np.inf
        value -= 0.5 * ((phi[k] - mean[k]) / sd[k]) ** 2
    if level == LENGTHS:
        theta, column = math.exp(-2.0 * phi[j]), distances[j]
        for i in range(len(psi)):
            psi[i] = rest[i] + theta * column[i]
        correlate(matern, psi, psi)
    nugget = math.exp(phi[d])
    if level <= NUGGET:
        if factor_with_jitter(psi, nugget, count, jitters, U) < 0:
            return -np.inf
        half_one[:] = 1.0
        solve_lower(U, half_one)
    z = np.zeros(n)
    within = 0.0
    strength = math.exp(phi[-1]) if warped else 0.0
    total = 0.0
    for i in range(len(t)):
        warp = math.log1p(strength * t[i]) if warped else t[i]
        total += warp
        z[index[i]] += warp
    for i in range(n):
        z[i] /= count[i]
    repeats = float(len(t) - n)
    if warped:
        value += len(t) * phi[-1] - total
    if repeats > 0:
        for i in range(len(t)):
            warp = math.log1p(strength * t[i]) if warped else t[i]
            within += (warp - z[index[i]]) ** 2
    solve_lower(U, z)
    ones, both = 0.0, 0.0
    for i in range(n):
        ones += half_one[i] * half_one[i]
        both += half_one[i] * z[i]
    mu = both / ones
    q = 0.0
    for i in range(n):
        e = z[i] - mu * half_one[i]
        q += e * e
        value -= math.log(U[i, i])
    if repeats > 0:
        q += within / nugget
        value -= 0.5 * repeats * phi[d]
        for i in range(n):
            value -= 0.5 * math.log(count[i])
    value -= 0.5 * len(t) * math.log(q / len(t))
    return value if math.isfinite(value) else -np.inf


@compiled
def sweep(data, chains, moves, rng, width):
    """Move coordinates of chains in place, each by one step of slice sampling (Neal 2003, stepping out four times at most).

    `chains` has a phi in each row; in `moves` coordinate j of chain c is c p + j; `width` is the interval's at first.
    """
    distances, mean = data[1], data[5]
    d, n = len(distances), len(data[4])
    p = chains.shape[1]
    rest, psi = np.empty(distances.shape[1]), np.empty(distances.shape[1])
    U, half_one = np.empty((n, n)), np.empty(n)
    values = np.full(len(chains), np.nan)
    for move in moves:
        c, j = move // p, move % p
        phi = chains[c]
        level = LENGTHS if j < d else NUGGET if j == d else STRENGTH
        phase = START if level != LENGTHS or math.isnan(values[c]) else OUT_LOW
        scaled_distances(distances, phi, 0 if phase == START else j, rest)
        here, floor, low, high, tries = phi[j], 0.0, 0.0, 0.0, 0
        drawn = False
        while True:  # a single call of the density, since the compiler inlines each call
            if phase != START and not drawn:
                floor = values[c] + math.log(1.0 - rng.random())
                low = here - width * rng.random()
                high = low + width
                drawn = True
            if phase == OUT_LOW:
                phi[j] = low
            elif phase == OUT_HIGH:
                phi[j] = high
            elif phase == SHRINK:
                phi[j] = low + rng.random() * (high - low)
            starts = phase == START
            value = log_density(data, phi, LENGTHS if starts else level, rest, 0 if starts else j, psi, U, half_one)
            tries += 1
            if starts:
                if value == -np.inf and tries == 1:  # new data gave the current position density 0: back to the prior's mean
                    for k in range(p):
                        phi[k] = mean[k]
                    here = phi[j]
                else:
                    values[c] = value
                    phase, tries = OUT_LOW, 0
                scaled_distances(distances, phi, 0 if phase == START else j, rest)
            elif phase == OUT_LOW:
                if value > floor:
                    low -= width
                if value <= floor or tries == 4:
                    phase, tries = OUT_HIGH, 0
            elif phase == OUT_HIGH:
                if value > floor:
                    high += width
                if value <= floor or tries == 4:
                    phase, tries = SHRINK, 0
            elif value > floor:
                values[c] = value
                break
            elif tries == 30:
                phi[j] = here
                break
            elif phi[j] < here:
                low = phi[j]
            else:
                high = phi[j]
