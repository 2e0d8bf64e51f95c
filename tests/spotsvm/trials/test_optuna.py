import importlib
import pickle

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.preprocessing import StandardScaler

from spotsvm import Space, Study, load_study
from spotsvm.errors import ArgumentError

optuna = pytest.importorskip("optuna", reason='Optuna is not installed: pip install "spotsvm[optuna]"')
bridge = importlib.import_module("spotsvm.study.optuna")
coding_of = importlib.import_module("spotsvm.study.optuna.coding")
SpotSampler, from_optuna, to_optuna = bridge.SpotSampler, bridge.from_optuna, bridge.to_optuna
CategoricalDistribution = optuna.distributions.CategoricalDistribution
FloatDistribution, IntDistribution = optuna.distributions.FloatDistribution, optuna.distributions.IntDistribution
TrialState = optuna.trial.TrialState
optuna.logging.set_verbosity(optuna.logging.ERROR)

EVERY = {
    "float": FloatDistribution(-1.0, 0.7),
    "log": FloatDistribution(1e-6, 1e6, log=True),
    "step": FloatDistribution(0.1, 0.7, step=0.2),
    "int": IntDistribution(-3, 12),
    "int step": IntDistribution(0, 10, step=5),
    "int log": IntDistribution(1, 1000, log=True),
    "kind": CategoricalDistribution([None, True, 2, 1.5, "rbf"]),
    "pair": CategoricalDistribution(["a", "b"]),
}


def bowl(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 1e-3, 1e3, log=True)
    return (x - 0.3) ** 2 + (np.log10(y) - 1) ** 2 / 10


def params_of(study):
    return [t.params for t in study.trials]


def test_every_kind_of_distribution_is_suggested_from_within_its_values():
    coding = coding_of.Coding(EVERY)
    rng = np.random.default_rng(0)
    for _ in range(50):
        params = coding.params(coding.space.domain.snap_one(rng.random(coding.space.domain.dimension)))
        for name, one in EVERY.items():
            assert one._contains(one.to_internal_repr(params[name]))
        again = coding.params(coding.point(params))
        assert all(type(a) is type(b) for a, b in zip(again.values(), params.values(), strict=True))
        assert {
            name: value if type(value) is not float else pytest.approx(value, rel=1e-9) for name, value in again.items()
        } == params
    corners = [coding.params(coding.space.domain.snap_one(np.full(len(EVERY), u))) for u in (0.0, 1.0)]
    assert [[one[name] for one in corners] for name in ("step", "int", "int step", "int log")] == [
        [0.1, pytest.approx(0.7)], [-3, 12], [0, 10], [1, 1000],
    ]  # fmt: skip


@pytest.mark.parametrize(("search", "direction"), [("kriging", "maximize"), ("cmaes", "minimize")])
def test_a_study_of_theirs_is_searched(search, direction):
    sign = 1 if direction == "minimize" else -1
    made = []
    for _ in range(2):
        study = optuna.create_study(direction=direction, sampler=SpotSampler(search, seed=1, noise=False))
        study.optimize(lambda trial: sign * bowl(trial), n_trials=20)
        made.append(params_of(study))
    assert made[0] == made[1]
    if search == "kriging":
        assert sign * study.best_value < 1e-4


