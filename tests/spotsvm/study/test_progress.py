import io
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from spotsvm import Study
from spotsvm.study.callbacks import progress_bar, runs_bar

SPACE = {"x": list(range(50))}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal():
    return Terminal()


def run(stream, values, n, study=None):
    values = iter(values)
    study = Study(SPACE, "random", 0, direction="maximize") if study is None else study
    with redirect_stderr(stream), progress_bar("random", 4) as callback:
        study.run(lambda params: next(values), n, callback=callback)
    return study


def shown(stream):
    return stream.getvalue().split("\r")


def test_the_incumbent_is_the_best_so_far(terminal):
    run(terminal, [0.5, 0.75, 0.25, 0.625], 4)
    last = shown(terminal)[-1]
    assert "random: 100%" in last
    assert "4/4" in last
    assert "incumbent 0.75" in last
    assert any("1/4" in line and "incumbent 0.5" in line for line in shown(terminal))


def test_a_resumed_study_keeps_its_incumbent(terminal):
    study = run(terminal, [0.875, 0.5], 2)
    terminal.truncate(0)
    run(terminal, [0.25, 0.125], 4, study)
    assert "incumbent 0.875" in shown(terminal)[-1]
    assert "incumbent 0.25" not in terminal.getvalue()
    assert "4/4" in shown(terminal)[-1]


def test_a_resumed_study_starts_where_it_was(terminal):
    def interrupt(params):
        raise KeyboardInterrupt

    study = run(terminal, [0.875, 0.5], 2)
    terminal.truncate(0)
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), progress_bar("random", 4) as callback:
        study.run(interrupt, 4, callback=callback)
    assert "2/4" in shown(terminal)[-1]
    assert "incumbent 0.875" in shown(terminal)[-1]


def test_failed_trials_move_the_bar_and_are_no_incumbent(terminal):
    run(terminal, [float("nan"), float("nan")], 2)
    assert "2/4" in shown(terminal)[-1]
    assert "incumbent" not in terminal.getvalue()
    run(terminal, [float("nan"), -2.5], 2)
    assert "incumbent -2.5" in shown(terminal)[-1]


def test_silence_where_nobody_watches(capsys):
    stream = io.StringIO()
    run(stream, [1.0, 2.0], 2)
    assert stream.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_the_bar_ends_its_line_when_interrupted(terminal):
    def interrupt(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), progress_bar("random", 4) as callback:
        Study(SPACE, "random", 0).run(interrupt, 4, callback=callback)
    assert terminal.getvalue().endswith("\n")


def test_a_bar_of_runs_names_the_run_that_has_ended(terminal):
    with redirect_stderr(terminal), runs_bar("branin", 2) as ended:
        ended(SimpleNamespace(search="random", seed=7))
    assert "branin" in terminal.getvalue()
    assert "1/2" in terminal.getvalue()
    assert "random, seed 7" in terminal.getvalue()
