"""What is said after an interruption."""

import pickle
import sys

import pytest
from sklearn.datasets import load_iris

from spotsvm import TunedSVC, TunedSVR
from spotsvm.common.interruption import says_when_interrupted
from spotsvm.tuned.sweeps import Sweeps

X, Y = load_iris(return_X_y=True)


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
