"""The search of an estimator: its space, its own parameters as the start, and checks of its data."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.sparse import issparse
from sklearn.base import clone, is_regressor
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from spotsvm.common.compat import check_parameters
from spotsvm.common.notices import Notice, gathered, untold
from spotsvm.common.text import did_you_mean, printable_line, shown_value
from spotsvm.cross_validation.row_sample import Rows, at_rows
from spotsvm.errors import ArgumentError, DataError, SpaceError
from spotsvm.estimators.class_entries import class_names
from spotsvm.estimators.cutoff.cutoff_classifier import machine_prefix
from spotsvm.luck.refits.search_access import with_params
from spotsvm.preprocessing.cells.values import values_of
from spotsvm.preprocessing.frames import as_frame
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels import resolve_gamma
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space
from spotsvm.study.given import Start

#: values of a choice that are checked
_MOST_LEVELS = 20


def samples(space: Space) -> list[dict[str, Any]]:
    """Return configurations with each value of each choice of the space at least once; of long lists only the first values."""
    found = []
    for centre in space.centres():
        for j, coordinate in enumerate(space.domain.coordinates):
            for level in range(min(coordinate.levels, _MOST_LEVELS) if coordinate.categorical else 1):
                point = centre.copy()
                if coordinate.categorical:
                    point[j] = (level + 0.5) / coordinate.levels
                found.append(space.decode(space.domain.snap_one(point)))
    return list({repr(sorted(params.items())): params for params in found}.values())


def grid(space: Space) -> list[dict[str, Any]]:
    """Return all configurations of a space without ranges, in the order in which scikit-learn's searches have them."""

    def values(parameter: Any) -> list[Any]:
        return list(parameter.listed or range(parameter.low, parameter.high + 1))

    return list(ParameterGrid([{name: values(one) for name, one in branch.items()} for branch in space.branches]))


def accepted_space(estimator: Any, space: Space) -> Space:
    """Return a space whose ranges begin and end at values that an estimator accepts, by its declared constraints.

    A continuous range with a refused end, as SVC refuses C=0, keeps its middle 99.9 %; SpaceError for a parameter it has not.
    """
    configurations = samples(space)
    for branch in space.branches:
        _check_names(estimator, branch, [params for params in configurations if params.keys() == branch.keys()])
    branches = []
    for branch, centre in zip(space.branches, space.centres(), strict=True):
        middle = space.decode(centre)
        branches.append({name: _accepted(estimator, middle, parameter) for name, parameter in branch.items()})
    changed = any(new[name] is not old[name] for new, old in zip(branches, space.branches, strict=True) for name in new)
    return Space(branches) if changed else space


def _check_names(estimator: Any, branch: Mapping[str, Parameter], configurations: list[dict[str, Any]]) -> None:
    known = estimator.get_params(deep=True)
    unknown = [name for name in branch if name not in known]
    if not unknown:
        return
    failure = ""
    for params in configurations:  # a searched step, or an estimator with its own naming, may have the parameter
        try:
            with_params(estimator, params)
        except Exception as error:  # an estimator of the user's can raise anything
            failure = printable_line(str(error), 300)
        else:
            return
    of_no_step = (name for name in unknown if not any(name.startswith(f"{other}__") for other in branch))
    name = next(of_no_step, unknown[0])
    what = f"space has {name!r}, which is not a parameter of {type(estimator).__name__}"
    raise SpaceError(f"{what}{did_you_mean(name, known)} ({failure})")


def _accepted(estimator: Any, params: Mapping[str, Any], parameter: Parameter) -> Parameter:
    """Return a parameter without the ends of its range that an estimator refuses; itself if that does not help."""
    if parameter.bounds is None or parameter.bounds[0] == parameter.bounds[1]:
        return parameter
    name = parameter.name

    def refused(one: Parameter) -> list[float]:
        return [end for end in one.bounds or () if not _accepts(estimator, {**params, name: end}, name)]

    ends = refused(parameter)
    if not ends or not _accepts(estimator, params, name):
        return parameter
    found = parameter.without_ends(ends)
    return found if not refused(found) else parameter


def _accepts(estimator: Any, params: Mapping[str, Any], name: str) -> bool:
    """Return whether the owner of a parameter accepts its value, as far as this can be checked without data.

    Scikit-learn's estimators have a method for it, which compares parameters with the constraints that they declare.
    """
    owner, _, own = name.rpartition("__")
    try:
        candidate = with_params(estimator, params)
        check_parameters(candidate.get_params(deep=True)[owner] if owner else candidate)
    except Exception:
        return False
    return True


