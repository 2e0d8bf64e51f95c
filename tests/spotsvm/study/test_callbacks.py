import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import Callback, SpotSearchCV, StopRun, Study
from spotsvm.errors import ArgumentError

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
    log, together = Log(), Log()
    new().run(lambda params: 1.0, n_trials=2, callback=log)
    told = [("ask", 0, "running"), ("tell", 0, "ok"), ("ask", 1, "running"), ("tell", 1, "ok")]
    assert log.heard == [("start", 0), *told, ("end", 2)]
    new().run(lambda params: 1.0, n_trials=3, batch_size=3, callback=together)
    assert [what for what, *_ in together.heard] == ["start", "ask", "ask", "ask", "tell", "tell", "tell", "end"]


def test_a_resumed_run_starts_with_what_is_there_and_tells_of_failures(tmp_path):
    for n in (1, 2):
        log = Log()
        with Study({"x": [0, 1]}, "random", 0, path=tmp_path / "a.db") as study:
            study.run(distance, n_trials=n, callback=log)
        assert (log.heard[0], log.heard[-1]) == (("start", n - 1), ("end", n))
        assert log.heard[2] == ("tell", n - 1, study.trials[n - 1].state)
    assert {t.state for t in study.trials} == {"failed", "ok"}


def test_several_are_called_in_order():
    seen = []

    class Named(Callback):
        def __init__(self, name):
            self.on_start = lambda study: seen.append(("start", name))
            self.on_tell = lambda study, trial: seen.append(("tell", name))
            self.on_end = lambda study: seen.append(("end", name))

    new().run(distance, n_trials=1, callback=[Named("a"), lambda study, trial: seen.append(("tell", "f")), Named("b")])
    assert seen[:5] == [("start", "a"), ("start", "b"), ("tell", "a"), ("tell", "f"), ("tell", "b")]
    assert sorted(seen[5:]) == [("end", "a"), ("end", "b")]


def test_a_callable_hears_of_trials_told_unless_it_has_one_of_the_methods():
    seen = []
    study = new().run(distance, n_trials=3, callback=lambda study, trial: seen.append((study, trial)))
    assert seen == [(study, trial) for trial in study.trials]

    class Ends:
        n = 0

        def on_end(self, study):
            self.n = study.n_finished

        def __call__(self, study, trial):
            raise AssertionError("its methods are called")

    follower = Ends()
    new().run(distance, n_trials=2, callback=follower)
    assert follower.n == 2


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
        assert study.findings["stop"]["sentence"] == "A callback ended the run after 6 trials: enough."
        if batch_size is None:  # else cancelled trials are left
            assert (study.status().state, study.status().reason) == ("ended", "a callback ended the run")
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
    assert study.findings["stop"]["sentence"] == "A callback ended the run after 0 trials."
    assert log.heard == [("start", 0), ("end", 0)]
    study.run(distance, n_trials=5)
    assert study.n_finished == 5


def test_a_run_that_is_broken_off_has_an_end():
    def broken(study, trial):
        raise OSError("sink is full")

    def interrupt(params):
        raise KeyboardInterrupt

    log, interrupted = Log(), Log()
    with pytest.raises(OSError, match="sink is full"):
        new().run(distance, n_trials=5, callback=[log, broken])
    assert log.heard[-1] == ("end", 1)
    with pytest.raises(KeyboardInterrupt):
        new().run(interrupt, n_trials=5, callback=interrupted)
    assert interrupted.heard == [("start", 0), ("ask", 0, "running"), ("end", 0)]


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
