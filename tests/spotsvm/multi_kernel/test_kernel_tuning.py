import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

from spotsvm import MultiKernelSVC, MultiKernelSVR
from spotsvm.errors import ArgumentError

HALVES = {"top": slice(0, 32), "bottom": slice(32, 64)}


def digits(rows=150):
    X, digit = load_digits(return_X_y=True)
    return X[:rows], digit[:rows] % 2


QUICK = {"tune": "random", "n_trials": 3, "cv": 2, "random_state": 0}


def test_a_tuned_machine_is_the_best_candidate_refitted():
    X, y = digits()
    machine = MultiKernelSVC(groups=HALVES, tune="vns", n_trials=(8, 12), cv=3, random_state=1).fit(X, y)
    search = machine.tuning_
    trials = search.study_.trials
    assert len(trials) == 20
    equal = [t.params["weights__top"] == pytest.approx(t.params["weights__bottom"]) for t in trials]
    assert all(equal[:8])
    assert not all(equal[8:])
    best = MultiKernelSVC(groups=HALVES).set_params(**search.best_params_)
    scores = cross_val_score(best, X, y, cv=StratifiedKFold(3))
    assert search.best_score_ == pytest.approx(scores.mean())
    np.testing.assert_allclose(machine.decision_function(X), best.fit(X, y).decision_function(X), atol=1e-9)
    assert machine.weights_.shape == (1, 2)
    assert machine.gamma_ == pytest.approx(best.gamma_)


def test_the_data_s_names_and_an_iterator_of_folds():
    X, y = digits(60)
    machine = MultiKernelSVC(**QUICK, groups=HALVES).fit(pd.DataFrame(X).add_prefix("p"), y)
    assert list(machine.feature_names_in_[:2]) == ["p0", "p1"]
    machine.fit(X, y)
    assert not hasattr(machine, "feature_names_in_")
    machine.predict(X)
    machines = [MultiKernelSVC(**QUICK | {"cv": cv}, groups=HALVES).fit(X, y) for cv in (2, StratifiedKFold(2).split(X, y))]
    assert machines[0].tuning_.best_score_ == machines[1].tuning_.best_score_


@pytest.mark.parametrize("kind", [MultiKernelSVC, MultiKernelSVR])
@pytest.mark.parametrize(("tune", "n_trials"), [("kriging", 2), ("cmaes", 9), ("vns", 1)])
def test_a_sum_of_trials_below_the_designs_is_spent_on_the_poorer_model(kind, tune, n_trials):
    machine = kind(**QUICK | {"tune": tune, "n_trials": n_trials}, groups=HALVES).fit(*digits(40))
    assert len(machine.tuning_.study_.trials) == n_trials
    assert set(machine.tuning_.best_params_) == {"C", "gamma"}
    assert machine.predict(digits(40)[0]).shape == (40,)


def test_a_sum_of_trials_that_pays_for_the_designs_reaches_the_richer_model():
    def names(n_trials):
        machine = MultiKernelSVC(**QUICK | {"tune": "kriging", "n_trials": n_trials}, groups=HALVES).fit(*digits(40))
        return set(machine.tuning_.best_params_)

    assert names(16) == {"C", "gamma"}
    assert names(17) == {"weights__top", "weights__bottom", "gamma__top", "gamma__bottom"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tune": True}, "tune=True; use the name of a search"),
        ({"scoring": ["accuracy"]}, r"scoring=\['accuracy'\]; use one score"),
        ({"groups": {"a": slice(0, 40)}}, "column 40 is in no group"),
        *(({"n_trials": n}, "n_trials=") for n in (0, 2.5, "many", (3,) * 3, (), True)),
        ({"tune": "kriging", "n_trials": (4, 30)}, "initial design"),
        *(
            ({"tune": "cmaes", "n_trials": n}, r"^tune='cmaes' with n_trials=.* cannot be used: .*first generation")
            for n in ((5, 12), (8, 3))
        ),
        ({"tune": "annealing"}, "search='annealing' is unknown"),
        ({"combine": "product", "gamma": 0.1}, "leaves nothing but C to tune"),
    ],
)
def test_what_fails_in_every_trial_is_told_at_once(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        MultiKernelSVC(**{"groups": HALVES, **QUICK, **parameters}).fit(*digits(40))
    with pytest.raises(ArgumentError, match=r"sample_weight has shape \(3,\); X has 40 rows"):
        MultiKernelSVC(groups=HALVES, **QUICK).fit(*digits(40), [1.0, 2.0, 3.0])


def test_the_same_seed_tunes_the_same_and_a_clone_is_untuned():
    X, y = digits(100)
    machines = [MultiKernelSVC(groups=HALVES, tune="random", n_trials=6, random_state=3).fit(X, y) for _ in range(2)]
    assert machines[0].tuning_.best_params_ == machines[1].tuning_.best_params_
    assert not hasattr(clone(machines[0]), "tuning_")
    again = pickle.loads(pickle.dumps(machines[0]))
    np.testing.assert_array_equal(again.predict(X), machines[0].predict(X))
    assert not hasattr(machines[0].set_params(tune=None).fit(X, y), "tuning_")
