from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from completed_trials import facts
from scipy.stats import loguniform, randint

from spotsvm import Space, Study
from spotsvm.errors import SpaceError, StorageError, StudyMismatchError
from spotsvm.searches import RandomSearch

SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
MIXED = [{"kernel": ["rbf"], "C": loguniform(1e-3, 1e3)}, {"kernel": ["poly"], "degree": randint(2, 6)}]
STARTS = [{"C": 8.0, "gamma": 2**-5}, {"C": 1.0, "gamma": 1.0}, {"gamma": 0.01, "C": 1000.0}]


def valley(params):
    return (np.log2(params["C"]) - 3) ** 2 + (np.log2(params["gamma"]) + 5) ** 2


def both(params):
    return [valley(params), params["C"]]


def at(study):
    return [{name: pytest.approx(value, rel=1e-9) for name, value in t.params.items()} for t in study.trials]


@pytest.mark.parametrize("how", ["start", "given"])
def test_a_configuration_is_given_as_it_is_and_evaluated_again_as_it_was(how):
    given = {"C": 0.1, "gamma": 0.3}

    def near(params):
        return sum(abs(np.log(params[name] / value)) for name, value in given.items())

    study = Study(SPACE, "kriging", 1, start=given if how == "start" else None)
    if how == "given":
        study.add_trial(given, near(given))
    study.run(near, 12)
    again = [t for t in study.trials if t.point == study.trials[0].point]
    assert Space(SPACE).decode(again[0].point) != given  # a point rounds
    assert len(again) > 1
    assert all(t.params == given for t in again)
    assert len({t.value for t in again}) == 1


class Own:
    """A search of a user's own: it knows `ask` and `tell` only."""

    def __init__(self):
        self.asked, self.told = 0, []

    def ask(self):
        self.asked += 1
        return [self.asked / 20] * 2

    def tell(self, point, value):
        self.told.append((point.tolist(), value))


@pytest.mark.parametrize("search", ["kriging", "koch2011", Own, "nsga2"])
def test_a_study_begins_where_it_is_told_to(search):
    several = search in ("nsga2", "parego")
    n = 12  # ten are the design of Koch's search

    def run():
        direction = ["minimize"] * 2 if several else "minimize"
        study = Study(SPACE, search() if search is Own else search, 1, start=STARTS, direction=direction)
        return study.run(both if several else valley, n)

    study = run()
    assert STARTS == at(study)[:3]
    assert [t.origin for t in study.trials[:4]].count("start") == 3
    assert study.n_finished == n
    assert len({t.point for t in study.trials if t.origin != "replicate"}) >= n - 2
    assert facts(run()) == facts(study)


def test_one_start_is_a_list_of_one_and_equal_ones_count_once():
    for start, n in ((STARTS[0], 1), ([STARTS[0], STARTS[1], STARTS[0]], 2), ([], 0), ((STARTS[2],), 1), (None, 0)):
        study = Study(SPACE, "random", 0, start=start).run(valley, 5)
        assert [t.origin for t in study.trials].count("start") == n
        assert len({t.point for t in study.trials}) == 5


def test_starts_take_the_place_of_design_points_and_stop_nothing_by_failing():
    study = Study(SPACE, "kriging", 0, start=STARTS).run(valley, 8)
    assert [t.origin for t in study.trials] == ["start"] * 3 + ["design"] * 3 + ["replicate", "improvement"]
    many = [{"C": 2.0**k, "gamma": 2.0**-k} for k in range(-3, 6)]
    study = Study(SPACE, "kriging", 0, noise=False, start=many).run(valley, 11)
    assert [t.origin for t in study.trials] == ["start"] * 9 + ["improvement"] * 2
    study = Study(SPACE, "kriging", 0, start=[{"C": 2.0**k, "gamma": 1.0} for k in range(8)])
    study.run(lambda p: np.nan if p["gamma"] == pytest.approx(1.0) else valley(p), 14, max_failures=None)
    assert [t.state for t in study.trials] == ["failed"] * 8 + ["ok"] * 6
    assert study.trials[8].note == "no evaluation has succeeded yet"


@pytest.mark.parametrize(("search", "next_four"), [("kriging", ["design"] * 3 + ["replicate"]), ("cmaes", ["generation"] * 4)])
def test_starts_are_a_batch_of_their_own(search, next_four):
    study = Study(SPACE, search, 0, start=STARTS)
    assert study._books.search.n_foreseen == 3
    assert len(study.ask_batch(2)) == 2
    rest = study.ask_batch(8)
    assert [t.origin for t in rest] == ["start"]
    study._books.hand_back(study.trials)
    batch = study.ask_batch(8)
    assert [t.params for t in batch] == at(study)[:3]
    for t in batch:
        study.tell(t, valley(t.params))
    assert [t.origin for t in study.ask_batch(4)] == next_four


@pytest.mark.parametrize(("search", "workers"), [("cmaes", 4), ("vns", None), ("lbfgsb", None)])
def test_every_search_goes_on_from_the_best_start_one_at_a_time_or_in_batches(search, workers):
    good, space = {"C": 2**-3.0, "gamma": 2**-1.0}, Space(SPACE)
    goal = space.encode(good)
    with ThreadPoolExecutor(4) as pool:
        study = Study(SPACE, search, 1, start=[{"C": 2.0**5, "gamma": 2.0**-6}, good])
        # asynchronously, which start is told first would depend on the threads
        study.run(lambda p: float(((space.encode(p) - goal) ** 2).sum()), 20, pool if workers else None, batch_size=workers)
    after = np.array([t.point for t in study.trials[2:]])
    closer = np.linalg.norm(after - goal, axis=1) < np.linalg.norm(after - 0.5, axis=1)
    first = {"cmaes": 6, "vns": 6, "lbfgsb": 2}[search]  # its points that follow from the start alone
    assert closer[:first].sum() >= 0.6 * first
    assert study.best_trial.params == study.trials[1].params
    if search == "cmaes":
        assert np.allclose(study._books.search._search._run.es.mean, goal, atol=0.25)