def check_class_weights(estimator: Any, space: Space, y: Any) -> None:
    """Raise ArgumentError for a `class_weight` with a negative or infinite weight, or of a class that there is not."""
    known = None if y is None or len(np.shape(y)) != 1 else class_names(np.unique(np.asarray(y)))
    for params in samples(space):
        candidate = with_params(estimator, params)
        own = f"{machine_prefix(candidate)}class_weight"
        for name, weights in candidate.get_params(deep=True).items():
            if name.rpartition("__")[2] != "class_weight" or not isinstance(weights, Mapping):
                continue
            if name == own and known is not None and sum(weight == 0 for weight in weights.values()) > len(known) - 2:
                raise ArgumentError(f"{name}={weights!r} leaves less than two classes; use weights above 0")
            for label, weight in weights.items():
                if not 0 <= as_float(weight) < np.inf:
                    raise ArgumentError(f"{name} of the class {label!r} is {weight!r}; weights are finite, and 0 or more")
                if name == own and known is not None and class_names([label])[0] not in known:
                    raise ArgumentError(
                        f"{name} names the class {label!r}, which is not among {', '.join(known[:8])}"
                        f"{', ...' if len(known) > 8 else ''}"
                    )


def check_data(estimator: Any, space: Space, X: Any, y: Any, fit_params: Mapping[str, Any], rows: Rows | None = None) -> None:
    """Raise DataError, which names the first cell that an estimator cannot take, instead of failing all candidates.

    A user's estimator may have default tags, and a pipeline may repair its data: if the tags speak against the data, these are
    refused only if no configuration of `samples` can be fitted to the `rows` that a model is fitted to, None for all.
    """
    try:
        fault = _fault(estimator, X, y)
    except Exception:  # data or an estimator of an unusual kind: the candidates will report the error
        return
    if not fault:
        return
    failure: Exception | None = None
    X, y, fit_params = at_rows(X, y, fit_params, rows)
    for params in samples(space):
        try:
            with _warnings_ignored(), untold():
                fitted = with_params(estimator, params)
                _ = fitted.fit(X, **fit_params) if y is None else fitted.fit(X, y, **fit_params)
        except Exception as error:
            failure = error
        else:
            return
    raise DataError(f"{fault} ({printable_line(str(failure), 200)})") from failure


def _fault(estimator: Any, X: Any, y: Any) -> str:
    """Return which value in X or y the tags of an estimator or its steps exclude, and where; empty if there is none."""
    steps = [step for _, step in estimator.steps if hasattr(step, "fit")] if isinstance(estimator, Pipeline) else [estimator]
    tags = [get_tags(step) for step in steps]
    name = type(estimator).__name__ if len(steps) < 2 else f"{type(estimator).__name__} with {type(steps[-1]).__name__}"
    if y is None and tags[-1].target_tags.required:
        return f"y is missing; {name} needs a target, as in fit(X, y)"
    takes_nan = all(one.input_tags.allow_nan for one in tags)
    takes_text = all(one.input_tags.string or one.input_tags.categorical for one in tags)
    remedy = "leave the row out, or put an imputer such as SimpleImputer before it in a pipeline"
    for column, row, value in _odd_cells(X, takes_nan, takes_text):
        place = f"X has {shown_value(value)} in column {column!r}, row {row} (counted from 0)"
        if isinstance(value, str):
            remedy = f"leave column {column!r} out, or encode it, with OneHotEncoder for instance"
        return f"{place}, which {name} cannot take; {remedy}"
    if y is None:
        return ""
    if len(shape := np.shape(y)) > 1 and shape[1] > 1 and not tags[-1].target_tags.multi_output:
        return f"y has shape {shape}, and {name} takes one column; search for each column alone"
    targets = y if np.ndim(y) != 1 else pd.DataFrame({"y": np.asarray(y)})
    for column, row, value in _odd_cells(targets, False, not is_regressor(estimator)):
        output = f" of column {column!r}" if np.ndim(y) > 1 else ""
        return f"y has {shown_value(value)} in row {row}{output} (counted from 0), which {name} cannot take as a target"
    return ""


