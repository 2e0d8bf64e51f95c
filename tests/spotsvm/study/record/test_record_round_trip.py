"""Whatever is accepted and recorded can be read back, resumed, reported and exported."""

import math
import tempfile
import warnings
from dataclasses import fields
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, loguniform, randint, truncnorm, uniform
from sklearn.svm import SVC

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.searches import Suggestion
from spotsvm.study.status import read_status

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.integers(-(2**40), 2**40)
TEXTS = st.text(st.characters(), max_size=8)
NAMES = st.text(st.characters(), min_size=1, max_size=8)

SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**200), 10**200) | st.floats(allow_nan=False) | TEXTS
    | st.sampled_from([np.float32(0.1), np.int64(3), np.str_("a")])
)  # fmt: skip
OTHERS = (
    st.tuples(SMALL, TEXTS) | st.dictionaries(SMALL | NAMES, st.floats(), max_size=3)
    | st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2), max_leaves=20)
    | st.builds(np.arange, st.integers(0, 3000)) | st.builds(SVC, C=st.floats(1, 2))
    | st.sampled_from([len, np.mean, (10**400,), frozenset({"a"}), range(3), 1j, b"\xff"])
)  # fmt: skip
LISTS = st.lists(SCALARS | OTHERS, min_size=1, max_size=5) | st.builds(range, st.integers(1, 5000))
DISTRIBUTIONS = (
    st.builds(uniform, SMALL, st.floats(1e-3, 1e300))
    | st.builds(lambda a, b: loguniform(a, a * b), st.floats(1e-300, 1), st.floats(2, 1e9))
    | st.builds(lambda a, w: truncnorm(a, a + w), st.floats(-9, 9), st.floats(0.1, 9))
    | st.builds(beta, st.floats(0.01, 9), st.floats(0.01, 9))
    | st.builds(lambda low, width: randint(low, low + width), st.integers(-(2**60), 2**60), st.integers(1, 2**60))
)  # fmt: skip
BRANCHES = st.dictionaries(NAMES, LISTS | DISTRIBUTIONS, min_size=1, max_size=3)
SPACES = BRANCHES | st.lists(BRANCHES, min_size=1, max_size=2)

NUMBERS = FLOATS | st.integers(-(2**70), 2**70) | st.booleans() | st.builds(np.float32, st.floats(width=32, allow_nan=False))
NUMBERS |= st.builds(Fraction, SMALL) | st.builds(np.array, FLOATS)
FOLDS = st.builds("split{}_{}_{}".format, st.integers(0, 3), st.sampled_from(["test", "train"]), TEXTS)
EXTRA = st.dictionaries((NAMES | FOLDS).filter(lambda name: name not in ("value", "values")), NUMBERS | st.floats(), max_size=4)
SECONDS = st.none() | FLOATS.map(abs) | st.integers(0, 2**60) | st.builds(np.float32, st.floats(0, 9, width=32))
SECONDS |= st.builds(Fraction, SMALL.map(abs))
ACTS = st.sampled_from(["tell", "fail", "lose", "leave"])
TELLINGS = st.tuples(ACTS, st.lists(NUMBERS, min_size=3, max_size=3), EXTRA, SECONDS, TEXTS)
SEEDS = st.integers(0, 20) | st.integers(2**53 - 10, 2**53 + 10) | st.integers(0, 10**299)
DIRECTIONS = st.sampled_from(["minimize", "maximize"])
OBJECTIVES = DIRECTIONS | st.lists(DIRECTIONS, min_size=2, max_size=3)
OBJECTIVES |= st.dictionaries(NAMES, DIRECTIONS, min_size=2, max_size=3)


class Noted:
    """A search of one's own, which says something of each point."""

    def __init__(self, text, seconds, domain, seed):
        self._text, self._seconds = text, seconds
        self._domain, self._rng = domain, np.random.default_rng(seed)

    def ask(self):
        point = self._domain.snap_one(self._rng.random(self._domain.dimension))
        return Suggestion(point, self._text, self._text, self._seconds, self._seconds)

    def tell(self, point, value):
        pass


def tell(study, how, values, extra, seconds, text):
    trial = study.ask()
    if how == "leave":
        return
    if how == "lose":
        study._books.lose(trial, text)
    if how == "fail":
        study.fail(trial, text, extra=extra, seconds=seconds)
        return
    count = len(study.objectives)
    value = {"value": values[0]} if count == 1 else {"values": values[:count]}
    study.tell(trial, value | extra, seconds=seconds)


def facts(trial):
    """Return all of a trial but its parameters, so that nan is equal to nan."""
    seen = {one.name: getattr(trial, one.name) for one in fields(trial) if one.name != "params"}
    seen["extra"] = sorted(trial.extra.items())
    return repr(seen)