def test_a_study_cut_off_among_its_starts_goes_on_in_the_same_batches(tmp_path):
    def make(path=tmp_path / "study.db"):
        return Study(SPACE, "cmaes", 3, start=STARTS, path=path)

    def cut_off(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), make() as study:
        study.run(cut_off, 15, batch_size=4)
    with make() as study:
        assert facts(study.run(valley, 15, batch_size=4)) == facts(make(None).run(valley, 15, batch_size=4))


def test_starts_count_in_a_budget_and_are_no_neighbours_of_a_vns():
    study = Study(SPACE, "cmaes", 0, start=STARTS)
    # the best of the starts is one of the first generation of six
    assert [t.origin for t in study.run(valley, 2).trials] == ["start"] * 2
    assert study.run(valley, 8)._books.n_initial == 8
    assert [t.origin for t in study.trials] == ["start"] * 3 + ["generation"] * 5
    assert Study(SPACE, "cmaes", 0, start=STARTS[0])._books.n_initial == 6
    assert Study(SPACE, "kriging", 0, start=STARTS)._books.n_initial == 6
    study = Study(SPACE, "carrizosa2014", 0, start=[STARTS[0], STARTS[1], STARTS[2]]).run(valley, 3)
    assert study._books.search._search.kappa == 1
    assert study._books.search._search.incumbent.tolist() == list(study.trials[0].point)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"C": 1e9, "gamma": 1.0}, r"^start is not in the space: C=1000000000.0 is not a number in \[0.03125, 32768\]$"),
        (
            [STARTS[0], {"C": 1.0, "gamma": "a"}],
            r"^start\[1\] is not in the space: gamma='a' is not a number in \[3.05176e-05, 8\]$",
        ),
        ({"C": 1.0}, r"start is not in the space: params has the names \['C'\]; the space has \['C', 'gamma'\]"),
        ([STARTS[0], "x"], r"start\[1\]='x' is not a dictionary of parameters"),
        ("C=1", "start='C=1' is not a configuration; use a dictionary of parameters, or a list of such"),
        (5, "start=5 is not a configuration"),
    ],
)
def test_a_start_outside_the_space_is_refused_when_the_study_is_made(start, said, tmp_path):
    with pytest.raises(SpaceError, match=said):
        Study(SPACE, "random", 0, start=start, path=tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize(("search", "cut"), [("kriging", 2), ("cmaes", 3), ("own", 1), ("own", 7)])
def test_resumed_is_undisturbed_wherever_it_is_cut_off(search, cut, tmp_path):
    def make(path=None):
        return Study(SPACE, Own() if search == "own" else search, 7, start=STARTS, path=path)

    with make(tmp_path / "study.db") as study:
        for _ in range(cut):
            trial = study.ask()
            study.tell(trial, valley(trial.params))
    with make(tmp_path / "study.db") as study:
        study.run(valley, 14)
    assert facts(study) == facts(make().run(valley, 14))


def test_recorded_starts_count_and_others_are_another_study_s(tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 7, start=STARTS[:1], path=path) as study:
        study.run(valley, 4)
    with Study(SPACE, "random", 7, path=path) as study:
        study.run(valley, 5)
    asked_before = dict(study.trials[3].params)
    with Study(SPACE, "random", 7, start=[STARTS[2], STARTS[0], STARTS[1]], path=path) as study:
        study.run(valley, 8)
    assert [t.origin for t in study.trials] == ["start", *["random"] * 4, "start", "start", "random"]
    assert at(study)[5:7] == [STARTS[2], STARTS[1]]
    with Study(SPACE, "random", 7, start=[*STARTS, asked_before], path=path) as study:
        assert study.ask().origin == "random"  # the record has been there, if not as at a start
    with pytest.raises(StudyMismatchError, match="another start: it began with {'C': .*Add it, leave start out"):
        Study(SPACE, "random", 7, start=STARTS[1:], path=path)


@pytest.mark.parametrize("search", ["kriging", "own", "instance"])
def test_a_start_that_cannot_be_recorded_is_asked_for_again(search, tmp_path, monkeypatch):
    given = {"kriging": "kriging", "own": Own(), "instance": RandomSearch(Space(SPACE).domain, 7)}[search]
    with Study(SPACE, given, 7, start=STARTS, path=tmp_path / "study.db") as study:

        def full(*arguments):
            raise StorageError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(study.ledger._store, "append", full)
            for _ in range(2):
                with pytest.raises(StorageError, match="the disk is full"):
                    study.ask()
        assert study.trials == ()
        study.run(valley, 8)
    assert at(study)[:3] == STARTS
    assert [t.origin for t in study.trials].count("start") == 3


def test_a_start_outside_a_conditional_space():
    with pytest.raises(SpaceError, match=r"start is not in the space: degree=9 is not an integer in \[2, 5\]"):
        Study(MIXED, start={"kernel": "poly", "degree": 9})