def _odd_cells(X: Any, takes_nan: bool, takes_text: bool) -> Iterator[tuple[Any, int, Any]]:
    """Yield column, row and value of the first cell in each column that is neither a finite number nor accepted."""
    if issparse(X):
        found = X.tocoo()
        odd = np.flatnonzero(_odd(found.data, takes_nan))
        yield from ((int(found.col[k]), int(found.row[k]), found.data[k].item()) for k in odd[:1])
        return
    if not isinstance(X, pd.DataFrame):
        values = np.asarray(X, dtype=object) if isinstance(X, list) else np.asarray(X)
        if values.ndim != 2 or (values.dtype.kind in "biuf" and np.isfinite(values).all()):
            return
        X = pd.DataFrame(values)
    for k, name in enumerate(X.columns):
        column = X.iloc[:, k]
        found = column if is_numeric_dtype(column) else pd.to_numeric(column.astype(object), errors="coerce")
        numbers = found.to_numpy(dtype=float, na_value=np.nan)
        missing = column.isna().to_numpy()
        text = np.array([isinstance(cell, str) for cell in column], dtype=bool) & np.isnan(numbers)
        other = np.isnan(numbers) & ~missing & ~text  # such as dictionaries, which only the estimator can judge
        odd = np.where(text, not takes_text, _odd(numbers, takes_nan) & ~other)
        if odd.any():
            row = int(np.flatnonzero(odd)[0])
            value = column.iloc[row]
            yield name, row, value.item() if isinstance(value, np.generic) else value


def _odd(numbers: Any, takes_nan: bool) -> Any:
    return np.isinf(numbers) if takes_nan else ~np.isfinite(numbers)


def own_start(estimator: Any, space: Space, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return `default_start` of an estimator that is not fitted; none where its transformers cannot be fitted to X and y."""
    try:
        with untold():
            return default_start(_ready(estimator, space, X, y), space, X)
    except Exception:  # transformers, and data of the user's own kind, may fail in any way; so will the trials, which tell why
        return []


def _ready(estimator: Any, space: Space, X: Any, y: Any) -> Any:
    """Return a copy of an estimator whose transformers are fitted if a gamma is searched."""
    ready = clone(estimator)
    if isinstance(ready, Pipeline) and any(name.rpartition("__")[2] == "gamma" for name in space.names):
        ready[:-1].fit(X, y)
    return ready


def _seen(fitted: Any, X: Any) -> Any:
    """Return X as the last step gets it."""
    return np.asarray(fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X, dtype=np.float64)


def check_types(estimator: Any, X: Any) -> None:
    """Raise DataError, which names the column, if the first step of a pipeline encodes tables and a type cannot be used."""
    first = estimator.steps[0][1] if isinstance(estimator, Pipeline) and estimator.steps else estimator
    table = as_frame(X) if isinstance(first, TableEncoder) else None
    if isinstance(table, pd.DataFrame):
        for name, column in table.items():
            values_of(column, str(name))


def notices_of(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> list[Notice]:
    """Return what a fit to all rows tells, if a part of the estimator encodes tables; a pipeline's last step is not fitted."""
    encodes = any(isinstance(part, TableEncoder) for part in [estimator, *estimator.get_params(deep=True).values()])
    if not encodes:
        return []
    with gathered() as told:
        if isinstance(estimator, Pipeline) and not isinstance(estimator[-1], TableEncoder):
            clone(estimator)[:-1].fit(X, y)
        else:
            clone(estimator).fit(X, y, **fit_params)
    return told


def default_start(fitted: Any, space: Space | Start, X: Any) -> list[dict[str, Any]]:
    """Return an estimator's own parameters as a configuration to start at; none if they do not lie in the space.

    A number beyond a range becomes its end, gamma "scale" or "auto" its number, a missing `class_weight__<class>` its value in
    the estimator fitted to X. The first dictionary that fits is used.
    """
    space = space if isinstance(space, Space) else Space(space)
    known = fitted.get_params(deep=True)
    for branch in space.branches:
        values = {name: known[name] if name in known else _entry(fitted, known, name) for name in branch}
        for name, parameter in branch.items():
            if parameter.bounds is None:
                continue
            if name.rpartition("__")[2] == "gamma" and isinstance(values[name], str):
                with untold():
                    values[name] = resolve_gamma(values[name], _seen(fitted, X))
            if isinstance(values[name], Real):
                values[name] = parameter.nearest(values[name])
        try:
            space.encode(values)
        except SpaceError:
            continue
        return [values]
    return []


def _entry(fitted: Any, known: dict[str, Any], name: str) -> Any:
    """Return an estimator's value for an entry `<estimator>__<parameter>__<class>`; None if it has no such entry."""
    whole, _, entry = name.rpartition("__")
    owner, _, parameter = whole.rpartition("__")
    holder = known.get(owner) if owner else fitted
    if isinstance(known.get(whole), str):  # a rule such as "balanced", which entries would replace
        return None
    values, classes = getattr(holder, f"{parameter}_", None), getattr(holder, "classes_", None)
    if values is None or classes is None:
        return None
    return dict(zip(class_names(classes), np.asarray(values).tolist(), strict=True)).get(entry)


@contextmanager
def _warnings_ignored() -> Iterator[None]:
    """Ignore all warnings, in the main thread only: filters are global, not per thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
