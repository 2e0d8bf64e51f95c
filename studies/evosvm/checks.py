"""Further measurements of the EvoSVM study: readings of the paper, reasons why the evolution stops, times of our solvers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f_oneway
from sklearn.svm import SVC

from spotsvm.solvers.dual.evolution.evolution import EvolutionSettings, evolve
from spotsvm.solvers.dual.evolution.swarm import SwarmSettings
from spotsvm.solvers.dual.problem.problem import DualProblem, make_problem
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram import gram_matrix, kernel_matrix
from spotsvm.studies.common.data import DataSet, Floats
from spotsvm.studies.evosvm.folds import PAPERS, folds_of, optimum_of, timed
from spotsvm.studies.evosvm.printed import ERRORS, FOLDS


def plain_hybrid(
    problem: DualProblem, rng: np.random.Generator, settings: EvolutionSettings, together: bool
) -> tuple[float, int]:
    """Run the hybrid evolution of `spotsvm.solvers.dual.evolution` in simple numpy, with the same random numbers.

    The problem has no bias. With `together` one matrix product evaluates all new individuals of a generation, otherwise each is
    evaluated alone. Returns the best objective and the number of generations.
    """
    n, size, bounds = problem.n, settings.population_size, problem.C * problem.y
    parents = rng.random((size, n)) * bounds
    parents_fitness = _evaluate(problem, parents, together)
    pool, fitness, best, idle, generation = parents, parents_fitness, -np.inf, 0, 0
    while generation < settings.max_generations and idle < settings.patience:
        if generation:
            drawn = rng.integers(len(pool), size=(size - 1, settings.tournament_size))
            winners = np.array([fitness.argmax(), *(d[fitness[d].argmax()] for d in drawn)])
            parents, parents_fitness = pool[winners], fitness[winners]
        children = _cross(parents, settings.crossover_probability, rng)
        rows = np.concatenate([parents, children])
        mutants = _mutate(rows, bounds, rng)
        new = _evaluate(problem, np.concatenate([children, mutants]), together)
        pool, fitness = np.concatenate([rows, mutants]), np.concatenate([parents_fitness, new])
        highest = float(fitness.max())
        idle = 0 if best == -np.inf or highest > best + 1e-12 * abs(best) else idle + 1
        best, generation = highest, generation + 1
    return best, generation


def _evaluate(problem: DualProblem, rows: Floats, together: bool) -> Floats:
    if together:
        fitness: Floats = np.einsum("ij,ij->i", rows, problem.y - 0.5 * (rows @ problem.K))
        return fitness
    return np.array([problem.y @ beta - 0.5 * beta @ (problem.K @ beta) for beta in rows])


def _cross(parents: Floats, probability: float, rng: np.random.Generator) -> Floats:
    size, n = parents.shape
    couples = rng.permutation(size)[: size // 2 * 2].reshape(-1, 2)
    couples = couples[rng.random(len(couples)) < probability]
    if not len(couples):
        return np.empty((0, n))
    bits = np.frombuffer(rng.bytes(-(-len(couples) * n // 8)), np.uint8)
    swapped = np.unpackbits(bits, count=len(couples) * n).reshape(-1, n) == 1
    one, other = parents[couples[:, 0]], parents[couples[:, 1]]
    pairs = np.stack([np.where(swapped, other, one), np.where(swapped, one, other)], axis=1)
    return pairs.reshape(-1, n)


def _mutate(rows: Floats, bounds: Floats, rng: np.random.Generator) -> Floats:
    n = rows.shape[1]
    hits = np.sort(rng.choice(rows.size, rng.binomial(rows.size, 1 / n), replace=False, shuffle=False))
    values = bounds[hits % n] * rng.random(len(hits))
    mutants = rows.copy()
    mutants.flat[hits] = np.where(mutants.flat[hits] != 0, 0.0, values)
    hit: Floats = mutants[np.unique(hits // n)]
    return hit


def readings(sets: Sequence[tuple[DataSet, float]], costs: Sequence[float], folds: int) -> pd.DataFrame:
    """Return LIBSVM's error for each reading of sigma, on raw and on standardised features, with the printed errors."""
    rows = []
    for data, sigma in sets:
        splits = folds_of(data, folds)
        for cost in costs:
            row: dict[str, Any] = {"data set": data.name, "C": cost}
            for features, X in (("raw", data.X), ("standardised", data.standardised().X)):
                for reading, gamma in (("gamma = sigma", sigma), ("gamma = 1/(2 sigma^2)", 0.5 / sigma**2)):
                    machine = SVC(C=cost, gamma=gamma)
                    wrong = [np.mean(machine.fit(X[a], data.y[a]).predict(X[b]) != data.y[b]) for a, b in splits]
                    row[f"{features}, {reading}"] = 100.0 * float(np.mean(wrong))
            for learner in ("mySVM", "LibSVM"):
                row[f"printed {learner}"] = ERRORS.get((cost, data.name, learner), (np.nan, np.nan))[0]
            rows.append(row)
    return pd.DataFrame(rows)


