"""Compiled log expected improvement, averaged over Kriging models, with its gradient and its local maxima.

`terms` holds, of k models of n points in p embedded columns: whether the correlation is Matern 5/2, the scaled points (k, n, p),
the scales (k, p), the factors U (k, n, n), a and U'^-1 1 (k, n), mu, sigma2, the response to improve on and ln of the unit (k,);
then, of c further Matern 5/2 processes of m points each: points, scales, U, a, U'^-1 1, mu, sigma2, the variance of an
observation and the power; and the number of chances. For each of the first processes, the chances, the power times ln of the
probability of a positive value is added; for each other process, such as a saving, the power times its mean.
"""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled
from spotsvm.surrogates.kriging._correlation_kernels import correlate, exponentials, solve_lower, solve_upper

_LOG_ROOT_2PI = 0.9189385332046727
_ROOT_HALF_PI = 1.2533141373155003
_ROOT_HALF = 0.7071067811865476
_SERIES_BELOW = -20.0  # below it 1 + z Phi / phi loses more digits than its asymptotic series does
_LEAST_SHARE = 1e-14  # share of the variance: below it there is no gradient
_KNOWN = 1e300  # in place of 1' R^-1 1, where a mean is not estimated
_TINY = 1e-90  # a smaller standard deviation counts as 0: its inverse cubed is still finite
_RISE = 1e-4  # share of the gain that the slope predicts: a step that gains less is too long
_SHORTEST = 1e-4
_FLAT = 1e-5
_LEAST_GAIN = 2.2e-9
_BLOCK = 64  # candidates per block: their correlations with some hundred points stay in the cache


@compiled
def log_h(z):
    """Return ln h, Phi / h and phi / h at z, with h(z) = phi(z) + z Phi(z)."""
    if z >= 0.0:
        density, below = math.exp(-0.5 * z * z - _LOG_ROOT_2PI), 0.5 * math.erfc(-z * _ROOT_HALF)
        h = density + z * below
        return math.log(h), below / h, density / h
    if z >= _SERIES_BELOW:
        mills = _ROOT_HALF_PI * math.exp(0.5 * z * z) * math.erfc(-z * _ROOT_HALF)
        log_share = math.log1p(z * mills)
    else:
        t = 1.0 / z / z
        series = 1.0 - t * (3.0 - t * (15.0 - t * (105.0 - t * (945.0 - t * 10395.0))))
        log_share = math.log(series) - 2.0 * math.log(-z)
        mills = (math.exp(log_share) - 1.0) / z
    inverse = math.exp(-log_share)
    return -0.5 * z * z - _LOG_ROOT_2PI + log_share, mills * inverse, inverse


@compiled
def log_cdf(z):
    """Return ln Phi and its slope phi / Phi at z."""
    if z >= 0.0:
        above = 0.5 * math.erfc(z * _ROOT_HALF)
        return math.log1p(-above), math.exp(-0.5 * z * z - _LOG_ROOT_2PI) / (1.0 - above)
    value, below, density = log_h(z)
    return value + math.log(below), density / below


@compiled
def _correlations(matern, points, scale, embedded, psi):
    """Write the correlations of m embedded points with the n data, shape (n, m)."""
    m, p = embedded.shape
    scaled = np.empty((p, m))
    for b in range(m):
        for c in range(p):
            scaled[c, b] = embedded[b, c] * scale[c]
    for i in range(len(points)):
        row = psi[i]
        row[:] = 0.0
        for c in range(p):
            here, column = points[i, c], scaled[c]
            for b in range(m):
                away = column[b] - here
                row[b] += away * away
    flat = psi.reshape(psi.size)
    correlate(matern, flat, flat)


@compiled
def _solve_rows(U, X):
    """Turn X into U'^-1 X in place, row by row, four rows at a time."""
    for i in range(len(X)):
        row = X[i]
        k = 0
        while k + 4 <= i:
            c0, c1, c2, c3 = U[k, i], U[k + 1, i], U[k + 2, i], U[k + 3, i]
            r0, r1, r2, r3 = X[k], X[k + 1], X[k + 2], X[k + 3]
            for b in range(len(row)):
                row[b] -= (c0 * r0[b] + c1 * r1[b]) + (c2 * r2[b] + c3 * r3[b])
            k += 4
        while k < i:
            c, r = U[k, i], X[k]
            for b in range(len(row)):
                row[b] -= c * r[b]
            k += 1
        inverse = 1.0 / U[i, i]
        for b in range(len(row)):
            row[b] *= inverse


