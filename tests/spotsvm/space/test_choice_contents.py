"""Choices are identified by what they hold, not by how they are shown."""

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from spotsvm import ExactSVC, Kriging, Space, Study, load_study
from spotsvm.common.fingerprint import as_text, content_hash
from spotsvm.errors import StudyMismatchError
from spotsvm.kernels import Kernel
from spotsvm.solvers.kernels import make_kernel
from tests.spotsvm.study.record.records import content_of, describe

LONG = np.linspace(0, 1, 2000)
CHANGED = np.where(np.arange(2000) == 1000, -1.0, LONG)


class Holder:
    """An object of the user's own, with a text that says nothing of what it holds."""

    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return "Holder()"


class Closed(Holder):
    def __reduce_ex__(self, protocol):
        raise TypeError("cannot be pickled")


def circle(number):
    held = [number]
    held.append(held)
    return held


DIFFERENT = [
    *(LONG, CHANGED, LONG.astype("f4"), LONG.reshape(2, 1000), LONG[:-1], list(LONG), tuple(LONG), LONG.sum),
    *(np.array([number, None]) for number in (0.5, 0.25)),
    *(np.ma.masked_array([1.0, 2.0], [masked, False]) for masked in (True, False)),
    *(np.datetime64(day) for day in ("2011-03-31", "2011-03-30")),
    *({"a": 1}, {"a": 2}, {"b": 1}, {1: "a"}),
    *({"a"}, {"b"}),
    *((1,), [1], (True,), ("1",), (1.5,), b"1", 1j),
    *(range(3), range(4)),
    *(pd.DataFrame({"a": LONG}), pd.DataFrame({"a": CHANGED}), pd.Series(LONG)),
    *(csr_array(factor * np.eye(9)) for factor in (1, 2)),
    *(kind(SVC(C=C)) for C in (1, 2) for kind in (clone, make_pipeline)),
    *(FunctionTransformer(function) for function in (np.log, np.sqrt)),
    *(SVC, len, np.log, np.mean),
    *(partial(np.mean, axis=axis) for axis in (0, 1)),
    *(KFold(n_splits) for n_splits in (3, 4)),
    *(Holder(held) for held in (LONG, CHANGED, [Holder(1)], [Holder(2)])),
    *(circle(number) for number in (1, 2)),
    *(np.random.RandomState(seed) for seed in (1, 2)),
    Closed(1),
]


def test_what_differs_has_another_hash():
    hashes = [content_hash(value) for value in DIFFERENT]
    assert len(set(hashes)) == len(hashes)
    assert all(len(one) == 16 for one in hashes)
    assert hashes == [content_hash(value) for value in DIFFERENT]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG, LONG.copy()),
        (np.eye(30), np.asfortranarray(np.eye(30))),
        (LONG[::2], LONG[::2].copy()),
        ((1, 0.5), (np.int64(1), np.float64(0.5))),
        ({"a": 1, "b": (2,)}, {"b": (2,), "a": 1}),
        (pd.DataFrame({"a": LONG}), pd.DataFrame({"a": LONG.copy()})),
        (csr_array(np.eye(9)), csr_array(np.eye(9)).tocoo()),
        (make_pipeline(SVC(C=2)), make_pipeline(SVC(C=2))),
        (Holder([LONG, np.mean]), Holder([LONG.copy(), np.mean])),
        (circle(1), circle(1)),
        (np.random.RandomState(1), np.random.RandomState(1)),
        (Closed(1), Closed(2)),
    ],
)
def test_what_holds_the_same_has_the_same(one, other):
    if "csr" in type(one).__name__:
        one, other = (one,), (other.tocsr(),)
    assert content_hash(one) == content_hash(other)


def test_the_hash_is_that_of_another_process_whatever_was_learned():
    assert content_hash(SVC().fit([[0.0], [1.0]], [0, 1])) == content_hash(SVC())
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout.strip()
    mine = [{"b": np.arange(5.0), "a": {"z", "y", "x"}}, FunctionTransformer(np.log1p), (1, None, "ü"), print]
    assert said == content_hash(mine)


