"""Oversearching between sets: configurations tuned on each of several sets, and applied to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import t as student

from spotsvm.common.csv_files import write_csv
from spotsvm.common.drawing import new_axes
from spotsvm.comparison.runs import (
    Entrant,
    check_direction_and_jobs,
    check_entrants,
    checked_seeds,
    labelled_searches,
    record_name,
    run_jobs,
)
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.luck.intervals import Floats
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.study.study import Study
from spotsvm.trials.evaluation import call
from spotsvm.trials.findings import APPLIED, Applied, content_of
from spotsvm.trials.objectives import Direction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SetObjective = Callable[[dict[str, Any], str], float | Mapping[str, float]]


def oversearching_between_sets(
    objective: SetObjective,
    space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    sets: Sequence[str],
    search: Entrant = "kriging",
    n_trials: int = 200,
    seeds: int | Sequence[int] = 5,
    *,
    direction: Literal["minimize", "maximize"] = "minimize",
    noise: Noise = "auto",
    n_jobs: int | None = None,
    path: str | Path | None = None,
) -> OversearchingMatrix:
    """Search on each set from each seed, and apply the recommended configuration to all sets.

    Each search sees one set; only its winner is evaluated on the other sets. The diagonal has the value that the search reports
    for its winner: the expected value of `Study.recommend`.

    Parameters
    ----------
    objective : callable
        Takes the parameters as a dict, and the name of a set; returns a float above 0, or a mapping with "value".
    space : dict or list of dict
        As `Study` takes it.
    sets : sequence of str
        Names of two sets or more.
    search : str or callable, default="kriging"
        As in `compare`: a name, or a callable `(domain, seed)`.
    n_trials : int, default=200
        Trials of each search.
    seeds : int or sequence of int, default=5
        Number of searches on each set, with the seeds 0, 1, ...; or a list of seeds.
    direction : {"minimize", "maximize"}, default="minimize"
        Whether a smaller or a larger value is better.
    noise : "auto" or bool, default="auto"
        As in `Study`.
    n_jobs : int or None, default=None
        Number of parallel searches, each in its own process; -1 means one per processor, None means 1. It does not change the
        matrix.
    path : path-like, optional
        A folder for the records, one file per search. The same call resumes after an interruption.

    Returns
    -------
    OversearchingMatrix
        With V_t and S_t, `frame()`, `to_csv()`, `to_markdown()` and `plot()`.

    Raises
    ------
    ArgumentError
        If there are fewer than two sets, a winner has no value on another set, or its value on its own set is not above 0.
    BudgetError
        If `n_trials` is smaller than the search's initial design.
    NoCompletedTrialError
        If no trial of a search has succeeded.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> best = {"spring": 0.2, "summer": 0.5, "autumn": 0.6}
    >>> def error(params, name):
    ...     return 1.0 + (params["x"] - best[name]) ** 2
    >>> matrix = oversearching_between_sets(
    ...     error, {"x": uniform(0, 1)}, list(best), n_trials=12, seeds=2
    ... )
    >>> [round(v, 2) for v in matrix.V.tolist()]
    [0.12, 0.05, 0.09]
    """
    names = checked_names(sets)
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} is not callable; use a function of the parameters and a set's name")
    check_direction_and_jobs(direction, n_jobs)
    all_seeds = checked_seeds(seeds)
    entrants = labelled_searches([search])
    shared = space if isinstance(space, Space) else Space(space)
    check_entrants(entrants, shared, n_trials, noise=noise)
    folder = None if path is None else Path(path)

    def row(seed: int, name: str) -> list[float]:
        own = None if folder is None else folder / record_name(name, seed)
        context = {"set": name}
        with Study(
            cast("Any", shared), cast("Any", search), seed, direction=direction, path=own, noise=noise, context=context
        ) as study:
            return _tuned_and_applied(study, objective, n_trials, name, names)

    jobs = [(seed, name) for seed in all_seeds for name in names]
    rows = np.array(list(run_jobs(row, jobs, n_jobs))).reshape(len(all_seeds), len(names), len(names))
    return OversearchingMatrix(rows, names, direction)


def _tuned_and_applied(study: Study, objective: SetObjective, n_trials: int, tuned_on: str, names: Sequence[str]) -> list[float]:
    """Return a row of the matrix: the value of one search's winner on each set."""
    try:
        study.run(partial(_on_set, objective, tuned_on), n_trials, max_failures=None)
        winner = study.recommend()
    except NoCompletedTrialError as error:
        raise NoCompletedTrialError(f"set {tuned_on!r}, seed {study.seed}: {error}") from error
    known = study.findings.applied
    applied = dict(known.values) if known is not None and known.number == winner.number else {}
    for name in names:
        if name == tuned_on or name in applied:
            continue
        outcome = call(partial(_on_set, objective, name), dict(winner.params))
        if outcome.value is None:
            raise ArgumentError(
                f"the winner of the search on {tuned_on!r} from seed {study.seed} has no value on {name!r}: {outcome.reason}"
            ) from outcome.error
        applied[name] = outcome.value
        study.add_finding(APPLIED, content_of(Applied(winner.number, applied)))
    return [winner.value if name == tuned_on else applied[name] for name in names]


