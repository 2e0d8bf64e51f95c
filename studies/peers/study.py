"""Searches of this library compared with optimizers of other libraries, at equal budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from spotsvm.comparison.runs import Searches, labelled_searches
from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.data import data_from
from spotsvm.studies.common.experiment import Experiment, Seeds, check_names, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.peers.entrants import Entrant, Search, close_pipes, installed_peers
from spotsvm.studies.peers.optimizers import OPTIMIZERS
from spotsvm.studies.peers.problems import Problem
from spotsvm.studies.peers.results import RANDOM, by_function, mean_column, shown, summary, with_regret
from spotsvm.studies.peers.runs import problem_of, run
from spotsvm.studies.peers.suites import SUITES
from spotsvm.studies.peers.two_objectives import with_shares

PEERS = tuple(OPTIMIZERS)

_NOTES = """\
Each optimizer runs on each problem from the same seeds, with its own defaults, initial design included. Budgets are evaluations
in units of the dimension d. Normalised regret: 0 is the known minimum, or the best result of all runs of this study if it is not
known; 1 is the median of random search after as many evaluations. If these two are equal, there is no regret, and the function
does not count. Of a function it is the median over seeds and instances; the tables have its mean over the functions with a 95 %
interval in brackets, from a bootstrap of the functions, and its median. With noise the result is the true value of the choice of
the optimizer, or of the best value where it has none; otherwise it is the best value. A run that ends by an error of an
optimizer counts as failed, with the best value until then. Times of a suggestion are processor times, for asking and telling: the
mean of each run, and the median over the runs.
Constraints are handed to Kriging, Optuna, COBYQA and Ax; the others are told the worst value so far plus the violations. The
result is the best allowed value; the allowed point that COCO has for each function counts for all.
With two objectives the result is the share that a run lacks of the hypervolume of the joint front of all runs on the problem, to
a reference a tenth of the front beyond its worst values; the regret is 0 for the joint front. Optimizers of one objective are
left out there."""


@dataclass(kw_only=True)
class PeersStudy(Experiment):
    """Searches compared with each other and with optimizers of other libraries, at equal budgets.

    The suite "tasks" has cross-validated errors of SVCs and SVRs on small data sets (two to fourteen parameters), an SVR that
    predicts the level of a tank from rain (nine parameters, four of them integers), class weights and cutoffs scored on random
    splits, and functions with known minima, with and without noise. The suite "coco" has the 24 noiseless functions of COCO
    (Hansen et al. 2021), from the package coco-experiment; "coco-noisy" the same with normal noise, of a tenth of the distance
    between the quartiles of the values at random points; "coco-constrained" COCO's 54 with constraints that are evaluated like
    the function, and "coco-mixint" its 24 with integers. The suite "bayesmark" has losses in cross-validation of nine models of
    scikit-learn on six of its data sets, in the spaces of Turner et al. 2021; boston is read from the package pydataset. The
    suite "biobj" has two objectives: eight functions of COCO's bbob-biobj (1, 8, ..., 50) on the box [-5, 5], and the error of an
    SVC against its number of support vectors and against the time of a prediction; searches such as "nsga2" take part in it.

    The optimizers of other libraries are Optuna (TPE), scikit-optimize (Gaussian process), COBYQA of scipy, CMA-ES of pycma, Ax,
    HEBO, and SMAC3 with a random forest ("smac") or a Gaussian process ("smac_bb"). Those that are not installed are left out,
    and named. One that needs other versions of packages runs in an interpreter of its own. COBYQA and CMA-ES start from the
    centre.

    Parameters
    ----------
    quick : bool, default=False
        One seed of budgets 2 d and 4 d on two functions of the tasks, with random search and COBYQA.
    n_jobs, path
        See `Experiment`.
    suites : sequence of {"tasks", "coco", "coco-noisy", "coco-constrained", "coco-mixint", "bayesmark", "biobj"}, optional
        The problems; by default the tasks. A suite whose package is missing is left out, and named.
    budgets : sequence of int, optional
        Numbers of evaluations, in units of the dimension; by default 5, 10 and 20.
    seeds : int or sequence of int, optional
        Seeds of the runs on each problem, or their number; by default 3.
    n_random : int, optional
        Number of runs of random search, the unit of the regret: at least those of `seeds`; by default 15.
    searches : sequence or dict, default=("kriging",)
        Searches of this library as `compare` takes them. "random" is always there.
    peers : sequence of str, optional
        Optimizers of other libraries; by default all.
    interpreters : dict, default={}
        Name of an optimizer and the Python interpreter that runs it, such as ``{"hebo": "hebo-env/bin/python"}``; it needs the
        optimizer's library alone.
    problems : sequence of str, optional
        Patterns of names, such as ``"bbob f1 *"``; by default all problems of the suites.
    dimensions : sequence of int, optional
        Dimensions of the functions of COCO; by default 2, 3, 5 and 10.
    instances : sequence of int, optional
        Instances of the functions of COCO; by default the first.
    coco_folder : path-like, optional
        Folder for the evaluations of COCO's functions without noise in its own format: a folder for each suite, with one for each
        optimizer. ``python -m cocopp FOLDER/coco/kriging FOLDER/coco/optuna`` draws their curves.

    References
    ----------
    Hansen, Auger, Ros, Mersmann, Tusar, Brockhoff 2021, "COCO: a platform for comparing continuous optimizers in a black-box
    setting". Turner, Eriksson, McCourt, Kiili, Laaksonen, Xu, Guyon 2021, "Bayesian optimization is superior to random search for
    machine learning hyperparameter tuning: analysis of the black-box optimization challenge 2020".
    """

    name = "peers"
    shared = ("budgets", "coco_folder")
    _notes = _NOTES

    suites: Sequence[str] = either(("tasks",), among=SUITES)
    budgets: Sequence[int] = either((5, 10, 20), (2, 4))
    seeds: Seeds = either(3, 1)
    n_random: int = either(15, 3, least=1)
    searches: Searches = either(("kriging",), ("lhs",))
    peers: Sequence[str] = either(PEERS, ("cobyqa",))
    interpreters: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = either(("*",), ("branin", "hartmann6"))
    dimensions: Sequence[int] = either((2, 3, 5, 10), (2,))
    instances: Sequence[int] = either((1,))
    coco_folder: str | Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.searches = self._searches = {
            label: one for label, one in labelled_searches(self.searches, several=True).items() if label != RANDOM
        }
        self.interpreters = dict(self.interpreters)
        self.coco_folder = None if self.coco_folder is None else str(self.coco_folder)
        if self.peers:
            check_names("peers", self.peers, PEERS)
        if unknown := [name for name in self.interpreters if name not in self.peers]:
            raise ArgumentError(f"interpreters: {unknown[0]!r} is not among the optimizers; use some of {', '.join(self.peers)}")
        if twice := [name for name in self._searches if name in self.peers]:
            raise ArgumentError(f"searches: {twice[0]!r} is the name of an optimizer of another library; use another label")
        if not self.budgets or min(self.budgets) < 1 or sorted(set(self.budgets)) != list(self.budgets):
            raise ArgumentError(f"budgets={self.budgets} is not a list of evaluations by dimension; use for example (5, 10, 20)")
        for argument in ("dimensions", "instances"):
            if not (given := getattr(self, argument)) or min(given) < 1:
                raise ArgumentError(f"{argument}={given} is empty or has a number below 1; use for example (2,)")
        self._names = [
            (suite, name)
            for suite in self.suites
            for name in SUITES[suite].names(self.dimensions, self.instances)
            if any(fnmatchcase(name, pattern) for pattern in self.problems)
        ]
        if not self._names:
            raise ArgumentError(
                f"problems={self.problems} fit no problem of the suites {', '.join(self.suites)}; use ('*',) for all"
            )
        self.left_out: dict[str, str] = {}

    def _measure(self) -> pd.DataFrame:
        peers, self.left_out = installed_peers(tuple(self.peers), self.interpreters)
        own = {label: Search(search) for label, search in self._searches.items()}
        entrants: dict[str, Entrant] = {RANDOM: Search(RANDOM), **own, **peers}
        problems = self._made()
        numbers = sorted({problem.n_objectives for problem in problems.values()})
        for label, entrant in entrants.items():
            if lacking := [str(m) for m in numbers if not entrant.takes(m)]:
                self.left_out[label] = f"it does not minimise {lacking[0]} {'objective' if lacking == ['1'] else 'objectives'}"
        if not problems:
            raise DataError(f"no problem can be made: {'; '.join(dict.fromkeys(self.left_out.values()))}")
        try:
            return with_regret(with_shares(self._run(self._jobs_of(problems, entrants))))
        finally:
            close_pipes()

    def _made(self) -> dict[tuple[str, str], Problem]:
        """Return the problems whose data and packages are there; the others stand in `left_out`."""
        made = {}
        with data_from(self.data):
            for suite, name in self._names:
                try:
                    made[suite, name] = problem_of(suite, name)
                except DataError as error:
                    self.left_out[name] = str(error)
        return made

    def _jobs_of(self, problems: Mapping[tuple[str, str], Problem], entrants: Mapping[str, Entrant]) -> Iterator[Job]:
        further = [seed for seed in range(max(self.seeds) + 1 + self.n_random) if seed not in self.seeds]
        unit = [*self.seeds, *further][: max(self.n_random, len(self.seeds))]
        folder = None if self.coco_folder is None else Path(self.coco_folder).absolute()
        for (suite, name), problem in problems.items():
            for label, entrant in entrants.items():
                if not entrant.takes(problem.n_objectives):
                    continue
                for seed in unit if label == RANDOM else self.seeds:
                    key = {"suite": suite, "problem": name, "optimizer": label, "seed": seed}
                    yield Job(key, run, (suite, name, label, entrant, seed, self.budgets, folder))

    def table(self) -> pd.DataFrame:
        """Return a row for each group of problems and optimizer: regret after each budget, runs, and ms a suggestion."""
        return summary(self.frame())

    def by_function(self) -> pd.DataFrame:
        """Return a row for each function, budget and optimizer: result and regret, the medians over seeds and instances."""
        return by_function(self.frame())

    def versions(self) -> pd.DataFrame:
        """Return the optimizers with the versions of their libraries in the runs, and why others were left out."""
        runs = self.frame()
        parts = runs.drop_duplicates(["optimizer", "version"])[["optimizer", "version"]]
        out = pd.DataFrame({"optimizer": list(self.left_out), "version": [f"left out: {why}" for why in self.left_out.values()]})
        return pd.concat([parts, out], ignore_index=True) if len(out) else parts.reset_index(drop=True)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the versions of the optimizers, and what was left out."""
        return {"Optimizers, and what was left out": self.versions()}

    def _markdown_tables(self) -> dict[str, pd.DataFrame]:
        return {"Normalised regret": shown(self.table(), tuple(self.budgets)), **self.further_tables()}

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"by_function": self.by_function()}

    def drawn_columns(self) -> tuple[str, ...]:
        """Return the columns of the table that the figure shows."""
        return tuple(mean_column(n) for n in self.budgets)

    def conclusion(self) -> str:
        """Return in words the regrets after the largest budget, and what was left out."""
        table, last = self.table(), self.budgets[-1]
        parts = []
        for group, part in table.groupby("problems", sort=False):
            column = mean_column(last)
            regrets = ", ".join(f"{row[column]:.2f} by {row['optimizer']}" for _, row in part.dropna(subset=[column]).iterrows())
            parts.append(f"Mean normalised regret on {group} after {last} d evaluations: {regrets or 'none'}.")
        failed = table[table["failed"] > 0]
        if len(failed):
            counts = "; ".join(f"{row['failed']} of {row['optimizer']} on {row['problems']}" for _, row in failed.iterrows())
            parts.append(f"Runs that ended by an error: {counts}.")
        if self.left_out:
            parts.append(f"Left out: {', '.join(self.left_out)}.")
        return " ".join(parts)