@pytest.mark.parametrize("kind", [ExactSVC, Kernel, Kriging, make_kernel], ids=lambda kind: kind.__name__)
def test_where_the_file_of_a_class_of_ours_is_does_not_matter(kind, monkeypatch):
    before = content_hash(kind)
    for place in ("spotsvm.estimators.dual", "spotsvm.solvers.elsewhere", "spotsvm.surrogates.elsewhere"):
        monkeypatch.setattr(kind, "__module__", place)
        assert content_hash(kind) == before
    monkeypatch.setattr(kind, "__module__", "mine")
    assert content_hash(kind) != before


SCRIPT = """
import numpy as np
from sklearn.preprocessing import FunctionTransformer
from spotsvm.common.fingerprint import content_hash
print(content_hash([{"a": {"x", "y", "z"}, "b": np.arange(5.0)}, FunctionTransformer(np.log1p), (1, None, "ü"), print]))
"""


def study(path, values, **options):
    return Study({"x": values, "y": [1, 2, 3]}, "random", 0, path=path, **options)


def test_a_study_does_not_resume_with_other_values_that_look_the_same(tmp_path):
    for k, (one, other) in enumerate([(LONG, CHANGED), (Holder(LONG), Holder(CHANGED)), ((LONG,), (CHANGED,))]):
        path = tmp_path / f"{k}.db"
        study(path, [one, None]).close()
        study(path, [one, None]).close()
        with pytest.raises(
            StudyMismatchError, match="this one values with the same texts and other contents. Use the same space"
        ):
            study(path, [other, None])
        with pytest.raises(StudyMismatchError, match="another space"):
            study(path, [as_text(one), None])


def test_how_values_are_printed_does_not_matter(tmp_path):
    values = [np.array([1 / 3, 2 / 3]), SVC(C=2), StandardScaler(), None]
    with study(tmp_path / "study.db", values) as s:
        s.run(lambda p: p["y"], 9)
    options = dict(precision=2, linewidth=20, suppress=True, threshold=1, formatter={"float": "number {}".format}, legacy="1.13")
    with np.printoptions(**options), sklearn.config_context(print_changed_only=False):
        with study(tmp_path / "study.db", values) as again:
            again.run(lambda p: p["y"], 12)
        read = load_study(tmp_path / "study.db")
    assert {t.params["x"] for t in read.trials} == {"array([0.33333333, 0.66666667])", "SVC(C=2)", "StandardScaler()", None}
    assert read.space.describe() == s.space.describe()


def test_two_branches_with_values_that_look_the_same_have_a_coordinate_each():
    space = Space([{"x": [LONG, None], "kind": ["a"]}, {"x": [CHANGED, None], "kind": ["b"]}])
    drawn = [space.decode(point) for point in np.random.default_rng(0).random((50, space.domain.dimension))]
    assert all(p["x"] is None or p["x"][1000] == {"a": LONG, "b": CHANGED}[p["kind"]][1000] for p in drawn)
    assert len(space.axes) == 2


def test_a_record_of_before_which_has_texts_only_goes_on(tmp_path):
    path = tmp_path / "study.db"
    study(path, [LONG, SVC(), len]).run(lambda p: p["y"], 4).close()
    space = content_of(path, "described")[1]["entries"]["space"]
    del space[0]["x"]["contents"]
    describe(path, space=space)
    with study(path, [LONG, SVC(), len]) as again, np.printoptions(precision=2):
        assert again.run(lambda p: p["y"], 6).n_finished == 6
    assert load_study(path).n_finished == 6
    with pytest.raises(StudyMismatchError, match="another space"):
        study(path, [LONG, SVC(C=2), len])


@pytest.mark.parametrize("contents", [5, [None], [3, None, None], ["x" * 99, None, None]])
def test_contents_that_are_none_are_refused(contents):
    description = Space({"x": [LONG, SVC(), 1]}).describe()
    description[0]["x"]["contents"] = contents
    with pytest.raises(ValueError, match="is not the description of a parameter"):
        Space.described(description)
