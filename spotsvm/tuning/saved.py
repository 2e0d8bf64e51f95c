"""A fitted pipeline as a file, with the description of its training table; loading the file executes no code."""

from __future__ import annotations

import json
import stat
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from spotsvm.common.fingerprint import versions
from spotsvm.common.text import printable_line, shown_value
from spotsvm.errors import StorageError
from spotsvm.preprocessing.cells.table_reading import TableReading
from spotsvm.tuning.pipelines.registry import default_scoring
from spotsvm.tuning.results_folder import check_results
from spotsvm.tuning.scoring import positive_class
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.tables.target import Task

MODEL, PARAMETERS = "model.skops", "parameters.json"
#: member of the file that describes the training table; skops ignores it
_ABOUT = "spotsvm.json"
_MOST_BYTES = 1 << 24
#: maximum bytes of an unpacked model, or maximum ratio to the size of the file, whichever is larger
_UNPACKED, _RATIO = 1 << 28, 100
#: types in saved pipelines besides those of numpy, scipy and scikit-learn, which skops trusts by default
_OURS = {
    "numpy.dtype",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._datetime_encoder._CircularEncoder",
    "skrub._string_encoder.StringEncoder",
    "skrub._to_str.ToStr",
    "spotsvm.common.notices.Notice",
    "spotsvm.estimators.cutoff.cutoff_classifier.CutoffClassifier",
    "spotsvm.estimators.reduced.reduced_svc.ReducedSVC",
    "spotsvm.estimators.reduced.reduced_svc.SubsetSVC",
    "spotsvm.luck.calibration.Calibration",
    "spotsvm.luck.difference.Difference",
    "spotsvm.luck.difference.TuningGain",
    "spotsvm.luck.drawn.Drawn",
    "spotsvm.luck.drawn.Evidence",
    "spotsvm.luck.estimate.ExpectedScore",
    "spotsvm.out_of_fold.judged_rows.Answers",
    "spotsvm.out_of_fold.judged_rows.JudgedRows",
    "spotsvm.out_of_fold.table.OutOfFold",
    "spotsvm.preprocessing.far_targets.TargetScaler",
    "spotsvm.preprocessing.cells.column_reading.ColumnReading",
    "spotsvm.preprocessing.cells.column_reading.Given",
    "spotsvm.preprocessing.cells.numbers.Notation",
    "spotsvm.preprocessing.cells.table_reading.TableReading",
    "spotsvm.preprocessing.importance_fraction.ImportanceFraction",
    "spotsvm.preprocessing.principal_monomials.PrincipalMonomials",
    "spotsvm.preprocessing.spectra.pls_scores.PLSScores",
    "spotsvm.preprocessing.spectra.savitzky_golay.SavitzkyGolay",
    "spotsvm.preprocessing.spectra.scatter_correction.ScatterCorrection",
    "spotsvm.preprocessing.table_encoder.TableEncoder",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "spotsvm.tuned.default_models.WeightedCalibration",
    "spotsvm.tuned.average.FittedAverage",
    "spotsvm.tuned.columns.Columns",
    "spotsvm.tuned.columns.Numbers",
    "spotsvm.tuned.columns.Scaled",
    "spotsvm.tuned.encodings.Encoding",
    "spotsvm.tuned.members.Member",
    "spotsvm.tuned.power_target.PowerScale",
    "spotsvm.tuned.power_target.Smearing",
    "spotsvm.tuned.scored_sweeps.Screening",
    "spotsvm.tuned.sweeps.Setting",
    "spotsvm.tuned.sweeps.Sweep",
    "spotsvm.tuned.tuned_svc.TunedSVC",
    "spotsvm.tuned.tuned_svr.TunedSVR",
}


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline, and the description of its training table."""

    pipeline: Any
    target: str
    task: Task
    columns: tuple[str, ...]
    cells: TableReading
    versions: Mapping[str, str]
    #: for each column whether it has gaps, and its smallest and largest number
    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: the name of the score, and its positive class, if any
    metric: str = ""
    positive: Any = None
    #: coefficients and intercepts of a logistic regression on the decision values, and its number of training rows
    calibration: Mapping[str, Any] | None = None

    def probabilities(self, X: Any) -> pd.DataFrame | None:
        """Return a column with the probability of each class, or None if the model has none."""
        classes = getattr(self.pipeline, "classes_", None)
        if classes is None:
            return None
        names = [f"probability_{label}" for label in classes]
        if hasattr(self.pipeline, "predict_proba"):
            return pd.DataFrame(self.pipeline.predict_proba(X), columns=names)
        if self.calibration is None:
            return None
        model = LogisticRegression()
        model.classes_ = np.arange(len(classes))
        model.coef_, model.intercept_ = np.array(self.calibration["coef"]), np.array(self.calibration["intercept"])
        return pd.DataFrame(model.predict_proba(_decisions(self.pipeline, X)), columns=names)


def save_model(path: Path, pipeline: Any, table: Table, metric: str = "", held_out: Table | None = None) -> None:
    """Write a pipeline that was fitted to rows of this table; held-out rows calibrate its decision values to probabilities."""
    import skops.io  # on use: it takes a while, and few commands need it

    metric = metric or default_scoring("svm", table.task)
    positive = positive_class(metric, table)
    about = {
        "target": str(table.y.name),
        "task": table.task,
        "columns": list(table.X.columns),
        "cells": None if table.cells is None else table.cells.to_json(),
        "seen": {name: _seen(table.X[name]) for name in table.X.columns},
        "metric": metric,
        "positive": positive.item() if isinstance(positive, np.generic) else positive,
        "calibration": None if held_out is None else _calibration(pipeline, held_out),
        "versions": versions(),
    }
    skops.io.dump(pipeline, path, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_ABOUT, json.dumps(about, indent=2) + "\n")


def _seen(column: pd.Series) -> dict[str, Any]:
    present = column.dropna()
    found: dict[str, Any] = {"gaps": len(present) < len(column)}
    if is_numeric_dtype(column) and len(present):
        found |= {"low": float(present.min()), "high": float(present.max())}
    return found


def _calibration(pipeline: Any, held_out: Table) -> dict[str, Any] | None:
    """Return a logistic regression of the classes on the decision values of rows that the model was not fitted to.

    This is Platt's scaling, for several classes on the decision values of all. None if a class does not occur.
    """
    classes = getattr(pipeline, "classes_", None)
    if classes is None or hasattr(pipeline, "predict_proba") or not hasattr(pipeline, "decision_function"):
        return None
    codes = pd.Index(classes).get_indexer(pd.Index(held_out.y))
    if len(np.unique(codes)) < len(classes):
        return None
    model = LogisticRegression(max_iter=1000).fit(_decisions(pipeline, held_out.X), codes)
    return {"coef": model.coef_.tolist(), "intercept": model.intercept_.tolist(), "rows": len(codes)}


def _decisions(pipeline: Any, X: Any) -> Any:
    values = np.asarray(pipeline.decision_function(X))
    return values.reshape(len(values), -1)


def load_model(path: str | Path) -> SavedModel:
    """Return the model that `save_model` has written, or the model.skops in a folder.

    StorageError is raised if the file is damaged, has untrusted types, or unpacks to far more than its size.
    """
    import skops.io

    if Path(path).is_dir():
        check_results(Path(path), MODEL)
        path = Path(path, MODEL)
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise StorageError(f"{path} is not a regular file; name a model.skops that spotsvm tune has written")
        with zipfile.ZipFile(path) as file:
            unpacked, most = sum(member.file_size for member in file.infolist()), max(_UNPACKED, _RATIO * status.st_size)
            if unpacked > most or file.getinfo(_ABOUT).file_size > _MOST_BYTES:
                raise StorageError(
                    f"{path} unpacks to {unpacked >> 20} MiB, far more than its size of {status.st_size >> 10} KiB, so it is "
                    "not loaded; use a model.skops that spotsvm tune has written"
                )
            about = _description(file.read(_ABOUT))
        foreign = sorted(set(skops.io.get_untrusted_types(file=path)) - _OURS)
        if foreign:
            raise StorageError(
                f"{path} has types that are neither spotsvm's nor scikit-learn's, so it is not loaded: {', '.join(foreign[:5])}; "
                "use a model.skops that spotsvm tune has written"
            )
        pipeline = skops.io.load(path, trusted=sorted(_OURS))
        _check_fits(about, pipeline)
        names = ("target", "task", "versions", "seen", "metric", "positive", "calibration")
        columns, cells = tuple(about["columns"]), TableReading.from_json(about["cells"])
        return SavedModel(pipeline, columns=columns, cells=cells, **{name: about[name] for name in names})
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{path}: there is no such file; name a model.skops that spotsvm tune has written") from error
    except zipfile.BadZipFile as error:
        raise StorageError(f"{path} is no model; name a model.skops that spotsvm tune has written") from error
    except Exception as error:  # what a damaged file raises can be anything
        why = printable_line(str(error) or type(error).__name__, 200)
        raise StorageError(
            f"{path} cannot be loaded ({why}); use a model.skops that this version of spotsvm has written"
        ) from error


def _description(text: bytes) -> dict[str, Any]:
    """Return the description of the training table; ValueError if it is not as `save_model` writes it."""
    about = json.loads(text.decode("utf-8"), object_pairs_hook=_once_each)
    if not isinstance(about, dict):
        raise ValueError(f"{_ABOUT} in it is no description of a table")
    of = about.get("versions")
    written = f", which spotsvm {of.get('spotsvm')} has written" if isinstance(of, dict) else ""
    for name, fits in _FIELDS.items():
        if name not in about:
            raise ValueError(f"{_ABOUT} in it{written} has no {name!r}")
        if not fits(about[name]):
            raise ValueError(f"{_ABOUT} in it{written} has {name}={shown_value(about[name])}")
    named = set(about["columns"])
    if about["cells"].get("names") != about["columns"] or not set(about["seen"]) <= named:
        raise ValueError(f"{_ABOUT} in it describes other columns than it names")
    return about


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a name stands twice in {_ABOUT}")
    return found


def _check_fits(about: Mapping[str, Any], pipeline: Any) -> None:
    """Raise ValueError if a description is not of this model."""
    names, n = getattr(pipeline, "feature_names_in_", None), getattr(pipeline, "n_features_in_", None)
    columns, classes = about["columns"], getattr(pipeline, "classes_", None)
    if (names is not None and list(names) != columns) or (n is not None and n != len(columns)):
        raise ValueError(f"its model was fitted to other columns than {_ABOUT} names")
    if (classes is None) == (about["task"] == "classification"):
        raise ValueError(f"its model is not of the task {about['task']}")
    if (sigmoids := about["calibration"]) is not None:
        k = 0 if classes is None else len(classes)
        coefficients, intercepts = np.asarray(sigmoids["coef"], dtype=float), np.asarray(sigmoids["intercept"], dtype=float)
        rows, decisions = (1, (1,)) if k == 2 else (k, (k, k * (k - 1) // 2))
        if intercepts.shape != (rows,) or coefficients.shape not in [(rows, d) for d in decisions]:
            raise ValueError(f"{_ABOUT} in it has probabilities of another number of classes")
        if not (np.isfinite(coefficients).all() and np.isfinite(intercepts).all()):
            raise ValueError(f"{_ABOUT} in it has probabilities that are no numbers")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_columns(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_text, value)) and len(set(value)) == len(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _was_seen(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("gaps"), bool) or ("low" in value) != ("high" in value):
        return False
    numbers = [value[end] for end in ("low", "high") if end in value]
    return all(map(_is_number, numbers))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_calibration(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("coef"), list)
        and isinstance(value.get("intercept"), list)
        and isinstance(value.get("rows"), int)
    )


#: what a description has, and how each of its parts is checked
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "task": lambda value: value in ("classification", "regression"),
    "columns": _are_columns,
    "cells": lambda value: isinstance(value, dict),  # `TableReading.from_json` checks what is in it
    "seen": lambda value: isinstance(value, dict) and all(map(_was_seen, value.values())),
    "metric": _is_text,
    "positive": lambda value: value is None or isinstance(value, str | int | float),
    "calibration": _is_calibration,
    "versions": _are_texts,
}


def machine_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of the SVM in a pipeline as JSON types; they are valid arguments of its class."""
    machine = estimator
    while not hasattr(machine, "kernel"):
        inner = (
            machine[-1] if isinstance(machine, Pipeline) else getattr(machine, "regressor", getattr(machine, "estimator", None))
        )
        if inner is None:
            break
        machine = inner
    params = {name: value.item() if hasattr(value, "item") else value for name, value in machine.get_params(deep=False).items()}
    return {name: value for name, value in params.items() if _is_json(value)}


def _is_json(value: Any) -> bool:
    numbers = isinstance(value, Mapping) and all(isinstance(v, bool | int | float | str) for v in value.values())
    return value is None or numbers or isinstance(value, bool | int | float | str)
