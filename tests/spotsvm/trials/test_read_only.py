import copy
import json
import operator
import pickle
from dataclasses import asdict, replace

import cloudpickle
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.svm import SVC

from spotsvm import Study, Trial
from spotsvm.trials.trial import ReadOnlyDict, ReadOnlyParams

SPACE = {"x": uniform(0, 1), "layers": [[10, 5], [7]]}
PLAIN = {"C": 2.0, "kernel": "poly", "gamma": 0.5}

KINDS = pytest.mark.parametrize("kind", [ReadOnlyDict, ReadOnlyParams])


@KINDS
@pytest.mark.parametrize(
    "change",
    [lambda d: operator.setitem(d, "C", 1.0), lambda d: operator.delitem(d, "C"), lambda d: operator.ior(d, {"C": 1.0}),
     lambda d: d.update(C=1.0), lambda d: d.setdefault("D", 1.0), lambda d: d.pop("C"),
     lambda d: d.popitem(), lambda d: d.clear()],
)  # fmt: skip
def test_what_cannot_be_changed_says_what_to_do_instead(kind, change):
    fixed = kind(PLAIN)
    with pytest.raises(TypeError, match=r"cannot be changed, .*; change a copy: dict\(trial.params\)"):
        change(fixed)
    assert fixed == PLAIN


@KINDS
def test_it_is_a_dict_to_all_who_read_it(kind):
    fixed = kind(PLAIN)
    assert isinstance(fixed, dict)
    for read in (repr, json.dumps, list, lambda d: list(d.values()), lambda d: list(d.items())):
        assert read(fixed) == read(PLAIN)
    assert (fixed.get("C"), fixed.get("D"), fixed.get("D", 3)) == (2.0, None, 3)
    assert SVC(**fixed).get_params()["kernel"] == "poly"
    pd.testing.assert_frame_equal(pd.DataFrame([fixed]), pd.DataFrame([PLAIN]))
    pd.testing.assert_series_equal(pd.Series(fixed), pd.Series(PLAIN))


@KINDS
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_a_copy_of_it_is_the_same_and_as_fixed(kind, again):
    copied = again(kind(PLAIN))
    assert type(copied) is kind
    assert copied == PLAIN


@KINDS
@pytest.mark.parametrize(
    "plain",
    [dict, lambda d: {**d}, lambda d: d.copy(), lambda d: d | {"D": 1}, lambda d: {} | d],
)
def test_what_is_made_of_it_is_a_plain_dict(kind, plain):
    made = plain(kind(PLAIN))
    made["C"] = 3.0
    assert type(made) is dict
    assert made == plain(PLAIN) | {"C": 3.0}


NESTED = {"layers": [10, [5]], "weights": {"a": [1]}, "set": {1}, "pair": ([1], 2)}


@pytest.mark.parametrize(
    "read",
    [dict, lambda d: d | {}, lambda d: {} | d, lambda d: {**d}, lambda d: d.copy(), lambda d: dict(d.items()),
     lambda d: dict(zip(d, d.values(), strict=True)), lambda d: {name: d[name] for name in d},
     lambda d: {name: d.get(name) for name in d}],
)  # fmt: skip
def test_lists_and_dicts_within_are_read_as_copies_and_objects_as_themselves(read):
    fixed = ReadOnlyParams(NESTED)
    got = read(fixed)
    assert got == NESTED
    got["layers"][1].append(2)
    got["weights"]["a"].clear()
    got["set"].add(7)
    got["pair"][0].append(3)
    assert fixed == {"layers": [10, [5]], "weights": {"a": [1]}, "set": {1}, "pair": ([1], 2)}
    estimator, pair = SVC(), (1, (2, None))
    fixed = ReadOnlyParams({"svm": estimator, "several": [estimator], "pair": pair})
    assert fixed["pair"] is pair
    assert fixed["svm"] is fixed["several"][0] is estimator


@pytest.mark.parametrize("again", [copy.deepcopy, lambda t: pickle.loads(cloudpickle.dumps(t)), lambda t: replace(t, note="")])
def test_a_copy_of_a_trial_is_equal_and_as_fixed(again):
    trial = Trial(0, {"x": 0.5, "layers": [10, 5]}, (0.5, 0.25), "ok", 1.0, {"time": 2.0})
    copied = again(trial)
    assert copied == trial
    assert repr(copied) == repr(trial)
    assert asdict(copied) == asdict(trial)
    with pytest.raises(TypeError, match="cannot be changed"):
        copied.extra["time"] = 3.0
    with pytest.raises(TypeError, match="cannot be changed"):
        copied.params["x"] = 3.0


def test_memory_and_record_agree_whatever_the_caller_tries(tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        for _ in range(6):
            trial = study.ask()
            with pytest.raises(TypeError):
                trial.params["x"] = 7.0
            trial.params["layers"].append(99)
            told = study.tell(trial, {"value": trial.params["x"], "size": 1.0})
            with pytest.raises(TypeError):
                told.extra["size"] = 2.0
        trials = study.trials
    with Study(SPACE, "random", 0, path=path) as resumed:
        assert resumed.trials == trials
    assert all(t.params["layers"] in ([10, 5], [7]) for t in trials)
