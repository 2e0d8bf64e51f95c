"""Each study in as small a form as shows that it works, without data sets from files; it runs once for all tests of a process."""

import os
import tempfile
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from unittest import mock

import joblib

from spotsvm.studies.alga.runs import ALGA, GRID
from spotsvm.studies.new_rows.entrants import DEFAULTS, REFERENCE

_FOLDERS = []  # removed when the process ends
STUDIES = {point.name: point for point in entry_points(group="spotsvm.studies")}
#: arguments besides quick=True; those that are left out have none
SMALL = {
    "acid": {"budgets": [2], "seeds": 2, "entrants": {"random": ("three", "random")}},
    "alga": {
        "sets": ["2d-chessboard-dots 4x4"], "methods": [GRID, ALGA], "max_n_per_class": 4, "max_evaluations": 20,
    },
    "conformal": {"n_draws": 2, "n_splits": 2},
    "early_stopping": {"tasks": ("rows",), "seeds": 1, "n_trials": 8},
    "kernel_evolution": {
        "n_evaluations": 6, "n_splits": 2, "grammars": ("psd",),
        "options": {"n_finalists": 1, "n_tuning_trials": 1, "n_holdouts": 1, "population_size": 4, "tournament_size": 2},
    },
    "load": {"parts": ("cluster",)},
    "nested_vns": {"seeds": 1, "n_rbf_seeds": 1},
    "new_rows": {"entrants": (REFERENCE, DEFAULTS, "constant"), "sets": ("digits",), "n_splits": 2},
    "coverage": {
        "cases": ("regression",), "models": ("SpotSearchCV",), "sets": ("friedman 1",), "n_studies": 2, "n_truths": 2,
    },
    "optimum_priors": {"tasks": ("branin",), "seeds": 1, "n_trials": 10},
    "oversearching": {"n_trials": 4, "searches": ("random",)},
    "peers": {"problems": ("branin",), "n_random": 2},
    "pending_quality": {"tasks": ["branin_noisy"], "searches": ["lhs"], "n_trials": 8, "seeds": 2},
    "stormwater": {"n_trials": 6, "searches": ("kriging",), "train_stride": 20, "seeds": 1},
}  # fmt: skip


def run_small(name, **options):
    """Run a study in its small form."""
    with mock.patch.dict(os.environ), joblib.parallel_config("threading"):  # processes take seconds to begin
        os.environ.pop("SPOTSVM_DATA", None)
        return STUDIES[name].load()(quick=True, **SMALL.get(name, {}) | options).run()


def path_of(name, folder):
    """Return the argument by which a study keeps its jobs, or its searches their records, in a folder."""
    return Path(folder) if STUDIES[name].load().keeps_records else Path(folder) / "jobs.json"


@cache
def ran(name):
    """Return a study that has run in its small form; its jobs are kept in `study.path`."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="spotsvm-tests-"))
    return run_small(name, path=path_of(name, _FOLDERS[-1].name))