def is_in_json(value):
    """Return whether it is a whole number that JSON has, for what reads it here."""
    return isinstance(value, int) and abs(value) < 10**300


def check(space, seed, direction, tellings, search, *, report=False):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        path, csv = Path(folder) / "study.db", Path(folder) / "study.csv"
        try:
            study = Study(space, search, seed, path=path, direction=direction)
        except (SpaceError, ArgumentError):
            assume(False)
        with study:
            for one in tellings[: int(min(study.space.domain.size, 9))]:
                tell(study, *one)
            study._books.plan(10**400, 3)
        read = load_study(path)
        with Study(space, search, seed, path=path, direction=direction) as again:
            assert list(map(facts, again.trials)) == list(map(facts, study.trials)) == list(map(facts, read.trials))
            assert repr([t.params for t in again.trials]) == repr([t.params for t in study.trials])
        assert (again.seed, again.about, again.findings) == (study.seed, study.about, study.findings)
        assert (read.seed, read.about) == (study.seed, read.about | study.about)
        assert read.space.describe() == [{name: {**what} for name, what in one.items()} for one in read.about["space"]]
        for mine, theirs in zip(study.trials, read.trials, strict=True):
            assert list(mine.params) == list(theirs.params)
            for name, value in mine.params.items():
                in_json = isinstance(value, bool | float | str | None) or is_in_json(value)
                assert theirs.params[name] == value if in_json else isinstance(theirs.params[name], str)
        numbers = [c for c in study.frame().columns if not c.startswith("param_")]
        pd.testing.assert_frame_equal(read.frame()[numbers], study.frame()[numbers])
        assert read.folds().equals(study.folds())
        status = read_status(path)
        assert (status.n_finished, status.n_running) == (study.n_finished, len(study.trials) - study.n_finished)
        for exported in (study, read):
            exported.to_csv(csv)
            exported.folds_to_csv(csv)
        if report:
            warnings.simplefilter("ignore")  # numbers at the end of all floats are drawn as well as can be
            text = read.report(Path(folder) / "report.html").read_text(encoding="utf-8")
            assert text.rstrip().endswith("</html>")


@settings(max_examples=20, deadline=None)
@given(SPACES, SEEDS, OBJECTIVES, st.lists(TELLINGS, max_size=5), TEXTS)
def test_what_is_recorded_is_read(space, seed, direction, tellings, text):
    check(space, seed, direction, tellings, "random")


@settings(max_examples=5, deadline=None)
@given(SPACES, OBJECTIVES, st.lists(TELLINGS, min_size=1, max_size=4))
def test_what_is_recorded_is_reported(space, direction, tellings):
    check(space, 0, direction, tellings, "random", report=True)


@settings(max_examples=10, deadline=None)
@given(TEXTS, SECONDS)
def test_what_a_search_says_of_its_points_is_read(text, seconds):
    check({"x": uniform(0, 1)}, 3, "minimize", [("tell", [1.0], {}, seconds, "")] * 3, partial(Noted, text, seconds))


@pytest.mark.parametrize(
    "space", [{"x": randint(0, 2**60)}, {"x": range(110_000)}, {"x": [1.0, math.inf, 10**400, 3.0]}], ids=["a", "b", "c"]
)
def test_large_ranges_are_read_and_reported(space):
    check(space, 2**53 + 10, "minimize", [("tell", [k], {}, np.float32(2.5), "") for k in range(3)], "random", report=True)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({f"x{k}": [1, 2] for k in range(1001)}, "space has 1,001 parameters; use at most 1,000"),
        ({"x" * 1001: [1, 2]}, r"\(1,001 characters\); use at most 1,000"),
        ({"x": range(1_000_001)}, "x has 1,000,001 values; use at most 1,000,000, or a distribution"),
        ({"x": [1, 10**4000]}, "x has a whole number of more than 4000 digits"),
    ],
)
def test_a_space_that_no_record_could_hold_is_refused(space, said):
    with pytest.raises(SpaceError, match=said):
        Study(space)


def test_objectives_and_seeds_that_no_record_could_hold_are_refused():
    with pytest.raises(ArgumentError, match="direction names 21 objectives; use at most 20"):
        Study({"x": [1, 2]}, "random", direction=["minimize"] * 21)
    with pytest.raises(ArgumentError, match="use at most 1,000 characters"):
        Study({"x": [1, 2]}, "random", direction={"x" * 1001: "minimize", "y": "minimize"})
    with pytest.raises(ArgumentError, match="^seed=10.* is not a seed"):
        Study({"x": [1, 2]}, "random", 10**300)
