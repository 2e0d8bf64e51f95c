import copy

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import ArgumentError, Callback, SpotSearchCV, StopRun, Study
from spotsvm.study.callbacks import progress_bar

SPACE = {"x": list(range(40))}


class Log(Callback):
    """Writes down what it hears, the trials with their states."""

    def __init__(self):
        self.heard = []

    def on_start(self, study):
        self.heard.append(("start", len(study.trials)))

    def on_ask(self, study, trial):
        self.heard.append(("ask", trial.number, trial.state))
        assert study.trials[trial.number] is trial

    def on_tell(self, study, trial):
        self.heard.append(("tell", trial.number, trial.state))
        assert study.trials[trial.number] is trial

    def on_end(self, study):
        self.heard.append(("end", study.n_finished))


def distance(params):
    if params["x"] == 0:
        raise ValueError("no zero")
    return abs(params["x"] - 7)


def new(**arguments):
    return Study(SPACE, "random", 0, **arguments)


def test_a_run_is_told_of_from_start_to_end():
    log = Log()
    new().run(lambda params: 1.0, n_trials=2, callback=log)
    assert log.heard == [
        ("start", 0),
        ("ask", 0, "running"),
        ("tell", 0, "ok"),
        ("ask", 1, "running"),
        ("tell", 1, "ok"),
        ("end", 2),
    ]


def test_all_of_a_batch_are_asked_before_one_is_told():
    log = Log()
    new().run(lambda params: 1.0, n_trials=3, batch_size=3, callback=log)
    assert [what for what, *_ in log.heard] == ["start", "ask", "ask", "ask", "tell", "tell", "tell", "end"]


def test_failed_trials_are_told_of():
    log = Log()
    study = Study({"x": [0, 1]}, "random", 0).run(distance, n_trials=2, callback=log)
    assert sorted(state for what, *_, state in log.heard if what == "tell") == ["failed", "ok"]
    assert study.n_finished == 2


def test_a_resumed_run_starts_with_what_is_there(tmp_path):
    with new(path=tmp_path / "a.db") as study:
        study.run(distance, n_trials=2)
    log = Log()
    with new(path=tmp_path / "a.db") as study:
        study.run(distance, n_trials=3, callback=log)
    assert log.heard[0] == ("start", 2)
    assert log.heard[-1] == ("end", 3)


def test_a_bare_callable_hears_of_trials_told():
    seen = []
    study = new().run(distance, n_trials=3, callback=lambda study, trial: seen.append((study, trial)))
    assert seen == [(study, trial) for trial in study.trials]


def test_several_are_called_in_order():
    seen = []

    class Named(Callback):
        def __init__(self, name):
            self.name = name

        def on_start(self, study):
            seen.append(("start", self.name))

        def on_tell(self, study, trial):
            seen.append(("tell", self.name))

        def on_end(self, study):
            seen.append(("end", self.name))

    new().run(distance, n_trials=1, callback=[Named("a"), lambda study, trial: seen.append(("tell", "f")), Named("b")])
    assert seen[:5] == [("start", "a"), ("start", "b"), ("tell", "a"), ("tell", "f"), ("tell", "b")]
    assert sorted(seen[5:]) == [("end", "a"), ("end", "b")]


def test_an_object_with_one_of_the_methods_will_do():
    class Ends:
        n = 0

        def on_end(self, study):
            self.n = study.n_finished

    follower = Ends()
    new().run(distance, n_trials=2, callback=follower)
    assert follower.n == 2


def test_an_object_with_methods_is_not_called_itself():
    class Both(Log):
        def __call__(self, study, trial):
            raise AssertionError("its methods are called")

    log = Both()
    new().run(distance, n_trials=1, callback=log)
    assert [what for what, *_ in log.heard] == ["start", "ask", "tell", "end"]


@pytest.mark.parametrize("batch_size", [None, 4])
def test_stop_run_ends_a_run_that_goes_on_as_if_it_had_not(batch_size, tmp_path):
    def stop(study, trial):
        if trial.number == 5:
            raise StopRun("enough")

    undisturbed = new().run(distance, n_trials=12, batch_size=batch_size)
    log = Log()
    with new(path=tmp_path / "a.db") as study:
        assert study.run(distance, n_trials=12, batch_size=batch_size, callback=[stop, log]) is study
        assert study.n_finished == 6
        assert log.heard[-1] == ("end", 6)
    with new(path=tmp_path / "a.db") as study:
        study.run(distance, n_trials=12, batch_size=batch_size)
        assert [(t.point, t.value) for t in study.trials] == [(t.point, t.value) for t in undisturbed.trials]


def test_stop_run_at_the_start_evaluates_nothing():
    class Never(Callback):
        def on_start(self, study):
            raise StopRun

    log = Log()
    study = new().run(distance, n_trials=5, callback=[log, Never()])
    assert study.n_finished == 0
    assert log.heard == [("start", 0), ("end", 0)]
    study.run(distance, n_trials=5)
    assert study.n_finished == 5


def test_what_a_callback_raises_ends_the_run_after_its_end_is_told():
    def broken(study, trial):
        raise OSError("sink is full")

    log, study = Log(), new()
    with pytest.raises(OSError, match="sink is full"):
        study.run(distance, n_trials=5, callback=[log, broken])
    assert log.heard[-1] == ("end", 1)
    assert study.n_finished == 1


def test_an_interrupted_run_has_an_end():
    def interrupt(params):
        raise KeyboardInterrupt

    log = Log()
    with pytest.raises(KeyboardInterrupt):
        new().run(interrupt, n_trials=5, callback=log)
    assert log.heard == [("start", 0), ("ask", 0, "running"), ("end", 0)]


@pytest.mark.parametrize(
    ("callback", "message"),
    [
        (3, "callback=3 cannot be called; use a callable that takes the study and the trial"),
        ([print, None], "callback=None cannot be called"),
        ("log", "callback='l' cannot be called"),
        (Log, r"callback=Log is a class; use an object of it, Log\(...\)"),
    ],
)
def test_what_is_no_callback(callback, message):
    study = new()
    with pytest.raises(ArgumentError, match=message):
        study.run(distance, n_trials=5, callback=callback)
    assert study.trials == ()


def test_a_search_of_candidates_is_followed_and_stopped():
    def stop(study, trial):
        if trial.number == 2:
            raise StopRun("enough")

    X, y = load_iris(return_X_y=True)
    log = Log()
    search = SpotSearchCV(
        SVC(), {"C": [0.1, 1, 10, 100, 1000]}, n_iter=5, search="random", cv=3, callback=[log, stop], random_state=0
    )
    search.fit(X, y)
    assert [what for what, *_ in log.heard] == ["start", *["ask", "tell"] * 3, "end"]
    assert len(search.cv_results_["params"]) == 3
    assert search.score(X, y) > 0.9


def test_a_cloned_search_shows_the_same_bar():
    with progress_bar("random", 3) as bar:
        search = SpotSearchCV(SVC(), {"C": [1, 10]}, callback=bar)
        assert clone(search).callback is bar
        assert copy.deepcopy(bar) is bar