@compiled
def _log_sum(logs):
    top = -np.inf
    for value in logs:
        top = max(top, value)
    total = 0.0
    for value in logs:
        total += math.exp(value - top)
    return top + math.log(total) if top > -np.inf else top


@compiled
def _moments(matern, points, scale, U, a, half_one, mu, block, psi, mean, square, across):
    """Write the predicted means and the terms of the variances; return 1' R^-1 1."""
    m = len(block)
    _correlations(matern, points, scale, block, psi)
    mean[:] = mu
    for i in range(len(a)):
        weight, row = a[i], psi[i]
        for b in range(m):
            mean[b] += weight * row[b]
    _solve_rows(U, psi)
    square[:], across[:] = 0.0, 0.0
    bound = 0.0
    for i in range(len(a)):
        one, row = half_one[i], psi[i]
        bound += one * one
        for b in range(m):
            square[b] += row[b] * row[b]
            across[b] += one * row[b]
    return bound


@compiled
def predictions(terms, embedded):
    """Return the mean and the standard deviation of each of the k models at embedded points; shapes (k, m)."""
    matern, points, scale, U, a, half_one, mu, sigma2 = terms
    k, n = a.shape
    means, deviations = np.empty((k, len(embedded))), np.empty((k, len(embedded)))
    for start in range(0, len(embedded), _BLOCK):
        block = embedded[start : start + _BLOCK]
        m = len(block)
        psi, mean, square, across = np.empty((n, m)), np.empty(m), np.empty(m), np.empty(m)
        for t in range(k):
            bound = _moments(matern, points[t], scale[t], U[t], a[t], half_one[t], mu[t], block, psi, mean, square, across)
            for b in range(m):
                variance = sigma2[t] * max(1.0 - square[b] + (1.0 - across[b]) ** 2 / bound, 0.0)
                means[t, start + b], deviations[t, start + b] = mean[b], max(math.sqrt(variance), _TINY)
    return means, deviations


@compiled
def improvements(terms, embedded):
    """Return the criterion at embedded points; shape (m,)."""
    matern, points, scale, U, a, half_one, mu, sigma2, best, log_unit = terms[:10]
    c_points, c_scale, c_U, c_a, c_half_one, c_mu, c_sigma2, c_noise, c_power, n_chances = terms[10:]
    k, n = a.shape
    out = np.empty(len(embedded))
    for start in range(0, len(embedded), _BLOCK):
        block = embedded[start : start + _BLOCK]
        m = len(block)
        psi, logs = np.empty((n, m)), np.empty((m, k))
        mean, square, across = np.empty(m), np.empty(m), np.empty(m)
        for t in range(k):
            bound = _moments(matern, points[t], scale[t], U[t], a[t], half_one[t], mu[t], block, psi, mean, square, across)
            for b in range(m):
                variance = sigma2[t] * max(1.0 - square[b] + (1.0 - across[b]) ** 2 / bound, 0.0)
                sd = max(math.sqrt(variance), _TINY)
                logs[b, t] = log_unit[t] + math.log(sd) + log_h((best[t] - mean[b]) / sd)[0]
        for b in range(m):
            out[start + b] = _log_sum(logs[b]) - math.log(k)
        for t in range(len(c_a)):
            chance = np.empty((c_a.shape[1], m))
            is_matern = t >= 0  # always True: a literal would compile this code a second time
            bound = _moments(
                is_matern, c_points[t], c_scale[t], c_U[t], c_a[t], c_half_one[t], c_mu[t], block, chance, mean, square, across
            )
            if bound == 0.0:
                bound = _KNOWN
            for b in range(m):
                if t >= n_chances:
                    out[start + b] += c_power[t] * mean[b]
                    continue
                variance = c_sigma2[t] * max(1.0 - square[b] + (1.0 - across[b]) ** 2 / bound, 0.0)
                out[start + b] += c_power[t] * log_cdf(mean[b] / math.sqrt(variance + c_noise[t]))[0]
    return out


