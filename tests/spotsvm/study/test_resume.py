import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from completed_trials import SQUARE, BrokenOff, break_off_after, facts, mixed, trade, valley
from completed_trials import SVM as SPACE
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space, Study
from spotsvm.errors import StorageError, StudyMismatchError
from spotsvm.searches import KrigingSearch
from tests.spotsvm.study.record.records import describe

NAMED = {"cost": "minimize", "gain": "maximize"}
MIXED = [
    {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "weight": [{np.int64(0): 2.0}, None, len]},
    {"kernel": ["poly"], "C": loguniform(1e-3, 1e3), "degree": randint(2, 6)},
]


def noisy(params):
    return valley(params) + np.random.default_rng(int(params["C"] * 1e6)).normal()


def half_trades(params):
    return trade(params) if params["x"] > 0.4 else np.nan


def mixed_trade(params):
    x = mixed(params)
    return [x, -((x - 2) ** 2)]


class Own:
    """A search of a user's own, which remembers what it was told."""

    def __init__(self, domain=None, seed=1):
        self.size = 2 if domain is None else domain.dimension
        self.rng, self.points, self.values = np.random.default_rng(seed), [], []

    def ask(self):
        if len(self.values) < 3:
            return self.rng.random(self.size)
        best = self.points[int(np.nanargmin([np.sum(value) for value in self.values]))]
        return np.clip(best + 0.1 * self.rng.normal(size=self.size), 0, 1)

    def tell(self, point, value):
        self.points.append(point)
        self.values.append(value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


@pytest.mark.parametrize(
    ("space", "objective", "options", "stops"),
    [
        (SPACE, valley, {"search": KrigingSearch}, (8, 11)),
        (SPACE, valley, {"search": Own}, (8, 20)),
        (SQUARE, half_trades, {"search": Own, "direction": NAMED}, (23, 30, 45)),
        (MIXED, mixed_trade, {"search": "nsga2", "direction": NAMED}, (8, 12, 14)),
        (SQUARE, half_trades, {"search": "parego", "direction": NAMED}, (8, 12, 14)),
        (MIXED, lambda p: round(mixed(p), 1), {}, (8, 12, 15)),  # with ties
        (SPACE, noisy, {"direction": "maximize", "noise": True}, (8, 12, 15)),
    ],
)
def test_resumed_is_undisturbed(space, objective, options, stops, path):
    for before, n in zip((0, *stops), stops, strict=False):
        with Study(space, seed=7, path=path, **options) as study:
            assert study.n_finished == before
            study.run(objective, n)
    undisturbed = Study(space, seed=7, **options).run(objective, n)
    assert facts(study) == facts(undisturbed)
    if options.get("direction") == NAMED:
        assert study.hypervolume().tolist() == undisturbed.hypervolume().tolist()
    else:
        assert study.recommend() == undisturbed.recommend()


@pytest.mark.parametrize(
    ("search", "stop", "n", "size"),
    [("kriging", 9, 13, 4), ("cmaes", 11, 16, 4), (Own, 8, 16, 4), ("nsga2", 11, 15, 6), ("parego", 11, 15, 6)],
)
def test_batches_too_wherever_they_are_cut_off(search, stop, n, size, path):
    one = search not in ("nsga2", "parego")
    objective, space, direction = (valley, SPACE, "minimize") if one else (trade, SQUARE, NAMED)

    def fresh(path=None):
        return Study(space, search, 7, direction=direction, path=path)

    with fresh(path) as study, pytest.raises(BrokenOff):
        study.run(objective, n, batch_size=size, callback=break_off_after(stop))
    with fresh(path) as study:
        assert study.n_finished == stop
        study.run(objective, n, batch_size=size)
    assert facts(study) == facts(fresh().run(objective, n, batch_size=size))


def test_a_batch_that_was_being_asked_for_is_completed(path):
    with Study(SPACE, "kriging", 7, path=path) as study:
        study.run(valley, 8, batch_size=4)
        for _ in range(2):
            study.ask()
    with Study(SPACE, "kriging", 7, path=path) as study:
        study.run(valley, 12, batch_size=4)
    assert facts(study) == facts(Study(SPACE, "kriging", 7).run(valley, 12, batch_size=4))


def test_running_trials_are_given_again_first(path):
    with Study(SPACE, "random", 7, path=path) as study:
        batch = [study.ask() for _ in range(5)]
        for trial in (batch[0], batch[3]):
            study.tell(trial, 1.0)
    with Study(SPACE, "random", 7, path=path) as study:
        study.tell(4, 2.0)
        again = [study.ask() for _ in range(3)]
        assert [t.number for t in again] == [1, 2, 5]
        assert [t.params for t in again[:2]] == [batch[1].params, batch[2].params]
        assert [t.seed for t in again[:2]] == [batch[1].seed, batch[2].seed]


def test_without_a_seed_the_recorded_one_counts(path):
    with Study(SPACE, "random", path=path) as study:
        study.run(valley, 3)
    with Study(SPACE, "random", path=path) as again:
        assert again.seed == study.seed
        again.run(valley, 6)
        with pytest.warns(UserWarning, match="6 of 6 trials exist already"):
            again.run(lambda p: pytest.fail("a finished study evaluates nothing more"), 6)
    assert facts(again) == facts(Study(SPACE, "random", study.seed).run(valley, 6))


def test_the_objects_of_a_space_come_back_as_themselves(path):
    for n in (30, 40):
        with Study(MIXED, "random", 0, path=path) as study:
            study.run(mixed, n)
    values = [t.params["weight"] for t in study.trials if "weight" in t.params]
    assert {type(v) for v in values} == {dict, type(None), type(len)}
    assert all(any(v is mine or (type(v) is dict and v == mine) for mine in MIXED[0]["weight"]) for v in values)


BASE = {"space": SPACE, "search": "random", "seed": 0, "direction": "minimize", "noise": "auto", "context": {"data": "abc"}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 1}, "another seed: it has 0, this one 1"),
        ({"search": "lhs"}, "another search: it has 'random', this one 'lhs'"),
        ({"search": partial(KrigingSearch, n_initial=9)}, "another search: it has 'random', this one .*n_initial=9"),
        ({"direction": "maximize"}, "another direction: it has 'minimize', this one 'maximize'"),
        ({"noise": True}, "another setting of noise: it has 'auto', this one True"),
        ({"context": {"data": "xyz"}}, "other data"),
        ({"context": {"data": "abc", "folds": "5"}}, "another folds: it has None, this one '5'"),
        ({"context": None}, "other data"),
        ({"space": SPACE | {"C": loguniform(1, 2**15)}}, r"another space: it has C=a distribution on \[0.03125, 32768\]"),
        ({"space": SPACE | {"C": uniform(2**-5, 2**15 - 2**-5)}}, "another space: it has C=.* with median 32, this one C="),
        ({"space": SPACE | {"C": randint(1, 9)}}, "this one C=the integers 1 to 8"),
        ({"space": SPACE | {"C": [1, 2]}}, r"this one C=\[1, 2\]"),
        ({"space": {"C": SPACE["C"]}}, r"it has gamma=a distribution on .*, this one gamma=\(absent\)"),
        ({"space": SPACE | {"degree": [2, 3]}}, r"it has degree=\(absent\), this one degree=\[2, 3\]"),
        ({"space": [SPACE, SPACE]}, "it has 1 sets of parameters, this one 2"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_another_study_is_refused_and_told_apart(changed, said, path):
    with Study(**BASE, path=path) as study:
        study.run(valley, 3)
    before = path.read_bytes()
    with pytest.raises(StudyMismatchError, match=said) as caught:
        Study(**BASE | changed, path=path)
    assert isinstance(caught.value, StorageError)
    assert str(caught.value).startswith((f"{path} holds a study with another ", f"{path} belongs to other data"))
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    with Study(**BASE, path=path) as again:
        assert facts(again) == facts(study)


def test_the_order_of_the_parameters_is_no_other_space(path):
    whole = Study(SPACE, "kriging", 0).run(valley, 11)
    with Study(SPACE, "kriging", 0, path=path) as study:
        study.run(valley, 9)
    backwards = dict(reversed(SPACE.items()))
    for space in (backwards, Space(backwards), [backwards]):
        with Study(space, "kriging", 0, path=path) as again:
            assert list(again.space.names) == ["C", "gamma"]
            assert facts(again) == facts(study)
    with Study(backwards, "kriging", 0, path=path) as again:
        again.run(valley, 11)
    assert facts(again) == facts(whole)
    branches = [
        {"kernel": ["rbf"], "C": (1.0, 9.0), "gamma": (0.1, 1.0)},
        {"kernel": ["poly"], "C": (1.0, 9.0), "degree": (2, 5)},
    ]
    mixed = [dict(reversed(branch.items())) for branch in branches]
    for k, space in enumerate((branches, mixed)):
        with Study(space, "random", 0, path=path.with_name("two.db")) as study:
            study.run(lambda params: params["C"], 4 + k)
    assert facts(study) == facts(Study(branches, "random", 0).run(lambda params: params["C"], 5))


@pytest.mark.parametrize("module", ["studies.own", "mine.studies.own", "mine.spotsvm.own"])
def test_a_search_of_the_users_is_the_same_wherever_its_module_is(module, path, monkeypatch):
    monkeypatch.setattr(Own, "__module__", module)
    for _ in range(2):
        Study(SPACE, Own(), 0, path=path).close()
    monkeypatch.setattr(Own, "__module__", "other.own")
    with pytest.raises(StudyMismatchError, match="another search: .*, this one 'other.own.Own'"):
        Study(SPACE, Own(), 0, path=path)


@pytest.mark.parametrize(("one", "other"), [([1, 2, 3], [1.0, 2.0, 3.0]), ([True, False], [1, 0]), (["1", "2"], [1, 2])])
def test_values_of_another_type_are_another_space(one, other, path):
    Study({"a": one}, "random", 0, path=path).close()
    with pytest.raises(StudyMismatchError, match="another space: it has a="):
        Study({"a": other}, "random", 0, path=path)


def test_the_same_space_in_other_words_is_the_same(path):
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(valley, 3)
    words = {"C": loguniform(a=2**-5, b=2**15), "gamma": loguniform(2.0**-15, 8.0, loc=0)}
    for same in ([SPACE], (SPACE,), Space(SPACE), words):
        with Study(same, "random", 0, path=path) as again:
            assert facts(again) == facts(study)


def test_a_search_that_would_ask_otherwise_is_reported_and_the_record_counts(path):
    with Study(SPACE, Own(), 0, path=path) as study:
        study.run(valley, 4)
    other = Own()
    other.rng = np.random.default_rng(99)
    with pytest.warns(
        UserWarning, match="no longer suggests the recorded point of trial 0 and of 3 more; the recorded points are used"
    ) as caught:
        again = Study(SPACE, other, 0, path=path)
    (warning,) = caught
    assert Path(warning.filename) == Path(__file__)
    with again:
        assert facts(again) == facts(study)
    assert np.array_equal(other.points, [t.point for t in study.trials])


@pytest.mark.parametrize(
    "other",
    [
        '[{"C": {"kind": "continuous", "quantiles": [0.0, 0.1, 0.25, "x", 0.75, 0.9, 1.0]}}]',
        '[{"C": {"kind": "integer", "low": "a", "high": []}}]',
        "[5]",
    ],
)
def test_a_description_that_is_none_differs_in_one_line(path, other):
    Study({"C": uniform(0, 1)}, "random", 0, path=path).close()
    describe(path, space=json.loads(other))
    with pytest.raises(StudyMismatchError, match="another space") as caught:
        Study({"C": uniform(0, 1)}, "random", 0, path=path)
    assert "\n" not in str(caught.value)


def test_data_that_an_earlier_version_described_in_another_way_are_told_with_its_name(path):
    Study(**BASE | {"context": {"data": "5eb63bbbe01eeed093cb22bb8f5acdc3"}}, path=path).close()
    with pytest.raises(StudyMismatchError, match=r"was begun by spotsvm \d\S*, which described data in another way; end it with"):
        Study(**BASE | {"context": {"data": "content 5eb63bbbe01eeed093cb22bb8f5acdc3"}}, path=path)
