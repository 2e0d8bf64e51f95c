"""Sweeps beyond the grid, chosen by a Kriging search, and the record of a fit.

The grid is the initial design of a study with sweeps of C: the search gets the parameters of a sweep (family, gamma and others)
and the best score along the sweep. The study's record keeps the out-of-fold decisions of each C, so that a later fit scores no
sweep again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform

from spotsvm.common.text import did_you_mean
from spotsvm.errors import ArgumentError, SearchExhaustedError
from spotsvm.space.parameter import is_number
from spotsvm.space.space import Space
from spotsvm.study.study import Study
from spotsvm.trials.ledger import suggested
from spotsvm.trials.trial import Trial
from spotsvm.tuned.encodings import STANDARD, encodings_for
from spotsvm.tuned.families import FAMILIES
from spotsvm.tuned.sweeps import Scored, Setting, Sweep, Sweeps

_RANGES = {"gamma": loguniform(2.0**-9, 2.0**3), "epsilon": loguniform(2e-3, 0.5)}
_CLASS, _COLUMN = "class_weight__", "scale__"


class SearchedSweeps(Sweeps, AbstractContextManager["SearchedSweeps"]):
    """The sweeps of a grid, followed by those proposed by a Kriging search, in a study, up to `budget`.

    `space` has gamma, relevance, epsilon, class_weight__<class> and scale__<column>; a record at `path` also depends on
    `context`. `costs` are the least and the largest C.
    """

    def __init__(
        self,
        first: Sequence[Sweep],
        budget: int,
        space: Mapping[str, Any],
        costs: tuple[float, float],
        columns: Sequence[str],
        classes: Sequence[str],
        seed: int,
        path: str | Path | None,
        context: Mapping[str, str],
        encodings: Collection[str],
        search: Any = "kriging",
    ):
        super().__init__(first)
        self._budget, self._names, self._classes = budget, list(space), list(classes)
        self._n_columns, self._epsilon = len(columns), max(sweep.epsilon for sweep in first)
        families = list(dict.fromkeys(sweep.family for sweep in first))
        self._has_encodings = len(encodings) > 1
        self._matches = matched_columns(space, own_parameters(families, classes), columns)
        given = {name: positive(name, parameter) for name, parameter in (Space(space).branches[0] if space else {}).items()}
        self._names_of: dict[str, list[str]] = {}
        branches: dict[Any, dict[str, Any]] = {}  # a branch for families with the same parameters
        for family in families:
            own = own_parameters([family], classes)
            ranges = {name: space.get(name, _RANGES[name]) for name in own if name in _RANGES}
            ranges |= {name: what for name, what in space.items() if name in own or name in self._matches}
            ways = encodings_for(FAMILIES[family].squared, encodings)
            if len(encodings) > 1:
                ranges["encoding"] = ways
            branch = branches.setdefault((*ranges, *ways), {"family": [], **ranges, "C": loguniform(*costs)})
            branch["family"].append(family)
            self._names_of[family] = [name for name in ranges if name != "encoding"]
        if not any(self._names_of.values()):  # linear kernels: nothing is left to search
            self._budget = len(first)
            for branch in branches.values():
                branch["gamma"] = _RANGES["gamma"]
            self._names_of |= dict.fromkeys(families, ["gamma"])
        self.study = Study(
            list(branches.values()), search, seed, direction="maximize", noise=False, sweep="C", path=path, context=context,
            start=[self._start(sweep, given) for sweep in first],
        )  # fmt: skip
        self.n_scored = min(self.study.n_finished, self._budget)
        self._trial: Trial | None = None
        self._keeps = path is not None

    def __exit__(self, *details: object) -> None:
        self.study.close()

    @property
    def n_sweeps(self) -> int:
        """The number of sweeps to score."""
        return self._budget

    def recorded(self) -> list[list[Scored]]:
        """Return the sweeps in the record, in order."""
        sweeps = []
        for lead in suggested(self.study.trials):
            if lead.state != "running":
                of_lead = [t for t in self.study.trials if t.sweep == lead.number]
                sweeps.append([self._scored(t) for t in sorted(of_lead, key=lambda t: float(t.params["C"]))])
        return sweeps[: self._budget]

    def __iter__(self) -> Iterator[Sweep]:
        while self.study.n_finished < self._budget:
            try:
                self._trial = self.study.ask()
            except SearchExhaustedError:
                return
            yield self._sweep(self._trial.params)

    def tell(self, scored: Sequence[Scored]) -> None:
        """Report the scores of a sweep to the study, which records them."""
        assert self._trial is not None
        outcomes = {}
        for one in scored:
            kept = {"answers": one.decisions} if self._keeps else {}
            outcomes[one.setting.C] = {"value": one.value, **kept}
        self.study.tell(self._trial, outcomes)
        super().tell(scored)

    def _start(self, sweep: Sweep, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a sweep of the grid as parameters, moved to the nearest values in the user's ranges."""
        of_grid = {"gamma": 2.0**sweep.log_gamma, "epsilon": sweep.epsilon}
        params = {name: of_grid.get(name, 1.0) for name in self._names_of[sweep.family]}
        near = {name: given[name].nearest(value) for name, value in params.items() if name in given}
        encoding = {"encoding": sweep.encoding} if self._has_encodings else {}
        return {"family": sweep.family, **encoding, "C": 1.0, **params, **near}

    def _sweep(self, params: Mapping[str, Any]) -> Sweep:
        factors = np.ones(self._n_columns)
        for name, places in self._matches.items():
            factors[places] *= params[name]
        has_classes = any(name.startswith(_CLASS) for name in self._names)
        return Sweep(
            params["family"],
            float(np.log2(params.get("gamma", 1.0))),
            0.0 if FAMILIES[params["family"]].squared else float(params.get("epsilon", self._epsilon)),
            float(params.get("relevance", 1.0)),
            tuple(factors.tolist()) if self._matches else (),
            tuple(float(params.get(_CLASS + name, 1.0)) for name in self._classes) if has_classes else (),
            tuple((name, params.get(name, np.nan)) for name in self._names),
            params.get("encoding", STANDARD),
        )

    def _scored(self, trial: Trial) -> Scored:
        setting = Setting(**vars(self._sweep(trial.params)), C=trial.params["C"])
        value = np.nan if trial.value is None else trial.value
        return Scored(setting, cast("NDArray[np.float32]", trial.answers), value)


