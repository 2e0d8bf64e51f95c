import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, compare, oversearching

X, Y = load_iris(return_X_y=True)


class InterruptedRefit(SVC):
    """It is interrupted when it is fitted to all rows."""

    def fit(self, X, y):
        if len(X) == 30:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:The total space of parameters")
def test_a_search_counts_its_candidates_also_in_the_refit_and_in_a_small_space(tmp_path):
    few = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    search = SpotSearchCV(InterruptedRefit(), few, n_iter=20, search="random", cv=2, random_state=0)
    with pytest.raises(
        KeyboardInterrupt, match=r"^6 of 6 possible candidates are scored \(n_iter=20\); fit will start again: pass"
    ):
        search.fit(X[::5], Y[::5])
    search.set_params(n_iter=4, path=tmp_path / "s.db")
    with pytest.raises(
        KeyboardInterrupt, match="^4 of 4 candidates are scored and recorded in .*s.db; the same call goes on from"
    ):
        search.fit(X[::5], Y[::5])


def test_a_comparison_counts_its_runs():
    def press(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"^1 of 4 runs are finished; compare will start again: pass a path to resume"):
        compare(lambda p: p["x"], {"x": list(np.arange(9.0))}, ["random", "lhs"], n_trials=2, seeds=2, callback=press)


@pytest.mark.parametrize("path", [None, "folder"])
def test_an_analysis_of_a_search_says_how_the_analysis_goes_on(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search = SpotSearchCV(InterruptedRefit(), {"C": [0.1, 1.0, 10.0]}, n_iter=3, search="random", cv=2, random_state=0)
    wanted = (
        "oversearching was interrupted, and will start again: pass a path to resume after an interruption"
        if path is None
        else "what is scored is recorded in folder; the same call goes on from there"
    )
    with pytest.raises(KeyboardInterrupt, match=f"^{wanted}$"):
        oversearching(search, X[::4], Y[::4], outer=5, path=path)