@compiled
def _slopes(matern, r2, psi, slope):
    """Write the correlation at squared distances and twice its derivative by them."""
    for i in range(len(r2)):
        slope[i] = math.sqrt(5.0 * r2[i]) if matern else r2[i]
        psi[i] = -slope[i]
    exponentials(psi, psi)
    for i in range(len(r2)):
        s, e = slope[i], psi[i]
        psi[i] = (1.0 + s + s * s / 3.0) * e if matern else e
        slope[i] = -(5.0 / 3.0) * (1.0 + s) * e if matern else -2.0 * e


@compiled
def improvement_with_gradient(terms, at, gradient):
    """Return the criterion at one embedded point, and write its gradient."""
    matern, points, scale, U, a, half_one, mu, sigma2, best, log_unit = terms[:10]
    c_points, c_scale, c_U, c_a, c_half_one, c_mu, c_sigma2, c_noise, c_power, n_chances = terms[10:]
    k, n = a.shape
    p = len(at)
    chances, size = len(c_a), max(n, c_a.shape[1])
    all_away, all_r2, all_psi, all_slope, all_half = (
        np.empty((size, p)), np.empty(size), np.empty(size), np.empty(size), np.empty(size),
    )  # fmt: skip
    logs, along = np.empty(k), np.zeros((k + chances, p))
    log_chance = 0.0
    for t in range(k + chances):  # the models, then the chances
        if t < k:
            data, weights, lengths, factor, ones = points[t], a[t], scale[t], U[t], half_one[t]
            mean, scatter, kind = mu[t], sigma2[t], matern
        else:
            data, weights, lengths, factor, ones = c_points[t - k], c_a[t - k], c_scale[t - k], c_U[t - k], c_half_one[t - k]
            mean, scatter, kind = c_mu[t - k], c_sigma2[t - k], True
        m = len(weights)
        away, r2, psi, slope, half = all_away[:m], all_r2[:m], all_psi[:m], all_slope[:m], all_half[:m]
        for i in range(m):
            total = 0.0
            for c in range(p):
                away[i, c] = at[c] * lengths[c] - data[i, c]
                total += away[i, c] * away[i, c]
            r2[i] = total
        _slopes(kind, r2, psi, slope)
        for i in range(m):
            mean += weights[i] * psi[i]
            half[i] = psi[i]
        solve_lower(factor, half)
        bound, across, square = 0.0, 0.0, 0.0
        for i in range(m):
            bound += ones[i] * ones[i]
            across += ones[i] * half[i]
            square += half[i] * half[i]
        if bound == 0.0:
            bound = _KNOWN
        rest = (1.0 - across) / bound
        variance = scatter * (1.0 - square + rest * rest * bound)
        flat = not variance > _LEAST_SHARE * scatter
        if t < k:
            sd = max(math.sqrt(max(variance, 0.0)), _TINY)
            log_value, by_mean, by_sd = log_h((best[t] - mean) / sd)
            logs[t] = log_unit[t] + math.log(sd) + log_value
        elif t - k >= n_chances:
            sd, flat = 1.0, True
            by_mean, by_sd = -c_power[t - k], 0.0
            log_chance += c_power[t - k] * mean
        else:
            sd = math.sqrt(max(variance, 0.0) + c_noise[t - k])
            log_value, ratio = log_cdf(mean / sd)
            ratio *= c_power[t - k]
            by_mean, by_sd = -ratio, -ratio * mean / sd
            log_chance += c_power[t - k] * log_value
        if flat:
            half[:], by_sd = 0.0, 0.0
        else:
            for i in range(m):
                half[i] += rest * ones[i]
            solve_upper(factor, half)
        for i in range(m):
            weight = (-by_mean / sd * weights[i] - by_sd * scatter / (sd * sd) * half[i]) * slope[i]
            for c in range(p):
                along[t, c] += weight * away[i, c]
        for c in range(p):
            along[t, c] *= lengths[c]
    total = _log_sum(logs)
    gradient[:] = 0.0
    if total == -np.inf:  # on an evaluated point of a model without error
        return -1.7976931348623157e308
    for t in range(k):
        share = math.exp(logs[t] - total)
        for c in range(p):
            gradient[c] += share * along[t, c]
    for t in range(k, k + chances):
        for c in range(p):
            gradient[c] += along[t, c]
    return total - math.log(k) + log_chance


