"""The data sets of the study of evolved kernels, the printed errors, and one run of a method on one split."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.errors import DataError
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC
from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.studies.common.data import Floats, data_folder, read_table, stand_ins

#: the paper's names of the sets, and their files
FILES = {"Ionosphere": "ionosphere", "Glass2": "glass2", "Heart": "heart_statlog", "Liver": "liver", "Pima": "pima"}
#: the paper's names of its methods
GP, TUNED_RBF = "GP", "tRBF"
#: Table 3
N_EVALUATIONS, N_SPLITS, BREEDING_TRIES = 2500, 20, 5000
#: share of rows tested on, section 3.3
TEST_SHARE = 0.2
#: section 3.3: the grid's binary logarithms, for C and for gamma
GRID = tuple(range(-8, 9))
_TABLE_9 = {
    GP: """
        0.0282  0.0845  0.1831  0.04293839
        0.1212  0.2545  0.3939  0.07513299
        0.0556  0.1516  0.2593  0.04939896
        0.1884  0.2929  0.3623  0.04495063
        0.1883  0.2300  0.2727  0.02374211
    """,
    TUNED_RBF: """
        0.0282  0.0599  0.1127  0.02279090
        0.0606  0.2015  0.3333  0.07375339
        0.0926  0.1593  0.2593  0.05076841
        0.2029  0.3043  0.4493  0.05340525
        0.1688  0.2403  0.3117  0.03304342
    """,
}


class Errors(NamedTuple):
    """A row of Table 9: error rates on the test rows over 20 runs."""

    best: float
    mean: float
    worst: float
    sd: float


#: (set, method) to Table 9's row
TABLE_9: dict[tuple[str, str], Errors] = {
    (name, method): Errors(*(float(cell) for cell in row.split()))
    for method, text in _TABLE_9.items()
    for name, row in zip(FILES, text.strip().splitlines(), strict=True)
}


_X, _Z = Expression("x_i"), Expression("x_j")


def _of(block: str, *arguments: Expression) -> Expression:
    return Expression(block, arguments)


def _scaled_by_norm(constant: str) -> Expression:
    """Return (c <x_i, x_i>) x_j, a part of two printed kernels."""
    return _of("scalar_times_vector", _of("multiply", Expression(constant), _of("inner_product", _X, _X)), _Z)


_PRODUCT = _of("inner_product", _X, _Z)
#: Table 10: the kernel with the lowest validation error of 20 runs
TABLE_10: dict[str, Expression] = {
    "Ionosphere": _of(
        "add",
        Expression("c1"),
        _of("divide", _of("square", _PRODUCT), _of("square", _of("inner_product", _scaled_by_norm("c2"), _Z))),
    ),
    "Glass2": _of("add", _of("square", _of("inner_product", _Z, _scaled_by_norm("c1"))), _of("square", _PRODUCT)),
    "Heart": _PRODUCT,
    "Liver": _of("add", Expression("c1"), _of("square", _of("multiply", Expression("c2"), _PRODUCT))),
    "Pima": _of("multiply", Expression("c1"), _PRODUCT),
}


Rows = NDArray[np.intp]
#: the fastest of the paper's sets
QUICK_SETS = ("Glass2", "Heart")


class LabelledSet(NamedTuple):
    """Rows of features, and their classes as named in the file."""

    name: str
    X: Floats
    y: NDArray[Any]

    @property
    def checksum(self) -> str:
        """A checksum of the data."""
        return str(joblib.hash((self.X, self.y.astype(str))))[:12]


def labelled_sets(names: Sequence[str] | None, quick: bool) -> list[LabelledSet]:
    """Return sets of the paper by their names; by default all five, or two of them in the quick form.

    Without names and without a folder of data sets, two small sets of scikit-learn.
    """
    if names is None:
        if data_folder() is None:
            return [LabelledSet(data.name, data.X, data.y.astype(int)) for data in stand_ins()]
        names = QUICK_SETS if quick else tuple(FILES)
    return [_read(name) for name in names]


def _read(name: str) -> LabelledSet:
    table = read_table(FILES[name]).drop(columns="part", errors="ignore").dropna()
    y = table["y"].to_numpy()
    y = y if y.dtype.kind in "iu" else y.astype(str)
    if len(np.unique(y)) != 2:
        raise DataError(f"{FILES[name]}: column y has {len(np.unique(y))} values; a set with two classes is needed")
    return LabelledSet(name, table.drop(columns="y").to_numpy(dtype=np.float64), y)


def split_seeds(seed: int, n_splits: int) -> list[int]:
    """Return the seed of each split; a larger number of splits begins with the same seeds."""
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(n_splits)]


def split_rows(n_rows: int, seed: int) -> tuple[Rows, Rows]:
    """Return the training rows, 80 %, and the test rows, drawn without regard to their classes."""
    train, test = train_test_split(np.arange(n_rows), test_size=TEST_SHARE, random_state=seed)
    return train, test


FOLDS = 5
#: arguments of `EvolvedKernelSVC` that the study does not set itself
OPTIONS = tuple(sorted(EvolvedKernelSVC().get_params().keys() - {"grammar", "n_trials", "random_state"}))


class Tuned(NamedTuple):
    """A pipeline fitted to all training rows, and the results of its tuning.

    The results are validation (the error by which the setting was chosen), C, gamma, formula, latex, constants (values of the
    symbols in the formula), kernel (JSON for `ExpressionKernel.from_json`) and size (number of nodes of the expression).
    """

    machine: Pipeline
    found: dict[str, Any]


def method_of(grammar: str) -> str:
    """Return the name of the method with a grammar."""
    return f"GP ({grammar})"


def run_split(
    data: LabelledSet, seed: int, grammar: str | None, n_evaluations: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Tune on the training rows of a split; return the error on its test rows and the tuned kernel.

    The seed determines the split, and the folds or the evolution; it is the same for all methods. Without a grammar the RBF
    kernel is tuned. `options` are further arguments of `EvolvedKernelSVC`.
    """
    train, test = split_rows(len(data.y), seed)
    X, y = data.X[train], data.y[train]
    began = time.process_time()
    tuned = tuned_rbf(X, y, seed) if grammar is None else evolved(X, y, seed, grammar, n_evaluations, options)
    seconds = time.process_time() - began
    return {
        "evaluations": len(GRID) ** 2 if grammar is None else n_evaluations,
        "error": float(np.mean(tuned.machine.predict(data.X[test]) != data.y[test])),
        "seconds": seconds,
        "train_rows": len(train),
        "test_rows": len(test),
        **tuned.found,
    }


