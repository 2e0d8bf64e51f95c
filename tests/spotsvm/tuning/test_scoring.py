import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, f1_score, get_scorer
from sklearn.svm import SVC

from spotsvm.errors import ArgumentError
from spotsvm.tables import make_table, table_scorer
from spotsvm.tuning.scoring import positive_class, score_title

X = pd.DataFrame({"a": np.sin(np.arange(60.0)), "b": np.cos(3 * np.arange(60.0))})
RARE = (X["a"] + X["b"] > 0.7).to_numpy()


def table(rare, other):
    return make_table(X, pd.Series(np.where(RARE, rare, other), name="y"))


@pytest.mark.parametrize(
    ("rare", "other", "positive", "title"),
    [
        ("ill", "well", "ill", "F1 of the class 'ill'"),
        ("a", "b", "a", "F1 of the class 'a'"),
        (1, 0, 1, "F1 of the class 1"),
        (0, 1, 1, "F1 of the class 1"),
        (1, 2, 1, "F1 of the class 1"),
        (2, 1, 2, "F1 of the class 2"),
    ],
)
def test_the_score_of_a_class_is_that_of_the_rarer_one(rare, other, positive, title):
    given = table(rare, other)
    assert positive_class("f1", given) == positive
    assert score_title("f1", given) == title
    assert positive_class("accuracy", given) is None
    assert score_title("accuracy", given) == "accuracy"
    fitted = SVC(C=0.3).fit(X, given.y)
    for metric, score in (("f1", f1_score), ("average_precision", average_precision_score)):
        scorer = table_scorer(metric, given)
        found = (get_scorer(scorer) if isinstance(scorer, str) else scorer)(fitted, X, given.y)
        margins = fitted.decision_function(X) * (1 if fitted.classes_[1] == positive else -1)
        seen = fitted.predict(X) if metric == "f1" else margins
        assert found == pytest.approx(score(given.y, seen, pos_label=positive))


def test_of_more_classes_it_is_an_error_that_says_what_to_use():
    given = make_table(X, pd.Series(np.arange(60) % 3, name="y"))
    with pytest.raises(
        ArgumentError, match="the target has 3 classes; use f1_macro or f1_weighted, or separate one class from all"
    ):
        table_scorer("f1", given)
    assert table_scorer("f1_macro", given) == "f1_macro"
    with pytest.raises(ArgumentError, match="'acuracy' is unknown"):
        table_scorer("acuracy", given)


def test_of_classes_of_one_size_it_is_the_later_one():
    assert positive_class("recall", make_table(X, pd.Series(np.tile(["x", "y"], 30), name="y"))) == "y"
