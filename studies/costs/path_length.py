"""The number of files of the library in which a call enters at least one function.

Run it as `python -m spotsvm.studies.costs.path_length`. Calls are warm: the same call has run once before, so all modules are
imported.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study
from spotsvm.commands.main import main as command_line

_SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
_COLUMNS = ("total", "spotsvm", "goal")


def entered(call: Callable[[], Any]) -> frozenset[str]:
    """Return the modules of the library in which a call, in this thread, enters a function."""
    names: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            names.add(str(frame.f_globals.get("__name__")))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return frozenset(name for name in names if name.partition(".")[0] == "spotsvm" and name != __name__)


def paths() -> dict[str, tuple[frozenset[str], int]]:
    """Return for each measured call the files that it enters, and the maximum number of files in spotsvm."""
    X, y = load_iris(return_X_y=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        study = stack.enter_context(Study(_SPACE, seed=0, path=folder / "study.db"))
        study.run(_objective, 25)
        file = folder / "iris.csv"
        np.savetxt(file, np.column_stack([X, y]), "%g", ",", header="a,b,c,d,kind", comments="")

        def fit() -> None:
            SpotSearchCV(SVC(), _SPACE, n_iter=15, random_state=0).fit(X, y)

        def tune() -> None:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                command_line(["tune", str(file), "--target", "kind"], standalone_mode=False)

        fit()
        tune()
        found = {
            "SpotSearchCV.fit": (entered(fit), 33),
            "one trial of Study.run": (entered(lambda: study.run(_objective, 26)), 17),
        }
        trial = study.ask()
        # a study has a ledger and a bookkeeper in their own files
        found["tell"] = entered(lambda: study.tell(trial, 1.0)), 9
        found["spotsvm tune FILE.csv"] = entered(tune), 43
    return found


def table(found: Mapping[str, tuple[frozenset[str], int]]) -> pd.DataFrame:
    """Count the files of each call, in all packages and in the folder spotsvm alone."""
    elsewhere = ("spotsvm.surrogates", "spotsvm.solvers", "spotsvm.studies")
    rows = {
        name: (len(modules), sum(not module.startswith(elsewhere) for module in modules), goal)
        for name, (modules, goal) in found.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))


def _objective(params: dict[str, Any]) -> float:
    return float(params["C"])


if __name__ == "__main__":
    print(table(paths()).to_string())
