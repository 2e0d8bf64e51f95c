"""The method of Keerthi and Lin 2003: linear machines for a line of costs, then Gaussian ones on a line of C and gamma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import Capabilities, Search, SearchSpace, Suggestion
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

#: how often the step between two widths is halved after all widths were tried
_HALVINGS = 5
#: share by which a computed C may leave its range and still be the end of it
_ROUNDING = 1e-9


class KeerthiLinSearch(Search):
    """Two lines in place of the plane of C and gamma: linear SVMs first, then Gaussian ones that tend to the best of them.

    As gamma tends to 0, the SVM with the Gaussian kernel exp(-gamma d^2) and C = c / (2 gamma), equation :eq:`keerthi-lin`,
    tends to the linear SVM with C = c. So the first trials are linear SVMs, and the next ones Gaussian SVMs on this line through
    the best c. It needs a space with C and gamma, and no further parameter that varies. If the space has a linear kernel as
    well, as in the example, the linear SVMs have that kernel. If it has C and gamma alone, the kernel must be Gaussian, and the
    smallest gamma of its range is in place of the linear kernel: c = 2 gamma C, and C and gamma need wide ranges.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of the order: each line is searched from coarse to fine, in a random order of equally fine points.
    n_costs : int, default=21
        Costs of the linear SVM, at least 2, evenly spaced in the logarithm from end to end of the range of C.
    n_widths : int, default=33
        Values of gamma, at least 2, evenly spaced in the same way. Those at which C leaves its range are left out. Further trials
        halve the steps.

    Raises
    ------
    SolverError
        If `n_costs` or `n_widths` is invalid, or the space lacks a parameter, or has one that the two lines do not have.

    See Also
    --------
    KrigingSearch : The default, of any space.

    Notes
    -----
    The name "keerthi_lin" has the numbers with which Carrizosa et al. 2014 compare the method. The best of all trials counts,
    linear ones included. Where c is still unknown, because trials run in parallel, the best one reported so far is taken.

    References
    ----------
    Keerthi, Lin 2003, "Asymptotic behaviors of support vector machines with Gaussian kernel", section 7.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from spotsvm import SpotSearchCV
    >>> space = [
    ...     {"kernel": ["linear"], "C": loguniform(2**-8, 2**2)},
    ...     {
    ...         "kernel": ["rbf"],
    ...         "C": loguniform(2**-17, 2**9),
    ...         "gamma": loguniform(2**-8, 2**8),
    ...     },
    ... ]
    >>> search = SpotSearchCV(
    ...     SVC(),
    ...     space,
    ...     n_iter=54,
    ...     search="keerthi_lin",
    ...     start=[],
    ...     random_state=0,
    ... )
    >>> kernels = search.fit(*load_iris(return_X_y=True)).cv_results_[
    ...     "param_kernel"
    ... ]
    >>> kernels[:21].tolist() == ["linear"] * 21, kernels[21]
    (True, 'rbf')
    """

    capabilities = Capabilities(n_initial=54, initial_name="two lines", max_given=0, respects_constraints=True, needs_space=True)

    def __init__(self, domain: Domain, seed: int = 0, *, n_costs: int = 21, n_widths: int = 33):
        super().__init__(domain, seed)
        for name, count in (("n_costs", n_costs), ("n_widths", n_widths)):
            if not is_count(count, 2):
                raise SolverError(f"{name}={count!r} is not a number of trials on a line; use 2 or more")
        self.n_costs, self.n_widths = n_costs, n_widths
        self.capabilities = replace(self.capabilities, n_initial=n_costs + n_widths)
        self._lines: _Lines | None = None
        self._costs: Floats = np.empty(0)
        self._first: list[Floats] = []
        self._second: dict[tuple[int, int], list[Floats]] = {}

    def take_space(self, space: SearchSpace) -> None:
        """Take the parameters behind the coordinates, before the first `ask`.

        Parameters
        ----------
        space : SearchSpace
            The space.

        Raises
        ------
        SolverError
            If the space lacks a parameter that the method needs, or has others.
        """
        self._lines = _Lines.of(space)
        self._costs = np.geomspace(*self._lines.costs, self.n_costs)
        self._first = [self.domain.snap_one(self._lines.linear(cost)) for cost in self._costs.tolist()]

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the next new point of the first line, then of the second, and a random point if there is none.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        for k in _coarse_to_fine(self.n_costs, [self.seed, 1]):
            if self.is_new(self._first[k]):
                return Suggestion(self._first[k], "cost")
        best = self._best()
        for halvings in range(_HALVINGS + 1):
            for point in self._points_through(best, halvings):
                if self.is_new(point):
                    return Suggestion(point, "width")
        note = f"the line of C and gamma from C = {self._costs[best]:.3g} has no further point in the space"
        return Suggestion(self.new_point(rng), "random", note)

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result still to be reported; at least 1."""
        left = sum(self.is_new(point) for point in self._first)
        if left or any(self.is_pending(point) for point in self._first):
            return max(left, 1)
        return max(sum(self.is_new(point) for point in self._points_through(self._best(), 0)), 1)

    def _best(self) -> int:
        """Return the index of the best cost so far, the smallest of equal ones; the middle before any has succeeded."""
        index = {point.tobytes(): k for k, point in enumerate(self._first)}
        told: list[list[float]] = [[] for _ in self._first]
        for point, value in zip(self.points, self.values, strict=True):
            if (k := index.get(point.tobytes())) is not None and np.isfinite(value):
                told[k].append(float(value))
        means = [sum(v / len(values) for v in values) if values else np.inf for values in told]
        return int(np.argmin(means)) if np.isfinite(means).any() else len(means) // 2

    def _points_through(self, best: int, halvings: int) -> list[Floats]:
        """Return the points of the second line, in the order in which they are tried, that come with a halving of its step."""
        if (best, halvings) not in self._second:
            assert self._lines is not None
            seed = [self.seed, 2, halvings]
            if halvings:
                shares = np.random.default_rng(seed).permutation(np.arange(0.5, (self.n_widths - 1) * 2 ** (halvings - 1)))
            else:
                shares = np.array(_coarse_to_fine(self.n_widths, seed), dtype=float)
            shares /= (self.n_widths - 1) * 2 ** max(halvings - 1, 0)
            low, high = self._lines.gammas
            gammas = np.exp(np.log(low) + shares * np.log(high / low)).clip(low, high).tolist()
            points = [self._lines.gaussian(float(self._costs[best]), gamma) for gamma in gammas]
            self._second[best, halvings] = [self.domain.snap_one(point) for point in points if point is not None]
        return self._second[best, halvings]


