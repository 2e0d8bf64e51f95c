"""One run of the study of evolved kernels: a method on a split of a set, and its error on the test rows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC
from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.studies.common.data import Floats
from spotsvm.studies.kernel_evolution.data import GRID, TUNED_RBF, LabelledSet, split_rows

FOLDS = 5

#: the arguments of an evolution that are not the study's own
OPTIONS = tuple(sorted(EvolvedKernelSVC().get_params().keys() - {"grammar", "n_evaluations", "random_state"}))

#: a run's columns, and what reads them from a file
COLUMNS: dict[str, Callable[[str], Any]] = {
    "set": str,
    "checksum": str,
    "split": int,
    "seed": int,
    "method": str,
    "evaluations": int,
    "options": str,
    "error": float,
    "validation": float,
    "seconds": float,
    "train_rows": int,
    "test_rows": int,
    "C": float,
    "gamma": float,
    "formula": str,
    "latex": str,
    "constants": str,
    "kernel": str,
    "size": int,
}


class Tuned(NamedTuple):
    """A machine that is ready to be tested, and what was found on the way.

    Attributes
    ----------
    machine : Pipeline
        Fitted to all training rows.
    found : dict
        validation (the error that the choice went by), C, gamma, formula, latex, constants (values of the formula's symbols),
        kernel (JSON, which `ExpressionKernel.from_json` reads), size (nodes of the kernel's expression).
    """

    machine: Pipeline
    found: dict[str, Any]


def method_of(grammar: str) -> str:
    """Return the name of genetic programming with a grammar.

    Examples
    --------
    >>> method_of("paper")
    'GP (paper)'
    """
    return f"GP ({grammar})"


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as a text that is the same for the same options.

    Examples
    --------
    >>> options_text({"max_depth": 4, "indefinite": "clip"})
    '{"indefinite": "clip", "max_depth": 4}'
    """
    return json.dumps(dict(options), sort_keys=True, default=repr)


def run_split(
    data: LabelledSet, split: int, seed: int, grammar: str | None, n_evaluations: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Tune on a split's training rows, and give a row: the error on its test rows, and what was found.

    Parameters
    ----------
    data : LabelledSet
        The set.
    split : int
        Its number.
    seed : int
        Of the split's rows, and of the folds or the evolution: the same for all methods.
    grammar : {"paper", "psd"} or None
        Of genetic programming; None tunes the RBF kernel.
    n_evaluations : int
        Fitness evaluations of genetic programming.
    options : dict
        Further arguments of `EvolvedKernelSVC`.
    """
    train, test = split_rows(len(data.y), seed)
    X, y = data.X[train], data.y[train]
    began = time.process_time()
    tuned = tuned_rbf(X, y, seed) if grammar is None else evolved(X, y, seed, grammar, n_evaluations, options)
    seconds = time.process_time() - began
    return {
        "set": data.name,
        "checksum": data.checksum,
        "split": split,
        "seed": seed,
        "method": TUNED_RBF if grammar is None else method_of(grammar),
        "evaluations": len(GRID) ** 2 if grammar is None else n_evaluations,
        "options": "" if grammar is None else options_text(options),
        "error": float(np.mean(tuned.machine.predict(data.X[test]) != data.y[test])),
        "seconds": seconds,
        "train_rows": len(train),
        "test_rows": len(test),
        **tuned.found,
    }


def tuned_rbf(X: Floats, y: NDArray[Any], seed: int, exponents: tuple[int, ...] = GRID) -> Tuned:
    """Tune C and gamma of the RBF kernel by grid search with 5-fold cross-validation, and train on all rows.

    Of settings with the same error the first counts: the least C, then the least gamma. Features are standardised in each fold.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training rows.
    y : ndarray of shape (n,)
        Their classes.
    seed : int
        Of the folds.
    exponents : tuple of int, default=(-8, ..., 8)
        Binary logarithms of both.
    """
    pipeline = make_pipeline(StandardScaler(), ExactSVC())
    candidates = [{"exactsvc__C": 2.0**c, "exactsvc__gamma": 2.0**g} for c, g in product(exponents, exponents)]
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    sizes = np.array([len(test) for _, test in folds])
    # counted, for sums of shares differ by rounding where the numbers of errors are the same
    wrong = np.round((1.0 - cross_val_scores(pipeline, X, y, candidates, folds)) * sizes).sum(axis=1)
    best = int(np.argmin(wrong))
    machine = pipeline.set_params(**candidates[best]).fit(X, y)
    gamma = candidates[best]["exactsvc__gamma"]
    rbf = Expression("gaussian", value=gamma)
    found = {"C": candidates[best]["exactsvc__C"], "gamma": gamma, "formula": rbf.text(), "latex": rbf.latex(), "size": 1}
    kernel = json.dumps(json.loads(ExpressionKernel(rbf).to_json()))
    return Tuned(machine, {"validation": float(wrong[best]) / len(y), **found, "constants": "", "kernel": kernel})


def evolved(X: Floats, y: NDArray[Any], seed: int, grammar: str, n_evaluations: int, options: Mapping[str, Any]) -> Tuned:
    """Evolve a kernel on standardised features, and train on all rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training rows.
    y : ndarray of shape (n,)
        Their classes.
    seed : int
        Of the evolution.
    grammar : {"paper", "psd"}
        What kernels are made of.
    n_evaluations : int
        Fitness evaluations.
    options : dict
        Further arguments of `EvolvedKernelSVC`.
    """
    machine = EvolvedKernelSVC(grammar=grammar, n_evaluations=n_evaluations, random_state=seed, **options)
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, y)
    # of the cross-validation that chose among the best, where there was one
    validation = machine.fitness_ if np.isnan(machine.cv_error_) else machine.cv_error_
    found = {
        "validation": float(validation),
        "C": float(machine.C_),
        "gamma": float("nan"),
        "formula": machine.expression_.text(),
        "latex": machine.expression_.latex(),
        "constants": _constants_text(machine.kernel_function_.constants),
        "kernel": json.dumps(json.loads(machine.kernel_function_.to_json())),
        "size": machine.expression_.size,
    }
    return Tuned(pipeline, found)


def _constants_text(constants: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in constants.items())
