"""Studies whose names, categories, numbers, reasons and findings do harm wherever they are shown without care."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from scipy.stats import loguniform, randint, uniform

from solvers.errors import SearchExhaustedError
from spotsvm.errors import SpotSVMError
from spotsvm.record_schema import sign
from spotsvm.study import Study
from studies.hostile_values import JSON_TEXTS, TEXTS, Rng, hostile_json, one_of

_VALUES = (0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, 3.0, 2.5, float("nan"))


def write_hostile_study(rng: Rng, target: Path) -> None:
    """Run a small study that this library accepts, with hostile text and numbers everywhere, and keep its record.

    Parameters
    ----------
    rng : numpy Generator
        Source of the choices.
    target : Path
        The record; there must be none.
    """
    several = rng.random() < 0.3
    names = _texts(rng, 3)
    direction: Any = dict.fromkeys(names[:2], "minimize") if several else one_of(rng, ["minimize", "maximize"])
    branches = [_branch(rng) for _ in range(int(rng.integers(1, 3)))]
    steep = rng.random() < 0.5
    context = {one_of(rng, _texts(rng, 2)): one_of(rng, TEXTS) for _ in range(2)}
    try:
        study = Study(branches, "random", int(rng.integers(100)), path=target, direction=direction, context=context)
    except SpotSVMError:  # two branches with nothing to tune in common, say: then a simple space is enough
        target.unlink(missing_ok=True)
        study = Study({names[0]: uniform(0, 1)}, "random", 0, path=target, direction=direction)
    with study, contextlib.suppress(SearchExhaustedError):  # a small space has no more
        for _ in range(int(rng.choice([2, 6, 12]))):
            trial = study.ask()
            if rng.random() < 0.15:
                study.fail(trial, one_of(rng, TEXTS), extra={one_of(rng, TEXTS): 1.0})
                continue
            values = [float(one_of(rng, _VALUES)) if steep else float(rng.normal()) for _ in range(2)]
            extra = {one_of(rng, TEXTS): float(one_of(rng, _VALUES)), "split0_test_score": 0.5}
            study.tell(trial, {"values": values, **extra} if several else {"value": values[0], **extra})
        study.ask()
    _add_findings(rng, target)


def _add_findings(rng: Rng, target: Path) -> None:
    """Write findings that `Study.add_finding` would refuse too."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        for name in ("oversearching", "stop", "judgement", one_of(rng, TEXTS)):
            if rng.random() < 0.4:
                text = hostile_json(rng, _FINDING) if rng.random() < 0.7 else f'{{"a": {one_of(rng, JSON_TEXTS)}}}'
                key = f"finding: {name}".encode("utf-8", "replace").decode()
                connection.execute("INSERT OR REPLACE INTO about (key, value) VALUES (?, ?)", (key, text))
        sign(connection)


_FINDING = (
    '{"sentence": "It went on.", "stopped": true, "optimism": 0.1, "interval": [0.0, 0.2], "confidence": 0.95, "method": '
    '"nested", "variance": "v", "tuned_score": 0.9, "outer_score": 0.8, "outer_interval": [0.7, 0.9], "n_trials": 6, '
    '"metric": "m", "rows": [{"fold": 0, "tuned": 0.9, "outer": 0.8, "optimism": 0.1, "params": {"C": 1.0}}, {"fold": 1, '
    '"tuned": 0.9, "outer": 0.7, "optimism": 0.2, "params": {"C": 2.0}}], "points": [{"n_trials": 1, "tuned": 0.9, "outer":'
    ' 0.8, "optimism": 0.1, "low": 0.0, "high": 0.2}], "notes": ["n"]}'
)


def _branch(rng: Rng) -> dict[str, Any]:
    kinds: list[Any] = [
        uniform(0, 1), uniform(-1e308, 1e308), loguniform(1e-300, 1e300), uniform(1e15, 1), randint(0, 10**9), randint(0, 3),
        [1, 2, 3], [True, False, None], [1e308, -1e308, 0.0], [(1, 2), "a"],
    ]  # fmt: skip
    return {name: _texts(rng, 4) if rng.random() < 0.4 else one_of(rng, kinds) for name in _texts(rng, 3)}


def _texts(rng: Rng, count: int) -> list[str]:
    """Draw different texts that can be written."""
    usable = [text for text in TEXTS if text and len(text) <= 500]
    return [usable[int(k)] for k in rng.choice(len(usable), count, replace=False)]
