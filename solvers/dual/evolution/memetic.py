"""The memetic solver of the dual: an evolution of exact local solutions, for kernel matrices that are not semidefinite."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.checked_numbers import check_counts, check_flag
from spotsvm.solvers.dual.evolution.evolution import KINDS, evolve
from spotsvm.solvers.dual.evolution.swarm import swarm
from spotsvm.solvers.dual.exact.exact import solve_exact
from spotsvm.solvers.dual.problem.problem import DualProblem
from spotsvm.solvers.dual.problem.result import Solution, iteration_cap
from spotsvm.solvers.dual.problem.spectrum import is_concave

Floats = NDArray[np.float64]

_FINE = 1e-6  # KKT violation at which the methods of the paper cannot improve on an optimum


@dataclass(frozen=True)
class MemeticSettings:
    """Budget of the memetic solver on a problem that is not concave; a run may exceed `searches` by 1.

    `rivals`: start also from the results of the other methods with the same seed, if there is no bias. It rarely helps and
    takes most of the time; without it the result can be worse than theirs.
    """

    searches: int = 400
    population_size: int = 8
    rivals: bool = True

    def __post_init__(self) -> None:
        check_counts(searches=self.searches, population_size=self.population_size)
        check_flag("rivals", self.rivals)


def memetic(
    problem: DualProblem,
    rng: np.random.Generator,
    tol: float = 1e-3,
    max_iter: int | None = None,
    definite: bool | None = None,
    settings: MemeticSettings | None = None,
) -> Solution:
    """Maximise the dual by an evolution whose individuals are exact local solutions; a concave problem is solved to its optimum.

    The result is never below the exact local solution from alpha = 0. On 252 indefinite problems 200 searches came within 0.1 %
    of the best known objective; leaving out rows, instead of moving variables to their far ends, is what finds it.
    """
    s = settings or MemeticSettings()
    cap = iteration_cap(problem.n) if max_iter is None else max_iter
    if is_concave(problem) if definite is None else definite:
        return _optimum(problem, tol, cap)
    exact = solve_exact(problem, np.zeros(problem.n), tol, cap)
    rivals = _rivals(problem, rng) if s.rivals and not problem.bias else []
    population = _Population(problem, s.population_size)
    population.add(exact)
    effort = min(cap, 100 * problem.n)  # an interrupted search still gives a feasible, better point
    for rival in rivals:
        population.add(rival)
        population.add(solve_exact(problem, rival.alpha, tol, effort))
    perturbation = Perturbation(problem, rng)
    searches = 1
    while searches < s.searches:
        start, cost = _new_start(population, perturbation, rng, tol, effort)
        population.add(solve_exact(problem, start, tol, effort))
        searches += cost
    best, objective = population.best()
    last = solve_exact(problem, best.alpha, tol, cap)
    if problem.objective(last.alpha) < objective:  # only by rounding: a search never lowers the objective
        last = last._replace(alpha=best.alpha)
    return Solution(
        last.alpha,
        population.iterations + last.iterations,
        population.evaluations + last.evaluations,
        last.converged,
        f"best of {searches} local searches; {last.message}",
    )


def _optimum(problem: DualProblem, tol: float, cap: int) -> Solution:
    solution = solve_exact(problem, np.zeros(problem.n), min(tol, _FINE), cap)
    if solution.converged or tol <= _FINE:
        return solution
    violation, _ = problem.kkt(solution.alpha, problem.decision(solution.alpha))
    if violation > tol:
        return solution
    message = f"the KKT violation is {violation:.3g}, at most tol={tol:g}, after {solution.iterations} steps"
    return solution._replace(converged=True, message=message)


def _rivals(problem: DualProblem, rng: np.random.Generator) -> list[Solution]:
    evolved = [evolve(problem, kind, copy.deepcopy(rng)) for kind in KINDS]
    return [*evolved, swarm(problem, copy.deepcopy(rng))]


class _Population:
    """The best different solutions so far, best first."""

    def __init__(self, problem: DualProblem, size: int):
        self.problem = problem
        self.size = size
        self.members: list[tuple[float, Solution]] = []
        self.iterations = self.evaluations = 0

    def count(self, solution: Solution) -> None:
        """Add the cost of a solution to the totals."""
        self.iterations += solution.iterations
        self.evaluations += solution.evaluations

    def add(self, solution: Solution) -> None:
        """Keep a solution if it is among the best; of two whose objectives are equal up to rounding, keep the better."""
        self.count(solution)
        objective = self.problem.objective(solution.alpha)
        same = [k for k, (other, _) in enumerate(self.members) if abs(objective - other) <= 1e-7 * abs(other)]
        if any(self.members[k][0] >= objective for k in same):
            return
        self.members = [member for k, member in enumerate(self.members) if k not in same]
        self.members.append((objective, solution))
        self.members.sort(key=lambda member: -member[0])
        del self.members[self.size :]

    def best(self) -> tuple[Solution, float]:
        return self.members[0][1], self.members[0][0]

    def beta(self, k: int) -> Floats:
        """Return member k in terms of beta = alpha y."""
        return self.members[k][1].alpha * self.problem.y


def _new_start(
    population: _Population, perturbation: Perturbation, rng: np.random.Generator, tol: float, effort: int
) -> tuple[Floats, int]:
    """Return the start of the next search, and the number of searches: 1, or 2 if the start took a search itself."""
    zero = np.zeros(population.problem.n)
    way, members = rng.random(), len(population.members)
    if way < 0.25:
        return np.abs(perturbation.kick(zero, 0.5)), 1
    if way < 0.8:
        begin = population.members[0][1].alpha if way < 0.65 else zero
        part = solve_exact(perturbation.without_some(0.1, 0.5), begin, tol, effort)
        population.count(part)
        return part.alpha, 2
    if way < 0.9 and members > 1:
        one, other = rng.choice(members, 2, replace=False)
        return np.abs(perturbation.cross(population.beta(int(one)), population.beta(int(other)))), 1
    return np.abs(perturbation.scatter()), 1


class Perturbation:
    """Makes feasible points in terms of beta = alpha y, with sum(beta) = 0 if the problem has a bias."""

    def __init__(self, problem: DualProblem, rng: np.random.Generator):
        self.problem = problem
        self.rng = rng
        self.balanced = problem.bias
        self.lower, self.upper = problem.box
        self.movable = np.flatnonzero(problem.C > 0)

    def scatter(self) -> Floats:
        """Draw a point uniformly from the box, and balance it."""
        return self._balance(self.lower + self.rng.random(len(self.lower)) * (self.upper - self.lower))

    def kick(self, beta: Floats, share: float) -> Floats:
        """Move some variables, from 1 to a `share` of all (fewer is more likely), as far as they can go.

        With a bias they move in pairs of opposite directions.
        """
        most = max(1.0, share * len(self.movable))
        count = int(np.exp(self.rng.uniform(0.0, np.log(most + 1.0))))
        chosen = self.rng.permutation(self.movable)
        moved = beta.copy()
        if not self.balanced:
            i = chosen[: 2 * count]
            rises = self.upper[i] - beta[i] > beta[i] - self.lower[i]
            moved[i] = np.where(rises, self.upper[i], self.lower[i])
            return moved
        count = min(count, len(chosen) // 2)
        i, j = chosen[:count], chosen[count : 2 * count]
        forth = np.minimum(self.upper[i] - beta[i], beta[j] - self.lower[j])
        back = np.minimum(beta[i] - self.lower[i], self.upper[j] - beta[j])
        step = np.where(forth > back, forth, -back)
        moved[i] = np.clip(beta[i] + step, self.lower[i], self.upper[i])
        moved[j] = np.clip(beta[j] - step, self.lower[j], self.upper[j])
        return moved

    def without_some(self, least: float, most: float) -> DualProblem:
        """Return the problem without a random share of its rows, from `least` to `most` (smaller is more likely)."""
        share = float(np.exp(self.rng.uniform(np.log(least), np.log(most))))
        kept = self.rng.random(self.problem.n) >= share
        return replace(self.problem, C=np.where(kept, self.problem.C, 0.0))

    def cross(self, one: Floats, other: Floats) -> Floats:
        """Take each variable at random from one of two points, and balance the result."""
        return self._balance(np.where(self.rng.random(len(one)) < 0.5, one, other))

    def _balance(self, beta: Floats) -> Floats:
        excess = float(beta.sum())
        if not self.balanced or excess == 0.0:
            return beta
        order = self.rng.permutation(len(beta))
        room = (beta - self.lower if excess > 0 else self.upper - beta)[order]
        before = np.cumsum(room) - room
        beta[order] -= np.sign(excess) * np.clip(abs(excess) - before, 0.0, room)
        return np.clip(beta, self.lower, self.upper)
