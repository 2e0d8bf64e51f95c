import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons

from spotsvm import ArgumentError, ReducedSVC

X, Y = make_moons(n_samples=60, noise=0.2, random_state=0)
LONE = np.where(np.arange(60) == 7, 2, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "aga"}, "method='aga'; use 'alga', 'gasvm', 'ga-model', 'nsga2' or 'random'"),
        ({"crossover": "all"}, "crossover='all'; use 'auto', 'vectors' or 'rows'"),
        ({"n_per_class": 21}, "n_per_class=21; class 0 has 20 rows that are left for training; use at most as many"),
        ({"n_per_class": 0}, "n_per_class=0; use a whole number, 1 or more, or 'grow'"),
        ({"n_per_class": True}, "n_per_class=True"),
        ({"n_per_class": -3, "method": "ga-model"}, "n_per_class=-3; use a whole number, 1 or more, or 'grow'"),
        ({"n_per_class": 4, "max_per_class": 0}, "max_per_class=0; use a whole number, 1 or more, or None"),
        ({"n_per_class": "grow", "method": "random"}, "n_per_class='grow' with method='random'"),
        ({"max_per_class": 100}, "max_per_class=100; class 0 has 20 rows"),
        ({"C": 0}, "C=0; use a positive, finite number, 'grid' or None"),
        ({"C": "grid"}, "C='grid' with method='alga', which evolves models"),
        ({"gamma": 0.0}, "gamma=0.0; use a positive, finite number, 'scale', 'auto', 'grid' or None"),
        ({"gamma": "grid", "method": "nsga2"}, "gamma='grid' with method='nsga2'"),
        ({"C_values": ()}, r"C_values=\(\); use one positive number or more"),
        ({"gamma_values": (1.0, -2.0)}, r"gamma_values\[1\]=-2.0"),
        ({"gamma_values": (1e-30,)}, r"gamma_values\[0\]=1e-30 is not from 1e-12 to 1e\+12; scale the data"),
        ({"population_size": 1}, "population_size=1; use a whole number, 2 or more, because parents"),
        ({"mutation_probability": 1.1}, r"mutation_probability=1.1 is not in \[0, 1\]"),
        ({"model_crossover_probability": "often"}, "model_crossover_probability='often'"),
        ({"model_mutation_range": 1.0}, r"^model_mutation_range=1.0 is not in \[0, 1\)"),
        ({"max_evaluations": 0}, "max_evaluations=0; use a whole number, 1 or more, or None"),
        ({"ties": "none"}, "ties='none'; use 'any' or 'fewer vectors'"),
        ({"tol": 0}, "tol=0"),
        ({"decision_function_shape": "one"}, "decision_function_shape='one'"),
        ({"validation": 0}, r"validation=0; use a fraction in \(0, 1\), or a pair \(X, y\)"),
        ({"validation": None}, "validation is a NoneType; use a pair"),
        ({"validation": (X[:, :1], Y)}, "validation has X of 1 features; the training data have 2"),
        ({"validation": (X, Y[:5])}, "validation is not a valid pair"),
        ({"validation": (X[Y == 1], Y[Y == 1])}, "validation holds no row of class 0"),
        ({"validation": (X, LONE)}, "validation holds the class 2, which is not among those of y"),
        ({"validation": (X * np.nan, Y)}, "validation is not a valid pair.*NaN"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ArgumentError, match=message):
        ReducedSVC(**{"max_evaluations": 20, **options}).fit(X, Y)


def test_a_class_with_one_row():
    with pytest.raises(ArgumentError, match="y holds a single row of class 2"):
        ReducedSVC().fit(X, LONE)
    given = ReducedSVC(n_per_class=1, max_evaluations=20, random_state=0).fit(X, LONE, validation=(X, LONE))
    assert 7 in given.training_indices_
    with pytest.raises(ArgumentError, match="n_per_class=2; class 2 has 1 row; use at most as many"):
        ReducedSVC(n_per_class=2).fit(X, LONE, validation=(X, LONE))
    with pytest.raises(ArgumentError, match="n_per_class='grow'; class 2 has a single row, and no set can grow: use 1, or give"):
        ReducedSVC().fit(X, LONE, validation=(X, LONE))


def test_one_class():
    with pytest.raises(ArgumentError, match="y holds the one class 0.0"):
        ReducedSVC().fit(X, np.zeros(60))


def test_data_that_cannot_be_computed_with():
    with pytest.raises(ValueError, match="scale the data"):
        ReducedSVC(max_evaluations=20).fit(X * 1e200, Y)


def test_data_so_unlike_the_scale_of_the_models_that_none_says_anything():
    with pytest.warns(UserWarning, match="every machine misclassifies every row of the validation part; scale the data, or set"):
        silent = ReducedSVC(n_per_class=4, max_evaluations=40, random_state=0).fit(X * 1e6, Y)
    assert silent.history_["best"].max() == 0.0
    # a fixed gamma may be as small as the data need it, also below the bounds of one that evolves
    for scale in (1e6, 1e9):
        fitted = ReducedSVC(n_per_class=8, max_evaluations=60, gamma="scale", random_state=0).fit(X * scale, Y)
        assert fitted.score(X * scale, Y) > 0.8
        assert fitted.gamma_ < 1e-11


def test_columns_of_the_validation_part_in_another_order():
    table = pd.DataFrame(X, columns=["east", "north"])
    machine = ReducedSVC(n_per_class=4, max_evaluations=20, random_state=0)
    with pytest.raises(ArgumentError, match=r"columns \['north', 'east'\]; the training data have \['east', 'north'\], in"):
        machine.fit(table, Y, validation=(table[["north", "east"]], Y))
    for part in (table, X):
        assert machine.fit(table, Y, validation=(part, Y)).validation_score_ > 0.6


def test_a_validation_part_given_to_fit_comes_first():
    fitted = ReducedSVC(validation="nonsense", n_per_class=2, max_evaluations=20).fit(X, Y, validation=[X, Y])
    assert fitted.n_evaluations_ >= 20