def own_parameters(families: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return the names of the parameters of sweeps of some families, except column factors."""
    kinds = [FAMILIES[name] for name in families]
    names = ["gamma"] * any(kind.kernel != "linear" for kind in kinds)
    names += ["relevance"] * any(kind.columns == "relevance" for kind in kinds)
    names += ["epsilon"] * (not classes and not all(kind.squared for kind in kinds))
    return [*names, *(_CLASS + name for name in classes)]


def matched_columns(space: Mapping[str, Any], own: Sequence[str], columns: Sequence[str]) -> dict[str, list[int]]:
    """Return the column indices of each scale__<column>; ArgumentError for a name that matches no parameter or column."""
    matches: dict[str, list[int]] = {}
    for name in space:
        if name in own:
            continue
        if name.startswith(_COLUMN):
            column = name.removeprefix(_COLUMN)
            found = [j for j, known in enumerate(columns) if known == column]
            matches[name] = found or [j for j, known in enumerate(columns) if fnmatchcase(known, column)]
        if not matches.get(name):
            hint = did_you_mean(name, [*own, *(_COLUMN + known for known in columns)])
            raise ArgumentError(
                f"space has {name!r}, which is no parameter here; use {', '.join(own[:8])} or {_COLUMN}<column>{hint}"
            )
    return matches


def positive(name: str, parameter: Any) -> Any:
    """Return a parameter if its values are positive (0 is allowed for epsilon and relevance); else raise ArgumentError."""
    values = parameter.listed or parameter.bounds
    zero = name in ("relevance", "epsilon")
    for value in values:
        if not is_number(value) or not (0.0 < value < np.inf or (zero and value == 0.0)):
            raise ArgumentError(f"space[{name!r}] has the value {value!r}; use positive, finite numbers{' or 0' * zero}")
    return parameter