def tuned_rbf(X: Floats, y: NDArray[Any], seed: int, exponents: tuple[int, ...] = GRID) -> Tuned:
    """Tune C and gamma of the RBF kernel by grid search with 5-fold cross-validation, and train on all rows.

    `exponents` are the binary logarithms of both. Among settings with the same error, the smallest C and then the smallest gamma
    is chosen. Features are standardised in each fold.
    """
    pipeline = make_pipeline(StandardScaler(), ExactSVC())
    candidates = [{"exactsvc__C": 2.0**c, "exactsvc__gamma": 2.0**g} for c, g in product(exponents, exponents)]
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    sizes = np.array([len(test) for _, test in folds])
    # numbers of errors, because sums of error rates differ by rounding
    wrong = np.round((1.0 - cross_val_scores(pipeline, X, y, candidates, folds)) * sizes).sum(axis=1)
    best = int(np.argmin(wrong))
    machine = pipeline.set_params(**candidates[best]).fit(X, y)
    gamma = candidates[best]["exactsvc__gamma"]
    rbf = Expression("gaussian", value=gamma)
    found = {
        "validation": float(wrong[best]) / len(y),
        "C": candidates[best]["exactsvc__C"],
        "gamma": gamma,
        "formula": rbf.text(),
        "latex": rbf.latex(),
        "constants": "",
        "kernel": json.dumps(json.loads(ExpressionKernel(rbf).to_json())),
        "size": 1,
    }
    return Tuned(machine, found)


def evolved(X: Floats, y: NDArray[Any], seed: int, grammar: str, n_evaluations: int, options: Mapping[str, Any]) -> Tuned:
    """Evolve a kernel on standardised features, and train on all rows; `options` are further arguments of `EvolvedKernelSVC`."""
    machine = EvolvedKernelSVC(grammar=cast("Any", grammar), n_trials=n_evaluations, random_state=seed, **options)
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, y)
    # the error of the cross-validation among the finalists, if there was one
    validation = machine.fitness_ if np.isnan(machine.cv_error_) else machine.cv_error_
    found = {
        "validation": float(validation),
        "C": float(machine.C_),
        "gamma": float("nan"),
        "formula": machine.expression_.text(),
        "latex": machine.expression_.latex(),
        "constants": ", ".join(f"{name} = {value:.4g}" for name, value in machine.kernel_function_.constants.items()),
        "kernel": json.dumps(json.loads(machine.kernel_function_.to_json())),
        "size": machine.expression_.size,
    }
    return Tuned(pipeline, found)