def test_its_suggestions_are_those_of_our_own_study():
    space = {"x": uniform(0, 1), "y": loguniform(1e-3, 1e3)}
    named = {"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 1e3, log=True)}
    theirs = optuna.create_study(sampler=SpotSampler(seed=4, noise=False, search_space=named))
    theirs.optimize(bowl, n_trials=10)
    ours = Study(space, "kriging", 4, noise=False)
    ours.run(lambda p: (p["x"] - 0.3) ** 2 + (np.log10(p["y"]) - 1) ** 2 / 10, n_trials=10)
    assert params_of(theirs) == [pytest.approx(dict(t.params), rel=1e-9) for t in ours.trials]


def test_failures_prunings_enqueued_and_earlier_trials_are_told():
    told = []

    class Listening:
        def __init__(self, domain, seed):
            self.rng = np.random.default_rng(seed)
            self.dimension = domain.dimension

        def ask(self):
            return self.rng.random(self.dimension)

        def tell(self, point, value):
            told.append(value)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 2:
            raise ValueError("no")
        if trial.number == 3:
            trial.report(0.5, 0)
            raise optuna.TrialPruned
        return x

    study = optuna.create_study(direction="maximize", sampler=SpotSampler(Listening, 0))
    study.enqueue_trial({"x": 0.75})
    study.optimize(objective, n_trials=6, catch=ValueError)
    assert study.trials[0].params == {"x": 0.75}
    # the last one is told when the next is asked for
    values = [-t.value if t.state == TrialState.COMPLETE else np.nan for t in study.trials[:5]]
    np.testing.assert_array_equal(told, values)
    assert np.isnan(told).sum() == 2
    study.enqueue_trial({"x": 0.5})
    study.optimize(objective, n_trials=2)
    assert study.trials[6].params == {"x": 0.5}
    assert sorted(told[5:]) == sorted([-study.trials[5].value, -0.5])


def test_running_trials_are_pending_and_a_sampler_can_be_pickled():
    study = optuna.create_study(sampler=SpotSampler(seed=0, noise=False))
    study.optimize(bowl, n_trials=10)
    together = [study.ask() for _ in range(4)]
    points = [(t.suggest_float("x", 0, 1), t.suggest_float("y", 1e-3, 1e3, log=True)) for t in together]
    assert len(set(points)) == 4
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    for trial, (x, y) in zip(together, points, strict=True):
        study.tell(trial, (x - 0.3) ** 2 + (np.log10(y) - 1) ** 2 / 10)
    study.optimize(bowl, n_trials=5, n_jobs=2)
    assert len(study.trials) == 19
    study.sampler = SpotSampler(seed=0, noise=False)  # as in another process: it is told of all that is there
    study.optimize(bowl, n_trials=2)
    assert study.best_value < 0.01


def test_several_objectives_conditional_parameters_and_finite_spaces():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        y = trial.suggest_int("degree", 2, 5) if trial.suggest_categorical("kernel", ["poly", "rbf"]) == "poly" else 0
        return x, (1 - x) ** 2 + y

    study = optuna.create_study(directions=["maximize", "minimize"], sampler=SpotSampler(seed=0))
    study.optimize(objective, n_trials=20)
    assert len(study.best_trials) > 1
    finite = optuna.create_study(sampler=SpotSampler(seed=0))
    finite.optimize(lambda trial: trial.suggest_int("n", 1, 3) + trial.suggest_float("fixed", 2, 2), n_trials=9)
    assert {t.params["n"] for t in finite.trials} == {1, 2, 3}
    with pytest.raises(ArgumentError, match="search_space=.* not distributions of Optuna"):
        SpotSampler(search_space={"x": (0, 1)})


def test_a_study_of_theirs_becomes_ours():
    def objective(trial):
        kernel = trial.suggest_categorical("kernel", ["poly", "rbf"])
        C = trial.suggest_float("C", 1e-2, 1e2, log=True)
        trial.set_user_attr("time", 3)
        trial.set_user_attr("remark", "text")
        if trial.number == 4:
            raise optuna.TrialPruned
        more = trial.suggest_int("degree", 2, 8, step=2) if kernel == "poly" else trial.suggest_float("s", 0.0, 1.0, step=0.25)
        return np.log(C) ** 2 + more

    theirs = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    theirs.optimize(objective, n_trials=12)
    complete = [t for t in theirs.trials if t.state == TrialState.COMPLETE]
    with pytest.raises(ArgumentError, match="no finished trial"):
        from_optuna(optuna.create_study())
    space = [
        {"kernel": ["poly"], "C": loguniform(1e-2, 1e2), "degree": [2, 4, 6, 8]},
        {"kernel": ["rbf"], "C": loguniform(1e-2, 1e2), "s": [0.0, 0.25, 0.5, 0.75, 1.0]},
        {"kernel": ["poly", "rbf"], "C": loguniform(1e-2, 1e2)},
    ]
    for given in (None, space):
        ours = from_optuna(theirs, given, search="random", seed=0)
        assert [(dict(t.params), t.value, t.extra) for t in ours.trials if t.state == "ok"] == [
            (t.params, t.value, {"time": 3.0}) for t in complete
        ]
        assert {t.attributes["remark"] for t in ours.trials} == {"text"}
        assert [t.state for t in ours.trials].count("failed") == 1
        assert {t.origin for t in ours.trials} == {"given"}
        assert ours.ask().params["kernel"] in ("poly", "rbf")
    pair = optuna.create_study(directions=["minimize", "maximize"])
    pair.optimize(lambda trial: (trial.suggest_int("n", 1, 9), 2.0), n_trials=3)
    ours = from_optuna(pair, search="random")
    assert [t.values for t in ours.trials] == [tuple(t.values) for t in pair.trials]
    assert ours.objectives.directions == ("minimize", "maximize")
    assert ours.space.describe() == Space({"n": randint(1, 10)}).describe()


def test_integers_on_a_log_scale_stay_on_it_both_ways():
    theirs = optuna.create_study(sampler=SpotSampler("lhs", seed=0))
    theirs.optimize(lambda trial: trial.suggest_int("n", 1, 1000, log=True) + trial.suggest_int("k", 1, 1000), n_trials=40)
    ours = from_optuna(theirs, search="random", seed=0)
    assert ours.space.describe() == Space({"n": (1, 1000, "log-uniform"), "k": (1, 1000)}).describe()
    again = to_optuna(ours)
    assert again.trials[0].distributions == theirs.trials[-1].distributions
    assert params_of(again) == params_of(theirs)
    few, many = (sum(t.params[name] <= 30 for t in theirs.trials[1:]) for name in ("k", "n"))
    assert (few < 4, many > 15) == (True, True)
    beyond = optuna.create_study()
    beyond.add_trial(
        optuna.trial.create_trial(value=1.0, params={"n": 7}, distributions={"n": IntDistribution(1, 10**13, log=True)})
    )
    assert from_optuna(beyond, search="random").space.describe() == Space({"n": (1, 10**13)}).describe()
    beyond.sampler = SpotSampler(seed=0)
    beyond.optimize(lambda trial: trial.suggest_int("n", 1, 10**13, log=True), n_trials=2)


def test_attributes_of_trials_go_both_ways():
    def objective(params, trial):
        trial.attributes["rows"] = [1, {"kept": True}]
        return {"value": params["x"], "seconds": 2.5, "solver": "smo"}

    ours = Study({"x": [1, 2, 3]}, "random", 0).run(objective, n_trials=3)
    theirs = to_optuna(ours)
    assert theirs.trials[0].user_attrs == {"origin": "random", "seconds": 2.5, "solver": "smo", "rows": [1, {"kept": True}]}
    again = from_optuna(theirs, search="random")
    for mine, back in zip(ours.trials, again.trials, strict=True):
        assert (back.params, back.value, back.extra) == (mine.params, mine.value, mine.extra)
        assert back.attributes == {**mine.attributes, "origin": "random"}
    trial = theirs.ask()
    for name, value in (("value", 3.0), ("values", "text"), ("loss", np.inf), ("origin", "mine")):
        trial.set_user_attr(name, value)
    trial.suggest_categorical("x", [1, 2, 3])
    theirs.tell(trial, state=TrialState.FAIL)
    last = from_optuna(theirs, search="random").trials[-1]
    assert (last.state, last.extra) == ("failed", {"user_value": 3.0})
    assert last.attributes == {"user_values": "text", "loss": "inf", "origin": "mine"}
    both = to_optuna(Study({"x": [1, 2]}, "random", 0).run(lambda p: {"value": 1.0, "origin": "mine"}, n_trials=1))
    assert both.trials[0].user_attrs == {"origin": "mine"}


def test_a_study_of_ours_becomes_theirs(tmp_path):
    space = [
        {"kind": ["a"], "C": loguniform(1e-2, 1e2), "scale": [StandardScaler(), None]},
        {"kind": ["b"], "x": uniform(-1, 3), "n": randint(1, 9), "flag": [True, False]},
    ]

    def objective(p):
        if p.get("n") == 3 or p.get("flag"):
            raise ValueError("no")
        return {"value": p.get("C", 1.0), "more": 7}

    ours = Study(space, "random", 0, direction="maximize", path=tmp_path / "a.db").run(objective, n_trials=20)
    ours.ask()
    for study in (ours, load_study(tmp_path / "a.db")):
        theirs = to_optuna(study, study_name="ours")
        assert theirs.study_name == "ours"
        assert len(theirs.trials) == 20
        assert theirs.best_value == ours.best_trial.value
        assert [t.values for t in theirs.trials] == [None if t.values is None else list(t.values) for t in ours.trials[:20]]
        assert {t.user_attrs["origin"] for t in theirs.trials} == {"random"}
        assert all("no" in t.user_attrs["reason"] for t in theirs.trials if t.state == TrialState.FAIL)
        assert theirs.trials[0].params.keys() == ours.trials[0].params.keys()
    pair = Study({"x": uniform(0, 1)}, "random", 0, direction=("minimize", "maximize")).run(lambda p: [p["x"], 1.0], n_trials=3)
    theirs = to_optuna(pair)
    assert [one.name for one in theirs.directions] == ["MINIMIZE", "MAXIMIZE"]
    theirs.sampler = SpotSampler(seed=0)
    theirs.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=2)
    assert [from_optuna(theirs, seed=0).trials[k].values for k in range(3)] == [t.values for t in pair.trials]


def test_trials_of_theirs_are_added_to_a_record_once(tmp_path):
    theirs = optuna.create_study()
    theirs.optimize(bowl, n_trials=3)
    under_way = theirs.ask()
    bowl(under_way)
    theirs.optimize(bowl, n_trials=2)
    options = {"path": tmp_path / "ours.db", "search": "random", "seed": 0}
    for _ in range(2):
        with from_optuna(theirs, **options) as ours:
            assert ours.n_finished == 5
    theirs.tell(under_way, 0.5)  # it stands before trials that the record has
    theirs.optimize(bowl, n_trials=1)
    with from_optuna(theirs, **options) as ours:
        assert sorted(t.value for t in ours.trials) == sorted(t.value for t in theirs.trials)