@compiled
def climb(terms, at, free, evaluations):
    """Move some columns of an embedded point, within [0, 1], to a local maximum of the criterion; return the value there.

    A projected quasi-Newton method with BFGS's inverse Hessian for the columns that no bound stops; steps are halved until the
    value rises in proportion to the slope. The bookkeeping of scipy's L-BFGS-B would take longer than the values.
    """
    q = len(free)
    H, s, y, step = np.empty((q, q)), np.empty(q), np.empty(q), np.zeros(q)
    gradient, new_gradient, new = np.empty(len(at)), np.empty(len(at)), at.copy()
    held, held_before = np.zeros(q, np.bool_), np.zeros(q, np.bool_)
    value, rise, length, fresh = -np.inf, 0.0, 1.0, True
    for used in range(evaluations):  # a single call of the criterion, since the compiler inlines each call
        new_value = improvement_with_gradient(terms, new, new_gradient)
        if used > 0 and not (new_value >= value + _RISE * rise and rise > 0.0):
            length *= (
                0.5 if not np.isfinite(new_value) else min(0.5, max(0.1, 0.5 * rise / max(rise - (new_value - value), 1e-300)))
            )
            turn = length <= _SHORTEST
            if turn and fresh:
                break
            fresh = fresh or turn
        else:
            curvature, squares, gain = 0.0, 0.0, new_value - value
            for i in range(q):
                y[i] = gradient[free[i]] - new_gradient[free[i]]
                curvature += s[i] * y[i]
                squares += y[i] * y[i]
            for i in range(len(at)):
                at[i], gradient[i] = new[i], new_gradient[i]
            small = gain <= _LEAST_GAIN * max(abs(value), abs(new_value), 1.0)
            value, turn = new_value, True
            if used > 0:
                if small:
                    break
                if curvature > 1e-10 * squares:
                    if fresh:
                        for i in range(q):
                            H[i, i] = curvature / squares
                        fresh = False
                    _update_inverse(H, s, y, curvature)
        if turn:
            steepest, length = 0.0, 1.0
            for i in range(q):
                x, g = at[free[i]], gradient[free[i]]
                held[i] = (x <= 0.0 and g <= 0.0) or (x >= 1.0 and g >= 0.0)
                if not held[i]:
                    steepest = max(steepest, abs(g))
                fresh = fresh or held[i] != held_before[i]
                held_before[i] = held[i]
            if not steepest > _FLAT:
                break
            while not _direction(H, gradient, free, held, fresh, steepest, step) and not fresh:
                fresh = not fresh  # a literal would have another type
        rise = 0.0
        for i in range(q):
            moved = min(max(at[free[i]] + length * step[i], 0.0), 1.0)
            s[i] = moved - at[free[i]]
            new[free[i]] = moved
            rise += s[i] * gradient[free[i]]
    return value


@compiled
def _direction(H, gradient, free, held, fresh, steepest, step):
    """Write the step for the columns that are not held, with H reset if `fresh`; return whether the step goes up."""
    q, slope = len(free), 0.0
    if fresh:
        for i in range(q):
            for j in range(q):
                H[i, j] = min(1.0, 0.1 / steepest) if i == j else 0.0
    for i in range(q):
        step[i] = 0.0
        if not held[i]:
            for j in range(q):
                if not held[j]:
                    step[i] += H[i, j] * gradient[free[j]]
            slope += step[i] * gradient[free[i]]
    return slope > 0.0


@compiled
def _update_inverse(H, s, y, curvature):
    q = len(s)
    Hy = np.zeros(q)
    for i in range(q):
        for j in range(q):
            Hy[i] += H[i, j] * y[j]
    inner = 0.0
    for i in range(q):
        inner += y[i] * Hy[i]
    for i in range(q):
        for j in range(q):
            H[i, j] += (1.0 + inner / curvature) * s[i] * s[j] / curvature - (Hy[i] * s[j] + s[i] * Hy[j]) / curvature