def stops(sets: Sequence[tuple[DataSet, float]], costs: Sequence[float], longest: int) -> pd.DataFrame:
    """Return the shares of the optimum of the paper's four methods on all rows: at the start, at their stop, and without stop."""
    rows = []
    for data, gamma in sets:
        K = gram_matrix(Kernel("rbf", gamma=gamma), data.X)
        for cost in costs:
            problem = make_problem(K, data.y, cost)
            optimum = optimum_of(problem)
            start = np.random.default_rng(0).random((10, problem.n)) * problem.C  # all four begin with these ten individuals
            for method in PAPERS:
                row: dict[str, Any] = {"data set": data.name, "C": cost, "method": method}
                row["start"] = max(problem.objective(alpha) for alpha in start) / optimum
                by_rule = solve_dual(K, data.y, cost, method, random_state=0)
                row |= {"generations": by_rule.iterations, "paper's rule": by_rule.objective / optimum}
                lengths = {"1000 generations": 1000} | ({"longest": longest} if longest > 1000 else {})
                for column, generations in lengths.items():
                    kind = SwarmSettings if method == "swarm" else EvolutionSettings
                    settings = kind(max_generations=generations, patience=generations)
                    result = solve_dual(K, data.y, cost, method, random_state=0, settings=settings)
                    row[column] = result.objective / optimum
                rows.append(row)
    return pd.DataFrame(rows)


