"""The bar of a run."""

import copy
import io
from contextlib import redirect_stderr, suppress
from types import SimpleNamespace

from sklearn.base import clone
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study
from spotsvm.study.callbacks import progress_bar, runs_bar

SPACE = {"x": list(range(40))}


def new(**arguments):
    return Study(SPACE, "random", 0, **arguments)


def test_a_cloned_search_shows_the_same_bar():
    with progress_bar("random", 3) as bar:
        search = SpotSearchCV(SVC(), {"C": [1, 10]}, callback=bar)
        assert clone(search).callback is bar
        assert copy.deepcopy(bar) is bar


class Terminal(io.StringIO):
    def isatty(self):
        return True

    @property
    def last(self):
        return self.getvalue().split("\r")[-1]


def drawn(values, n, study=None, stream=None):
    """Run a study to n trials under a bar of 4; return what was drawn, and the study. A value that is an exception is raised."""

    def objective(params):
        if isinstance(value := next(values), type):
            raise value
        return value

    stream, values = Terminal() if stream is None else stream, iter(values)
    study = new(direction="maximize") if study is None else study
    with redirect_stderr(stream), progress_bar("random", 4) as callback, suppress(KeyboardInterrupt):
        study.run(objective, n, callback=callback, max_failures=None)
    return stream, study


def test_the_bar_shows_the_best_value_so_far():
    terminal, _ = drawn([0.5, 0.75, 0.25, 0.625], 4)
    assert all(words in terminal.last for words in ("random: 100%", "4/4", "incumbent 0.75"))
    assert any("1/4" in line and "incumbent 0.5" in line for line in terminal.getvalue().split("\r"))


def test_the_bar_of_a_resumed_study_starts_where_it_was():
    _, study = drawn([0.875, 0.5], 2)
    terminal, _ = drawn([KeyboardInterrupt], 4, study)
    assert "2/4" in terminal.last
    assert "incumbent 0.875" in terminal.last
    assert terminal.getvalue().endswith("\n"), "a bar ends its line when interrupted"
    terminal, _ = drawn([0.25, 0.125], 4, study)
    assert "4/4" in terminal.last
    assert "incumbent 0.875" in terminal.last
    assert "incumbent 0.25" not in terminal.getvalue()


def test_failed_trials_move_the_bar_and_are_no_incumbent():
    terminal, _ = drawn([float("nan"), float("nan")], 2)
    assert "2/4" in terminal.last
    assert "incumbent" not in terminal.getvalue()
    assert "incumbent -2.5" in drawn([float("nan"), -2.5], 2)[0].last


def test_a_line_after_each_tenth_where_no_terminal_is(capsys):
    stream, study = drawn([1.0, 2.0], 2, stream=io.StringIO())
    first, second = stream.getvalue().splitlines()
    assert first.startswith("random: 1 of 4 trials, best value 1, about ")
    assert second.startswith("random: 2 of 4 trials, best value 2, about ")
    assert second.endswith(" left")
    # resumed, and at its end
    assert drawn([1.5, 0.5], 4, study, io.StringIO())[0].getvalue().splitlines()[-1] == "random: 4 of 4 trials, best value 2"
    assert capsys.readouterr() == ("", "")


def test_a_bar_of_runs_names_the_run_that_has_ended():
    terminal = Terminal()
    with redirect_stderr(terminal), runs_bar("branin", 2) as ended:
        ended(SimpleNamespace(search="random", seed=7))
    assert all(words in terminal.getvalue() for words in ("branin", "1/2", "random, seed 7"))
