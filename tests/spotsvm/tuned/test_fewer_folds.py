"""Fewer folds than asked for, as the rows allow no more: told by the classes, and by the command for an average and a search."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.model_selection import GroupKFold

from spotsvm import TunedSVC, TunedSVR
from spotsvm.commands.main import main
from spotsvm.errors import DataWarning

KINDS = pytest.mark.parametrize("kind", [TunedSVC, TunedSVR])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
PERSON = np.array(["Ann", "Ben", "Cem", "Dan"])[np.arange(60) % 4]


def target(kind, rows=X):
    return np.where(rows[:, 0] > 0, "yes", "no") if kind is TunedSVC else rows[:, 0]


def told(kind, rows=X, cv=5, y=None, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(budget=1, cv=cv, random_state=0).fit(rows, target(kind, rows) if y is None else y, **given)
    found = [notice for one in caught if issubclass(one.category, DataWarning) for notice in one.message.notices]
    assert found == list(model.notices_)
    sentences = [notice.sentence for notice in found if notice.code == "folds"]
    assert all(sentence.startswith(f"{model.fit_facts_.n_folds} folds in place of {cv}, as ") for sentence in sentences)
    return sentences


@KINDS
def test_groups(kind):
    assert told(kind, groups=PERSON) == ["4 folds in place of 5, as the training rows have only 4 groups"]
    assert told(kind, groups=PERSON, cv=4) == told(kind, groups=PERSON, cv=GroupKFold(4)) == told(kind, cv=10) == []
    without = np.where(PERSON == "Dan", 0.0, 1.0)
    assert told(kind, groups=PERSON, sample_weight=without) == ["3 folds in place of 5, as the training rows have only 3 groups"]
    copied = X.copy()
    copied[0] = copied[1]
    of_copies = "the training rows have only 3 groups that share no row"
    assert told(kind, copied, groups=PERSON) == [f"3 folds in place of 5, as {of_copies}"]


def test_rows():
    assert told(TunedSVR, X[:4]) == ["4 folds in place of 5, as there are only 4 rows to test on"]
    y = np.arange(6) % 2
    assert told(TunedSVC, X[:6], y=y) == ["3 folds in place of 5, as no class has more than 3 rows to test on"]


def test_the_grid_of_a_sample():
    model = TunedSVC(budget=1, rows=20, random_state=0)
    with pytest.warns(DataWarning, match="4 folds in place of 5, as the 20 rows that the grid is scored on have only 4 groups"):
        model.fit(X, target(TunedSVC), groups=PERSON)


@pytest.mark.parametrize("more", [[], ["--model", "svm", "--trials", "2", "--search", "random"]], ids=["average", "search"])
def test_the_command(more, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(X, columns=["a", "b"]).assign(person=PERSON, y=target(TunedSVC)).to_csv(path, index=False)
    args = ["tune", str(path), "--target", "y", "--groups", "person", "--no-compare", *more]
    result = CliRunner().invoke(main, args, catch_exceptions=False)
    text = " ".join(f"{result.stderr} {result.stdout}".replace("spotsvm:", "").split())
    assert re.findall(r"notice: (\d folds .*? groups)", text) == [
        "3 folds in place of 5, as the training rows have only 3 groups"
    ]
