"""The Python code that repeats a tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from spotsvm.common.code import mapping_code, params_code
from spotsvm.luck.verdict import Verdict
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.tuning.pipelines.registry import is_series
from spotsvm.tuning.scoring import table_scorer
from spotsvm.tuning.tables.split import TEST_SHARE
from spotsvm.tuning.tables.table import Choices, Table

#: the name under which a study stores it
REPEAT = "repeat"


def reading_code(file: Path, target: str, task: str, choices: Choices) -> str:
    """Return the code that reads a table.

    Examples
    --------
    >>> print(reading_code(Path("iris.csv"), "kind", "auto", Choices(sep=";")))
    from spotsvm.tables import Choices, read_table
    <BLANKLINE>
    table = read_table('iris.csv', 'kind', 'auto', Choices(sep=';'))
    """
    usual = Choices()
    given = {name: value for name, value in vars(choices).items() if value != getattr(usual, name)}
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    arguments = f"{str(file)!r}, {target!r}, {task!r}, Choices({said})"
    return f"from spotsvm.tables import Choices, read_table\n\ntable = read_table({arguments})"


def series_code(file: Path, target: str, time: str | None, task: str, rows: int | None) -> str:
    """Return the code that reads a series."""
    arguments = f"{str(file)!r}, {target!r}, {time!r}, {task!r}, {rows!r}"
    return f"from spotsvm.tables import read_series\n\ntable = read_series({arguments})"


def tuning_code(
    job: Any,
    train: Table,
    sampled: bool,
    search: SpotSearchCV,
    start: Sequence[Mapping[str, Any]],
    found: Verdict,
) -> str:
    """Return code that reads the table of a `TuningJob`, splits it, and makes the same search and the recommended machine."""
    first, reading = _reading(job)
    imports = [
        *first,
        "from sklearn.base import clone",
        "from spotsvm import SpotSearchCV",
        "from spotsvm.tables import held_out, named_pipeline",
    ]
    scoring = repr(job.metric)
    if not isinstance(search.scoring, str):
        imports.append("from spotsvm.tables import table_scorer")
        scoring = f"table_scorer({job.metric!r}, table)"
    series = is_series(job.pipeline)
    split = [f"table, {job.cv}, {job.seed}", *(["in_time=True"] if series else []), *_share(job)]
    more = []
    if sampled:
        imports.append("from spotsvm.tables import Limits")
        more.append(f"train = Limits().to_tune(train, {job.cv}, {job.seed})  # of all training rows")
    X, new = _rows(train)
    about = [
        f"cv={job.cv}",
        f"seed={job.seed}",
        *(["in_time=True"] if train.time is not None else []),
        *([f"categorical={train.categorical}"] if train.categorical else []),
    ]
    about += [f"scale={job.scale!r}"] if job.scale != "standard" else []
    about += [f"region={job.region!r}"] if job.region is not None else []
    about += ["history=train.history", f"horizon={job.horizon}"] if series else []
    about += ["grouped=True"] if train.groups is not None else []
    options = [f"n_iter={search.n_iter}", f"search=pipeline.search({job.search!r})", "cv=pipeline.splitter", f"scoring={scoring}"]
    options += [f"random_state={job.seed}"]
    options += [f"batch_size={job.batch_size}"] if job.batch_size is not None else []
    options += ['stop="uncertainty"'] if job.stop else []
    space, names = _space(search)
    imports += [f"from scipy.stats import {', '.join(names)}"] if names else []
    timed = search.study_.findings.get("timeout", {}).get("timed_out") is True
    groups = "" if train.groups is None else ", groups=train.groups"
    chosen = ".set_params(**params)" if found.recommended == "tuned" else ""
    lines = [
        *_sorted(imports),
        "",
        reading,
        f"train, test = held_out({', '.join(split)})  # no search sees the rows of test",
        *more,
        f"pipeline = named_pipeline({job.pipeline!r}, table.task, {X}, train.y, {', '.join(about)})",
        f"space = {space}",
        "# the default, and the centre of the space",
        "start = [",
        *(indent(f"{params_code(one)},", "    ") for one in start),
        "]",
        *(["# the run that this repeats may have begun in a narrower space: its first trials were others"] if job.widen else []),
        *(["# the time limit ended the search that this repeats: without one it goes on"] if timed else []),
        "search = SpotSearchCV(",
        *(f"    {option}," for option in ["pipeline.estimator", "space", *options, "start=start"]),
        ")",
        f"search.fit({X}, train.y{groups})",
        "print(search.best_params_, search.best_score_)",
        "",
        f"# what is recommended: the {found.recommended} SVM",
        *(["# the command has fitted it to more rows after that"] if sampled else []),
        *([f"params = {params_code(found.params)}"] if chosen else []),
        f"machine = clone(pipeline.estimator){chosen}.fit({X}, train.y)",
        f"print(search.scorer_(machine, {new}, test.y))  # on the rows held out",
    ]
    return "\n".join(lines) + "\n"


def fitting_code(job: Any, train: Table, model: Any, plain: Any, found: Verdict) -> str:
    """Return code that reads the table of a `TunedJob`, splits it, and fits the same average and the recommended model."""
    first, reading = _reading(job)
    X, new = _rows(train)
    imports = [f"from spotsvm import {type(model).__name__}", *first, "from spotsvm.tables import held_out"]
    if isinstance(table_scorer(job.metric, job.table), str):
        imports.append("from sklearn.metrics import get_scorer")
        score = f"get_scorer({job.metric!r})"
    else:
        imports.append("from spotsvm.tables import table_scorer")
        score = f"table_scorer({job.metric!r}, table)"
    split = [f"table, {2 if job.cv is None else job.cv}, {job.seed}", *_share(job)]
    groups = "" if train.groups is None else ", groups=train.groups"
    if job.in_time:
        imports.append("from sklearn.model_selection import TimeSeriesSplit")
    categories = f".astype({dict.fromkeys(train.categorical, 'category')!r})" if train.categorical else ""
    lines = [
        f"train, test = held_out({', '.join(split)})  # the fit does not see the rows of test",
        f"model = {model!r}.fit({X}{categories}, train.y{groups})",
        "print(model.verdict_)",
        f"score = {score}",
        f"print(score(model, {new}, test.y))  # on the rows held out",
    ]
    if found.recommended == "default":
        machine = repr(plain[-1])
        imports += ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import StandardScaler"]
        imports += [f"from sklearn.svm import {type(plain[-1]).__name__}", "from spotsvm import TableEncoder"]
        lines += [
            "",
            "# what is recommended: the default SVM",
            f"default = make_pipeline(TableEncoder(), StandardScaler(), {machine}).fit({X}{categories}, train.y)",
            f"print(score(default, {new}, test.y))",
        ]
    return "\n".join([*_sorted(imports), "", reading, *lines]) + "\n"


def _reading(job: Any) -> tuple[list[str], str]:
    """Return the imports and the line that make the table of a job."""
    source = job.source or "from spotsvm.tables import make_table\n\ntable = ...  # make_table(X, y)"
    first, _, reading = source.partition("\n\n")
    return first.splitlines(), reading


def _rows(train: Table) -> tuple[str, str]:
    """Return the code of the columns of training rows and of held-out rows."""
    return ("train.X", "test.X") if hasattr(train.X, "columns") else ("train.X.to_numpy()", "test.X.to_numpy()")


def _share(job: Any) -> list[str]:
    """Return the argument for the share of held-out rows of a large table."""
    return [] if job.share == TEST_SHARE else [f"share={job.share!r}"]


def _sorted(imports: Sequence[str]) -> list[str]:
    """Return one line for each module, those of spotsvm last."""
    names: dict[str, set[str]] = {}
    for line in imports:
        module, _, imported = line.removeprefix("from ").partition(" import ")
        names.setdefault(module, set()).update(imported.split(", "))
    modules = sorted(names, key=lambda module: (module.startswith("spotsvm"), module))
    return [f"from {module} import {', '.join(sorted(names[module]))}" for module in modules]


def _space(search: SpotSearchCV) -> tuple[str, list[str]]:
    """Return the code of a space, and what it takes from scipy.stats; the pipeline's own where it cannot be written."""
    code = search.study_.about.get("code")
    entries = code[0] if isinstance(code, list) and len(code) == 1 and isinstance(code[0], dict) else {}
    if set(entries) != set(search.study_.space.names) or not all(entries.values()):
        return "pipeline.space", []
    names = sorted({text.partition("(")[0] for text in entries.values() if text.partition("(")[0].isidentifier()})
    return mapping_code(entries), names
