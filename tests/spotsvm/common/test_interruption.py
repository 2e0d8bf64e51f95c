import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TunedSVC, TunedSVR, compare, oversearching
from spotsvm.common.interruption import says_when_interrupted
from spotsvm.tuned.sweeps import Sweeps

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


def interrupted(sentence, *within):
    """Return the interruption of a block with a sentence, around further blocks."""

    def press(around, *within):
        with says_when_interrupted(around):
            if within:
                press(*within)
            raise KeyboardInterrupt("by a user")

    with pytest.raises(KeyboardInterrupt) as caught:
        press(sentence, *within)
    return caught.value


def test_an_interruption_that_nobody_catches_is_one_line(monkeypatch, capsys):
    others = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: others.append(error[1]))
    first, second = interrupted(lambda inner: f"two [{inner}]"), interrupted("{} around".format, lambda inner: "one")
    plain = KeyboardInterrupt("no sentence")
    for error in (first, second, pickle.loads(pickle.dumps(second)), plain):
        sys.excepthook(type(error), error, error.__traceback__)
    assert capsys.readouterr().err == "KeyboardInterrupt: two []\n" + 2 * "KeyboardInterrupt: one around\n"
    assert others == [plain]
    assert type(second) is KeyboardInterrupt  # for others Python does not end with the code of the signal
    assert second._render_traceback_() == ["KeyboardInterrupt: one around"]  # as IPython asks
    assert second.__context__ is not None


@pytest.mark.parametrize("path", [None, "fit.db"])
@pytest.mark.parametrize("model", [TunedSVC, TunedSVR])
def test_a_tuned_model_counts_its_sweeps(model, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = Sweeps.tell

    def tell(sweeps, scored):
        right(sweeps, scored)
        if sweeps.n_scored == 3:
            raise KeyboardInterrupt

    options = {"families": ["linear", "rbf"], "path": path, "random_state": 0}
    with monkeypatch.context() as patch:
        patch.setattr(Sweeps, "tell", tell)
        with pytest.raises(KeyboardInterrupt) as caught:
            model(**options).fit(X[::5], Y[::5])
    begun, how = str(caught.value).split("; ")
    of = int(begun.split()[2])
    assert begun == f"3 of {of} sweeps are scored"
    assert how == (
        f"fit will start again: pass a path to {model.__name__} to resume after an interruption"
        if path is None
        else "scored sweeps are recorded in fit.db, and the same call goes on from there"
    )
    assert len(model(**options).fit(X[::5], Y[::5]).settings_[["family", "width"]].drop_duplicates()) == of