def _on_set(objective: SetObjective, name: str, params: dict[str, Any]) -> float | Mapping[str, float]:
    return objective(params, name)


class OversearchingMatrix:
    """Errors or scores of configurations tuned on each of several sets and applied to all of them.

    Parameters
    ----------
    values : array-like of shape (n_seeds, n_sets, n_sets) or (n_sets, n_sets)
        Rows are the sets tuned on, columns the sets applied to; two sets or more.
    names : sequence of str
        Names of the sets.
    direction : {"minimize", "maximize"}, default="minimize"
        Whether the values are errors, or scores (larger is better).

    Attributes
    ----------
    mean, std : ndarray of shape (n_sets, n_sets)
        R, the mean over the seeds, and the standard deviation; nan for a single seed.
    S : ndarray of shape (n_sets,)
        S_t, the mean value on set t of the configurations tuned on the other sets.
    V : ndarray of shape (n_sets,)
        V_t, by how much S_t is worse than R_tt, relative to R_tt: (S_t - R_tt) / R_tt for errors, (R_tt - S_t) / R_tt for
        scores. Near 0 without oversearching.
    V_by_seed : ndarray of shape (n_seeds, n_sets)
        V from the values of each seed.
    V_error : ndarray of shape (n_sets,)
        The standard error of V over the seeds, by the jackknife; nan for a single seed.

    Raises
    ------
    ArgumentError
        If there are fewer than two sets, the matrix is not square, an entry is not finite, or an R_tt is not above 0 (V_t is
        relative to R_tt).

    Notes
    -----
    Equation :eq:`between-sets` of the chapter :doc:`/method/index`.

    S_t is the mean of the off-diagonal entries of column t: their sum over the number of sets less one. The paper prints 1/3 for
    three sets, but its Table 6 has 1/2.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", eq. 15, Table 6.

    Examples
    --------
    >>> table6 = [
    ...     [9.11, 16.40, 12.88],
    ...     [10.82, 12.78, 12.36],
    ...     [10.45, 12.93, 7.69],
    ... ]
    >>> matrix = OversearchingMatrix(table6, ["Set 1", "Set 3", "Set 4"])
    >>> [round(100 * v, 2) for v in matrix.V.tolist()]
    [16.74, 14.75, 64.11]
    """

    def __init__(self, values: ArrayLike, names: Sequence[str], direction: Direction = "minimize"):
        if direction not in ("minimize", "maximize"):
            raise ArgumentError(f"direction={direction!r} is unknown; use 'minimize' for errors or 'maximize' for scores")
        self.names = checked_names(names)
        self.direction: Direction = direction
        self.values = checked_values(values, self.names)
        self.mean: Floats = self.values.mean(axis=0)
        self.std: Floats = _spread(self.values)
        self.S = off_diagonal_means(self.mean)
        self.V = self._worsening(self.mean)
        self.V_by_seed: Floats = np.array([self._worsening(of_seed) for of_seed in self.values])
        self.V_error = self._jackknife()

    def _worsening(self, matrix: Floats) -> Floats:
        own = np.diagonal(matrix)
        worse = off_diagonal_means(matrix) - own
        return np.asarray((worse if self.direction == "minimize" else -worse) / own)

    def _jackknife(self) -> Floats:
        n = len(self.values)
        if n < 2:
            return np.full(len(self.names), np.nan)
        left_out = [self._worsening(np.delete(self.values, k, axis=0).mean(axis=0)) for k in range(n)]
        return np.asarray(np.sqrt((n - 1) * np.var(left_out, axis=0)))

    def frame(self) -> pd.DataFrame:
        """Return one row per set tuned on, then S_t and V_t; columns are means and standard deviations per set applied to.

        The standard deviations over the seeds are in the columns named "sd" and the set, also for S_t and V_t.

        Returns
        -------
        DataFrame
            One row for each set tuned on, and the rows S_t and V_t.
        """
        rows = np.vstack([self.mean, self.S, self.V])
        own = np.array([off_diagonal_means(of_seed) for of_seed in self.values])
        spread = np.vstack([self.std, _spread(own), _spread(self.V_by_seed)])
        columns: dict[str, Any] = {"tuned_on": [*self.names, "S_t", "V_t"]}
        for k, name in enumerate(self.names):
            columns |= {name: rows[:, k], f"sd {name}": spread[:, k]}
        return pd.DataFrame(columns)

    def runs(self) -> pd.DataFrame:
        """Return one row per seed, set tuned on and set applied to; seeds are numbered by position.

        Returns
        -------
        DataFrame
            One row for each seed, set tuned on and set applied to.
        """
        places = list(np.ndindex(self.values.shape))
        rows = [(k, self.names[v], self.names[t], self.values[k, v, t]) for k, v, t in places]
        return pd.DataFrame(rows, columns=["run", "tuned_on", "applied_to", "value"])

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as a CSV file.

        Raises
        ------
        StorageError
            If the file cannot be written.
        """
        write_csv(self.frame(), path, "matrix")

    def to_markdown(self, digits: int = 2) -> str:
        """Return the matrix as in the paper's Table 6: the best value of a column is bold, standard deviations are in brackets.

        Returns
        -------
        str
            The matrix as a table.
        """
        best = (np.argmin if self.direction == "minimize" else np.argmax)(self.mean, axis=0)
        lines = [f"| tuned on | {' | '.join(map(_escaped, self.names))} |", f"| --- |{' ---: |' * len(self.names)}"]
        for v, name in enumerate(self.names):
            cells = []
            for t in range(len(self.names)):
                cell = f"{self.mean[v, t]:.{digits}f}"
                cell = f"**{cell}**" if best[t] == v else cell
                cells.append(cell if np.isnan(self.std[v, t]) else f"{cell} ({self.std[v, t]:.{digits}f})")
            lines.append(f"| {_escaped(name)} | {' | '.join(cells)} |")
        lines.append(f"| S_t | {' | '.join(f'{s:.{digits}f}' for s in self.S)} |")
        lines.append(f"| V_t | {' | '.join(self._percentages())} |")
        return "\n".join(lines)

    def _percentages(self) -> list[str]:
        errors = ["" if np.isnan(e) else f" +- {100 * e:.1f}" for e in self.V_error]
        return [f"{100 * v:.1f}{error} %" for v, error in zip(self.V, errors, strict=True)]

    def summary(self, confidence: float = 0.95) -> str:
        """Return sentences on how much worse configurations tuned on other sets are, and where this exceeds the seeds' spread.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level of the two-sided t interval that decides whether V_t differs from 0.

        Returns
        -------
        str
            The sentences.
        """
        parts = ", ".join(f"{v} on {name}" for name, v in zip(self.names, self._percentages(), strict=True))
        what = "error" if self.direction == "minimize" else "score"
        text = f"Compared with tuning on the set itself, tuning on the other sets makes the {what} worse by {parts}"
        n = len(self.values)
        if n < 2:
            return f"{text}.\nA single seed does not show the spread."
        clear = self.V > student.ppf((1 + confidence) / 2, n - 1) * self.V_error
        where = ", ".join(name for name, yes in zip(self.names, clear, strict=True) if yes) or "none of them"
        return f"{text} (+-: standard error over {n} seeds).\nThe {100 * confidence:g} % interval lies above 0 on {where}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the matrix; the colours show how much worse a value is than that of tuning on the set itself.

        Returns
        -------
        Axes
            The axes of the picture.
        """
        size = 2.2 + 0.9 * len(self.names)
        ax = new_axes(ax, size + 1.2, size)
        own = np.diagonal(self.mean)
        worse = 100 * (self.mean - own) / own * (1 if self.direction == "minimize" else -1)
        top = max(float(worse.max()), 1e-9)
        image = ax.imshow(worse, cmap="Blues", vmin=min(float(worse.min()), 0.0), vmax=top)
        for v, t in np.ndindex(worse.shape):
            spread = "" if np.isnan(self.std[v, t]) else f"\n({self.std[v, t]:.2g})"
            colour = "white" if worse[v, t] > 0.6 * top else "black"
            ax.text(t, v, f"{self.mean[v, t]:.4g}{spread}", ha="center", va="center", color=colour)
        labels = [f"{name}\nV = {100 * v:.1f} %" for name, v in zip(self.names, self.V, strict=True)]
        ax.set_xticks(range(len(self.names)), labels)
        ax.set_yticks(range(len(self.names)), self.names)
        ax.set_xlabel("applied to")
        ax.set_ylabel("tuned on")
        ax.figure.colorbar(image, ax=ax, label="worse than tuned on the set itself (%)")
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix and its summary as JSON types, for `from_dict`.

        Returns
        -------
        dict
            The matrix and its summary as JSON types.
        """
        return {
            "values": self.values.tolist(),
            "names": list(self.names),
            "direction": self.direction,
            "S": self.S.tolist(),
            "V": self.V.tolist(),
            "V_error": [None if np.isnan(error) else float(error) for error in self.V_error],
            "summary": self.summary(),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> OversearchingMatrix:
        """Create the matrix from the result of `to_dict`.

        Returns
        -------
        OversearchingMatrix
            The matrix.
        """
        return cls(given["values"], given["names"], given["direction"])

    def __repr__(self) -> str:
        return f"<OversearchingMatrix of {', '.join(self.names)}: V = {', '.join(self._percentages())}>"


def off_diagonal_means(matrix: Floats) -> Floats:
    """Return the mean of each column without its diagonal entry, shape (n,)."""
    return np.asarray((matrix.sum(axis=0) - np.diagonal(matrix)) / (len(matrix) - 1))


def _spread(values: Floats) -> Floats:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def _escaped(name: str) -> str:
    return " ".join(name.replace("|", "\\|").split())


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the sets; raise ArgumentError unless there are two or more, all different."""
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise ArgumentError(f"sets={names!r} are not names; use a list of strings")
    given = tuple(names)
    if len(given) < 2:
        raise ArgumentError(
            f"there is only {len(given)} set; use two or more, so that the result tuned on one can be applied to another"
        )
    if twice := [name for name in given if given.count(name) > 1]:
        raise ArgumentError(f"two sets are named {twice[0]!r}; use a different name for each")
    return given


def checked_values(values: ArrayLike, names: Sequence[str]) -> Floats:
    """Return values as an array of shape (n_seeds, n_sets, n_sets), or raise ArgumentError; see `OversearchingMatrix`."""
    array = np.asarray(values, dtype=float)
    array = array[None] if array.ndim == 2 else array
    n = len(names)
    if array.ndim != 3 or array.shape[1:] != (n, n) or not len(array):
        raise ArgumentError(f"values have the shape {array.shape}; use (seeds, {n}, {n}) or ({n}, {n}) for {n} sets")
    if len(bad := np.argwhere(~np.isfinite(array))):
        k, v, t = bad[0]
        raise ArgumentError(
            f"tuned on {names[v]!r} and applied to {names[t]!r} has the value {array[k, v, t]} (run {k}); leave that run out"
        )
    own = np.diagonal(array, axis1=1, axis2=2)
    if len(low := np.argwhere(own <= 0)):
        k, t = low[0]
        raise ArgumentError(
            f"tuned on and applied to {names[t]!r} has the value {own[k, t]:g} (run {k}), and V_t is relative to it; use an "
            "error or a score above 0"
        )
    return array
