"""A fitted pipeline as a file, with what has to be known to use it on a later table; loading it executes nothing."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pandas.api.types import is_object_dtype
from sklearn.pipeline import Pipeline

from spotsvm.common.errors import StorageError
from spotsvm.common.fingerprint import versions
from spotsvm.common.text import printable_line
from spotsvm.tuning.tables.kinds import Kinds
from spotsvm.tuning.tables.table import Table

MODEL, PARAMETERS = "model.skops", "parameters.json"
#: the member of the file, which skops leaves alone, that says what the model is for
_ABOUT = "spotsvm.json"
_MOST_BYTES = 1 << 24
#: what skops does not know of the pipelines that are saved; it knows the types of numpy, scipy and scikit-learn
_OURS = {
    "numpy.dtype",
    "spotsvm.estimators.cutoff.cutoff_classifier.CutoffClassifier",
    "spotsvm.estimators.reduced.reduced_svc.ReducedSVC",
    "spotsvm.preprocessing.importance_fraction.ImportanceFraction",
    "spotsvm.preprocessing.principal_monomials.PrincipalMonomials",
    "spotsvm.tuning.pipelines.columns.calendar_parts",
}


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline, and the table that it was fitted to."""

    pipeline: Any
    target: str
    task: str
    columns: tuple[str, ...]
    texts: tuple[str, ...]  # those whose values were text
    kinds: Kinds
    versions: Mapping[str, str]


def save_model(path: Path, pipeline: Any, table: Table) -> None:
    """Write a pipeline that was fitted to rows of this table."""
    import skops.io  # on use: it takes a while, and few commands need it

    texts = [name for name, dtype in zip(table.X.columns, table.X.dtypes, strict=True) if is_object_dtype(dtype)]
    about = {
        "target": str(table.y.name),
        "task": table.task,
        "columns": list(table.X.columns),
        "texts": texts,
        "kinds": asdict(table.kinds),
        "versions": versions(),
    }
    skops.io.dump(pipeline, path, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_ABOUT, json.dumps(about, indent=2) + "\n")


def load_model(path: str | Path) -> SavedModel:
    """Return what `save_model` has written; StorageError if it is damaged, or has types of others, which could do anything."""
    import skops.io

    try:
        with zipfile.ZipFile(path) as file:
            if file.getinfo(_ABOUT).file_size > _MOST_BYTES:
                raise ValueError(f"{_ABOUT} is too large")
            about = json.loads(file.read(_ABOUT))
        foreign = sorted(set(skops.io.get_untrusted_types(file=path)) - _OURS)
        if foreign:
            raise StorageError(
                f"{path} has types that are neither spotsvm's nor scikit-learn's, so it is not loaded: {', '.join(foreign[:5])}; "
                "use a model.skops that spotsvm tune has written"
            )
        pipeline = skops.io.load(path, trusted=sorted(_OURS))
        kinds: dict[str, Any] = {
            name: value if isinstance(value, dict) else tuple(value) for name, value in about["kinds"].items()
        }
        columns, texts = (tuple(about[name]) for name in ("columns", "texts"))
        return SavedModel(pipeline, about["target"], about["task"], columns, texts, Kinds(**kinds), dict(about["versions"]))
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{path}: there is no such file; name a model.skops that spotsvm tune has written") from error
    except zipfile.BadZipFile as error:
        raise StorageError(f"{path} is no model; name a model.skops that spotsvm tune has written") from error
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, OSError, ImportError, EOFError, zlib.error) as error:
        why = printable_line(str(error) or type(error).__name__, 200)
        raise StorageError(
            f"{path} cannot be loaded ({why}); use a model.skops that this version of spotsvm has written"
        ) from error


def machine_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of the support vector machine in a pipeline, as JSON has them and its class takes them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> found = machine_parameters(make_pipeline(StandardScaler(), SVC(C=3.0, gamma=0.5)))
    >>> found["C"], found["gamma"], SVC(**found).get_params() == found
    (3.0, 0.5, True)
    """
    machine = estimator
    while not hasattr(machine, "kernel"):
        inner = (
            machine[-1] if isinstance(machine, Pipeline) else getattr(machine, "regressor", getattr(machine, "estimator", None))
        )
        if inner is None:
            break
        machine = inner
    params = {name: value.item() if hasattr(value, "item") else value for name, value in machine.get_params(deep=False).items()}
    return {name: value for name, value in params.items() if value is None or isinstance(value, bool | int | float | str)}