def _coarse_to_fine(n: int, seed: list[int]) -> list[int]:
    """Return 0 to n - 1, multiples of large powers of 2 first; of equally large powers in a random order."""
    rng = np.random.default_rng(seed)
    power = [n if k == 0 else k & -k for k in range(n)]
    return [k for _, _, k in sorted((-power[k], rng.random(), k) for k in range(n))]


_NAMES = ("C", "gamma", "kernel")
_NEEDS = (
    "the two lines need positive ranges of C and gamma, and no further parameter that varies, such as "
    "[{'kernel': ['linear'], 'C': loguniform(2**-8, 2**2)}, "
    "{'kernel': ['rbf'], 'C': loguniform(2**-17, 2**9), 'gamma': loguniform(2**-8, 2**8)}]"
)


@dataclass(frozen=True)
class _Kernel:
    """A kernel in a space: all parameters of its dictionary, and the names there of C, gamma and the kernel."""

    space: SearchSpace
    kernel: Any
    described: Mapping[str, Any]
    params: Mapping[str, Any]
    names: Mapping[str, str]

    def range(self, short: str) -> tuple[float, float]:
        """Return the bounds of C or gamma; SolverError if it is not a range of positive numbers."""
        where = "" if self.kernel is None else f" of the kernel {self.kernel!r}"
        if short not in self.names:
            raise _refusal(f"the space has no {short}{where}, or a sweep has it")
        match self.described[self.names[short]]:
            case {"kind": "continuous", "quantiles": [low, *_, high]} if 0 < low < high:
                return float(low), float(high)
        raise _refusal(f"{self.names[short]}{where} is not a range of positive numbers")

    def point(self, **values: Any) -> Floats:
        """Return the point of the cube with these values of C and gamma; a linear kernel has no gamma, or any."""
        known = {short: value for short, value in values.items() if short in self.names}
        if self.kernel is not None:
            known["kernel"] = self.kernel
        return self.space.encode({**self.params, **{self.names[short]: value for short, value in known.items()}})


