import io
import logging
import re
from contextlib import redirect_stderr

import pytest
from sklearn.datasets import load_iris

from spotsvm import TunedSVC, TunedSVR
from spotsvm.errors import ArgumentError

X, Y = load_iris(return_X_y=True)
X, Y = X[::5], Y[::5]
FIT = {"families": ["rbf", "linear"], "budget": 4, "random_state": 0}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_fit_says_nothing_unless_it_is_asked_to(capsys, caplog):
    caplog.set_level(logging.INFO, "spotsvm")
    TunedSVC(**FIT).fit(X, Y)
    assert tuple(capsys.readouterr()) == ("", "")
    begun, *sweeps, ended = [record.getMessage() for record in caplog.records if record.name.startswith("spotsvm.tuned")]
    assert begun == "TunedSVC begins with 30 rows, 4 columns and 5 folds"
    assert [text.partition(" is scored after ")[0] for text in sweeps] == [f"sweep {k} of 4" for k in (1, 2, 3, 4)]
    assert re.search(r"rbf, gamma 2\^-7, \d+ values of C$", sweeps[0])
    assert re.match(r"TunedSVC took [0-9.e-]+ s: \d+ of \d+ candidates, expected_score_ 0\.\d+ \(95 %", ended)


def test_verbose_shows_lines_or_a_bar_and_more_a_line_for_each_sweep(capsys):
    TunedSVR(**FIT, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [re.sub(", about .* left$", "", line) for line in err.splitlines()]
    assert lines == [f"TunedSVR: {k} of 4 sweeps" for k in (1, 2, 3, 4)]
    with redirect_stderr(Terminal()) as terminal:
        TunedSVC(**FIT, verbose=True).fit(X, Y)
    assert re.search(r"TunedSVC: 100%.* 4/4 \[", terminal.getvalue())
    TunedSVC(**FIT, verbose=2).fit(X, Y)
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split("]")[0] for line in out.splitlines()] == [f"[{k}/4" for k in (1, 2, 3, 4)]


def test_a_resumed_fit_begins_with_the_recorded_sweeps(capsys, caplog, tmp_path):
    caplog.set_level(logging.INFO, "spotsvm.tuned")
    for _ in range(2):
        TunedSVC(**FIT, path=tmp_path / "fit.db", verbose=1).fit(X, Y)
    assert len(capsys.readouterr().err.splitlines()) == 4
    assert "4 of 4 sweeps are recorded" in caplog.text


@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_a_wrong_verbose_is_refused(verbose):
    with pytest.raises(ArgumentError, match="verbose="):
        TunedSVC(verbose=verbose).fit(X, Y)
