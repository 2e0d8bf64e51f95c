"""What is no rule, and what a rule knows of test rows."""

import pytest
from completed_trials import SVM
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import ImprovementBelowUncertainty, SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.luck.fold_bias import corrected_standard_error
from spotsvm.study.stop import checked_stop, with_test_share

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}
EARLY = ImprovementBelowUncertainty(factor=1.0, patience=2, min_trials=8)


class Told:
    """A stop rule that stops after three trials in a row at which it is told of too small improvements."""

    def __init__(self, improvements):
        self.improvements, self.asked = improvements, []

    def __call__(self, study):
        n = study.n_finished
        self.asked.append(n)
        last = self.improvements[max(n - 3, 0) : n]
        return f"three in a row after {n}" if len(last) == 3 and all(one is not None and one < 0.5 for one in last) else None


def test_in_a_cross_validated_search(tmp_path):
    X, y = load_iris(return_X_y=True)

    def fitted(**changed):
        return SpotSearchCV(SVC(), SVM, n_iter=40, search="random", cv=3, random_state=0, **PLAIN | changed).fit(X, y)

    search = fitted(stop=EARLY, path=tmp_path / "a.db")
    n = search.study_.n_finished
    assert 8 <= n < 40
    assert len(search.cv_results_["params"]) == n
    best = [search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(3)]
    assert search.study_.findings["stop"]["uncertainty"] == corrected_standard_error(best, 1 / 3)
    plain = SpotSearchCV(SVC(), SVM, n_iter=n, search="random", cv=3, random_state=0, **PLAIN).fit(X, y)
    assert search.best_params_ == plain.best_params_
    assert fitted(stop=EARLY, path=tmp_path / "a.db").study_.n_finished == n
    with pytest.raises(ArgumentError, match="stop='soon' is not a stop rule"):
        fitted(stop="soon")


@pytest.mark.parametrize("stop", ["soon", 3, True, ImprovementBelowUncertainty])
def test_what_is_no_rule(stop):
    with pytest.raises(ArgumentError, match="is not a stop rule; use None, 'uncertainty'"):
        checked_stop(stop)


def test_the_share_of_test_rows_is_filled_in_once():
    assert with_test_share("uncertainty", 0.2).test_share == 0.2
    assert with_test_share(ImprovementBelowUncertainty(test_share=0.5), 0.2).test_share == 0.5
    rule = Told([])
    assert with_test_share(rule, 0.2) is rule