@dataclass(frozen=True)
class _Lines:
    """Both lines in a space: of the linear kernel, or of the smallest gamma in its place, and of the Gaussian kernel."""

    first: _Kernel
    second: _Kernel
    #: costs c of the linear SVM, gammas of the Gaussian ones, and their costs
    costs: tuple[float, float]
    gammas: tuple[float, float]
    bounds: tuple[float, float]

    @classmethod
    def of(cls, space: SearchSpace) -> _Lines:
        """Return the lines in a space; SolverError if they are not there."""
        kernels = _kernels(space)
        linear, gaussian = ([one for one in kernels if (one.kernel == "linear") is is_linear] for is_linear in (True, False))
        if len(gaussian) != 1 or len(linear) > 1:
            raise _refusal(f"the space has {len(linear)} linear and {len(gaussian)} Gaussian kernels")
        second = gaussian[0]
        gammas, bounds = second.range("gamma"), second.range("C")
        if not linear:
            return cls(second, second, (2 * gammas[0] * bounds[0], 2 * gammas[0] * bounds[1]), gammas, bounds)
        low, high = costs = linear[0].range("C")
        if bounds[0] > low / (2 * gammas[0]) * (1 + _ROUNDING) or bounds[1] < high / (2 * gammas[1]) * (1 - _ROUNDING):
            raise _refusal(
                f"a line C = c / (2 gamma) from c = {low:.3g} or {high:.3g} lies outside the range of C of the Gaussian kernel; "
                f"let that reach from {low / (2 * gammas[1]):.3g} to {high / (2 * gammas[0]):.3g}"
            )
        return cls(linear[0], second, costs, gammas, bounds)

    def linear(self, cost: float) -> Floats:
        """Return the point of the linear SVM with a cost."""
        if self.first.kernel == "linear":
            return self.first.point(C=cost)
        low, high = self.bounds
        return self.second.point(C=min(max(cost / (2 * self.gammas[0]), low), high), gamma=self.gammas[0])

    def gaussian(self, cost: float, gamma: float) -> Floats | None:
        """Return the point of the Gaussian SVM that tends to the linear one with a cost; None if C is out of range."""
        (low, high), C = self.bounds, cost / (2 * gamma)
        if not low * (1 - _ROUNDING) <= C <= high * (1 + _ROUNDING):
            return None
        return self.second.point(C=min(max(C, low), high), gamma=gamma)


def _kernels(space: SearchSpace) -> list[_Kernel]:
    """Return the kernels of a space; SolverError if it has others than two, or parameters that no line has."""
    found = []
    for centre, described in zip(space.centres(), space.describe(), strict=True):
        known = [name for name in described if name.rpartition("__")[2] in _NAMES]
        names = {name.rpartition("__")[2]: name for name in known}
        varying = [name for name, one in described.items() if one["kind"] != "choice" or len(one["values"]) > 1]
        if others := [name for name in varying if name not in names.values()]:
            raise _refusal(f"the space also has {', '.join(others)}")
        kernels = described[names["kernel"]].get("values", [None]) if "kernel" in names else [None]
        if strange := [kernel for kernel in kernels if kernel not in (None, "linear", "rbf")]:
            raise _refusal(f"the space also has the kernel {strange[0]!r}")
        found += [_Kernel(space, kernel, described, space.decode(centre), names) for kernel in kernels]
    return found


def _refusal(why: str) -> SolverError:
    return SolverError(f"search='keerthi_lin' cannot search this space: {why}; {_NEEDS}")
