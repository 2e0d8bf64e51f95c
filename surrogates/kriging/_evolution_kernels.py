"""Compiled CMA-ES of a Kriging model's likelihood; see `likelihood` for the notation.

A sample is A' z with C = A' A, A upper triangular, and z normal, as in Krause, Arbones, Igel 2016: the path of the step size sums
the vectors z themselves, and no eigenvectors are needed.

========  ============  =====================================================================================
u         (p,)          hyperparameters, their bounds mapped to 0 and 1
steps     (size, p)     samples of a generation relative to its centre, in units of sigma
normals   (size, p)     the normal vectors behind them
========  ============  =====================================================================================
"""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled
from spotsvm.surrogates.kriging._correlation_kernels import correlate, factor_upper, factor_with_jitter, profile_factored


@compiled
def negative(data, u, psi, U, half_one, a):
    """Return the negative log-likelihood at u, inf if it does not exist; the arrays after u are overwritten."""
    matern, distances, mean, count, within, jitters, low, high, fixed = data
    d = len(distances)
    psi[:] = 0.0
    for k in range(d):
        theta, column = math.exp(low[k] + (high[k] - low[k]) * u[k]), distances[k]
        for i in range(len(psi)):
            psi[i] += theta * column[i]
    nugget = math.exp(low[d] + (high[d] - low[d]) * u[d]) if fixed < 0.0 else fixed
    correlate(matern, psi, psi)
    if factor_with_jitter(psi, nugget, count, jitters, U) < 0:
        return np.inf
    a[:] = mean
    value = -profile_factored(U, nugget, count, within, half_one, a)[0]
    return value if math.isfinite(value) else np.inf


@compiled
def negatives(data, points):
    """Return the negative log-likelihood at each row of points."""
    n = len(data[2])
    psi, U, half_one, a = np.empty(data[1].shape[1]), np.empty((n, n)), np.empty(n), np.empty(n)
    values = np.empty(len(points))
    for k in range(len(points)):
        values[k] = negative(data, points[k], psi, U, half_one, a)
    return values


@compiled
def evolve(data, start, sigma, evaluations, tolerance, rng):
    """Minimise from `start` by CMA-ES with the constants of Hansen 2016; return the best value and its u.

    A coordinate outside [0, 1] is reflected at the bound. The run ends after the evaluations, or if the best values of the last
    generations differ by less than `tolerance`.
    """
    p, n = len(start), len(data[2])
    psi, U, half_one, a = np.empty(data[1].shape[1]), np.empty((n, n)), np.empty(n), np.empty(n)
    size = 4 + int(3.0 * math.log(p))
    parents = size // 2
    weights = np.empty(parents)
    for k in range(parents):
        weights[k] = math.log((size + 1.0) / 2.0) - math.log(k + 1.0)
    weights /= weights.sum()
    effective = 1.0 / (weights * weights).sum()
    cs = (effective + 2.0) / (p + effective + 5.0)
    damping = 1.0 + cs + 2.0 * max(0.0, math.sqrt((effective - 1.0) / (p + 1.0)) - 1.0)
    cc = (4.0 + effective / p) / (p + 4.0 + 2.0 * effective / p)
    c1 = 2.0 / ((p + 1.3) ** 2 + effective)
    cmu = min(1.0 - c1, 2.0 * (effective - 2.0 + 1.0 / effective) / ((p + 2.0) ** 2 + effective))
    length = math.sqrt(p) * (1.0 - 1.0 / (4.0 * p) + 1.0 / (21.0 * p * p))
    centre, C, A = start.copy(), np.eye(p), np.eye(p)
    path, path_sigma = np.zeros(p), np.zeros(p)
    normals, steps, values, u = np.empty((size, p)), np.empty((size, p)), np.empty(size), np.empty(p)
    best, best_value = start.copy(), np.inf
    recent = np.full(10 + int(math.ceil(30.0 * p / size)), np.inf)
    done, generation = 0, 0
    while done + size <= evaluations:
        for k in range(size):
            for j in range(p):
                normals[k, j] = rng.standard_normal()
            for j in range(p):
                step = 0.0
                for i in range(j + 1):
                    step += A[i, j] * normals[k, i]
                steps[k, j] = step
                x = abs(centre[j] + sigma * step) % 2.0
                u[j] = 2.0 - x if x > 1.0 else x
            values[k] = negative(data, u, psi, U, half_one, a)
            if values[k] < best_value:
                best_value = values[k]
                best[:] = u
        done += size
        order = np.argsort(values)
        shrink, reach = 1.0 - cs, 0.0
        for j in range(p):
            normal, step = 0.0, 0.0
            for k in range(parents):
                normal += weights[k] * normals[order[k], j]
                step += weights[k] * steps[order[k], j]
            path_sigma[j] = shrink * path_sigma[j] + math.sqrt(cs * (2.0 - cs) * effective) * normal
            reach += path_sigma[j] ** 2
            centre[j] += sigma * step
            path[j] = (1.0 - cc) * path[j] + math.sqrt(cc * (2.0 - cc) * effective) * step
        reach = math.sqrt(reach)
        for i in range(p):
            for j in range(i, p):
                rank = 0.0
                for k in range(parents):
                    rank += weights[k] * steps[order[k], i] * steps[order[k], j]
                C[i, j] = (1.0 - c1 - cmu) * C[i, j] + c1 * path[i] * path[j] + cmu * rank
                A[i, j] = C[i, j]
        if not factor_upper(A):
            break
        sigma *= math.exp(min(1.0, cs / damping * (reach / length - 1.0)))
        recent[generation % len(recent)] = values[order[0]]
        generation += 1
        if generation >= len(recent) and recent.max() - recent.min() < tolerance:
            break
    return best_value, best