def generation_rates(sets: Sequence[DataSet], sizes: Sequence[int], lengths: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Return generations per second of "hybrid" and of `plain_hybrid`, measured in turns, from random (dense) starts.

    `lengths` has pairs of a number of generations and a number of seeds.
    """
    rows = []
    for data in sets:
        for n in sizes:
            some = data.first(n, data.name).standardised()
            K = gram_matrix(Kernel("rbf", gamma=1.0 / some.X.shape[1]), some.X)
            problem = make_problem(K, some.y, 1.0)
            evolve(problem, "hybrid", np.random.default_rng(0), EvolutionSettings(max_generations=2))  # compiles
            for generations, seeds in lengths:
                for seed in range(seeds):
                    rows.append((data.name, len(some.y), generations, seed, *_rates(problem, generations, seed)))
    columns = ["data set", "n", "generations", "seed", "ours a second", "one by one", "by one product", "difference"]
    return pd.DataFrame(rows, columns=columns)


def _rates(problem: DualProblem, generations: int, seed: int) -> tuple[float, float, float, float]:
    settings = EvolutionSettings(max_generations=generations, patience=generations)
    result, seconds = timed(lambda: evolve(problem, "hybrid", np.random.default_rng(seed), settings))
    ours = problem.objective(result.alpha)
    rates, differences = [generations / seconds], []
    for together in (False, True):
        (twin, ran), seconds = timed(lambda t=together: plain_hybrid(problem, np.random.default_rng(seed), settings, t))
        rates.append(ran / seconds)
        differences.append(abs(ours - twin) / abs(twin))
    return rates[0], rates[1], rates[2], max(differences)


def memetic_costs(sets: Sequence[tuple[DataSet, float]], costs: Sequence[float], repeats: int) -> pd.DataFrame:
    """Return the missing share of the optimum of "memetic" on all rows, and its time compared with a fit of SVC, in turns.

    As in EvoSVC, `definite=True` tells the solver that an RBF kernel is positive semidefinite.
    """
    rows = []
    for data, gamma in sets:
        kernel = Kernel("rbf", gamma=gamma)
        for cost in costs:
            times = []
            for _ in range(repeats):
                result, ours = timed(
                    lambda c=cost, k=kernel, d=data: solve_dual(gram_matrix(k, d.X), d.y, c, "memetic", definite=True)
                )
                _, peer = timed(lambda c=cost, g=gamma, d=data: SVC(C=c, gamma=g).fit(d.X, d.y))
                times.append((ours, peer))
            milliseconds = 1e3 * np.median(times, axis=0)
            optimum = optimum_of(make_problem(gram_matrix(kernel, data.X), data.y, cost))
            missing = 1.0 - result.objective / optimum
            rows.append((data.name, len(data.y), cost, missing, *milliseconds, np.median([a / b for a, b in times])))
    columns = ["data set", "n", "C", "missing share of the optimum", "milliseconds", "SVC milliseconds", "ratio"]
    return pd.DataFrame(rows, columns=columns)


def f_test(groups: Sequence[Any]) -> tuple[float, float]:
    """Return F and the probability of a one-way ANOVA; 0 and 1 if the means are equal."""
    if np.ptp([np.mean(group) for group in groups]) == 0.0:
        return 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # groups without spread have an infinite F, which is correct
        f, p = f_oneway(*groups)
    return float(f), float(p)


UNIFORM, NORMAL, OPTIMUM = "uniform pulls", "normal pulls", "the optimum without bias"
_LONG = 1000
_DIFFERENT = ". A swarm near this optimum cannot have the printed error, so the data or the decision must differ."
#: settings of the swarm, and whether the features are standardised; None is the exact solution
READINGS: dict[str, tuple[SwarmSettings | None, bool]] = {
    UNIFORM: (SwarmSettings(pulls="uniform"), False),
    NORMAL: (SwarmSettings(pulls="gaussian"), False),
    "uniform pulls, 1000 generations": (SwarmSettings(pulls="uniform", patience=_LONG), False),
    "normal pulls, 1000 generations": (SwarmSettings(pulls="gaussian", patience=_LONG), False),
    "uniform pulls, 100 particles": (SwarmSettings(pulls="uniform", population_size=100), False),
    "normal pulls, standardised features": (SwarmSettings(pulls="gaussian"), True),
    OPTIMUM: (None, False),
}


def swarm_readings(sets: Sequence[tuple[DataSet, float]], cost: float, folds: int) -> pd.DataFrame:
    """Return a row for each data set and reading: error in percent, share of the optimum, and printed error with its SE."""
    rows = []
    for data, gamma in sets:
        kernel = Kernel("rbf", gamma=gamma)
        measured: dict[str, list[tuple[float, float]]] = {name: [] for name in READINGS}
        for fold, (train, test) in enumerate(folds_of(data, folds)):
            for scaled in (False, True):
                X, y = (data.standardised() if scaled else data).X, data.y[train]
                K, K_test = gram_matrix(kernel, X[train]), kernel_matrix(kernel, X[test], X[train])
                optimum = solve_dual(K, y, cost, "exact", definite=True)
                for name, (settings, standardised) in READINGS.items():
                    if standardised != scaled:
                        continue
                    result = optimum
                    if settings is not None:
                        result = solve_dual(K, y, cost, "swarm", random_state=fold, settings=settings, definite=True)
                    wrong = np.mean((K_test @ (result.alpha * y) > 0) != (data.y[test] > 0))
                    measured[name].append((100.0 * float(wrong), result.objective / optimum.objective))
        printed, deviation = ERRORS.get((cost, data.name, "PsoSVM"), (np.nan, np.nan))
        for name, of_folds in measured.items():
            error, _ = np.mean(of_folds, axis=0)
            share = float(np.median([share for _, share in of_folds]))
            rows.append((data.name, name, float(error), share, printed, deviation / np.sqrt(FOLDS)))
    columns = ["data set", "reading", "error", "share of optimum", "printed error", "se of the printed error"]
    return pd.DataFrame(rows, columns=columns)


def swarm_table(readings: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each reading: errors on the data sets, and mean distance to the printed errors, which are the last row."""
    table = readings.pivot(index="reading", columns="data set", values="error").loc[list(READINGS)]
    table = table[readings["data set"].unique()]
    printed = readings.groupby("data set")["printed error"].first()[table.columns]
    distance = (table - printed).abs().mean(axis=1)
    table.loc["printed for PsoSVM"] = printed
    return table.assign(**{"mean distance": distance}).dropna(how="all").reset_index()


def on_swarm(readings: pd.DataFrame) -> str:
    """Return in words the readings that are nearest to the printed errors; empty without printed errors."""
    if readings["printed error"].isna().all():
        return ""
    off = readings.assign(off=readings["error"] - readings["printed error"])
    by_reading = off.groupby("reading", sort=False)["off"]
    distance, mean = by_reading.apply(lambda d: float(d.abs().mean())), by_reading.mean()
    of_swarms = distance.drop(OPTIMUM)
    texts = [
        f"The swarm's errors at C = 1 are {distance[UNIFORM]:.1f} points from the printed ones on average ({mean[UNIFORM]:+.1f}) "
        f"if its pulls are uniform between 0 and 1, and {distance[NORMAL]:.1f} ({mean[NORMAL]:+.1f}) if they are normal with "
        f"mean and standard deviation 1, the default here. The nearest reading is '{of_swarms.idxmin()}' ({of_swarms.min():.1f})."
    ]
    for name, rows in off.groupby("data set", sort=False):
        at = rows.set_index("reading")
        nearest = str(at["off"].abs().drop(OPTIMUM).idxmin())
        allowed = 2 * float(at["se of the printed error"].iloc[0])
        if at["off"][nearest] > allowed:
            beyond = at["off"][OPTIMUM] > allowed
            texts.append(
                f"On {name} no reading explains the printed {at['printed error'].iloc[0]:.2f} %: the nearest, '{nearest}', has "
                f"{at['error'][nearest]:.2f} %, and the optimum without bias {at['error'][OPTIMUM]:.2f} %"
                f"{_DIFFERENT if beyond else '.'}"
            )
    return " ".join(texts)
