import pytest

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC
from spotsvm.estimators.evolved.evolved_kernel_svr import EvolvedKernelSVR
from spotsvm.estimators.evolved.settings import read_settings


def test_the_paper_s_settings():
    """Koch 2011, Table 3 and section 2.3.2."""
    s = read_settings(EvolvedKernelSVC(grammar="paper"))
    assert (s.n_evaluations, s.design_factor, s.population_size, s.tournament_size) == (2500, 3, 20, 8)
    assert (s.breeding_tries, s.max_depth, s.max_constants) == (5000, 10, 4)
    assert (s.validation_fraction, s.n_holdouts, s.parsimony, s.n_finalists) == (1 / 3, 1, 0.0, 0)
    assert s.indefinite == "reject"
    assert s.n_tuning_trials == 0


def test_auto_can_be_overruled():
    s = read_settings(EvolvedKernelSVC(grammar="paper", n_holdouts=3, parsimony=0.5, n_tuning_trials=9, max_constants=2))
    assert (s.n_holdouts, s.parsimony, s.n_tuning_trials, s.max_constants) == (3, 0.5, 9, 2)


def test_epsilon_is_of_regression_alone():
    assert read_settings(EvolvedKernelSVC()).ranges.epsilon is None
    assert read_settings(EvolvedKernelSVR(epsilon_range=(0.1, 0.2))).ranges.epsilon == (0.1, 0.2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"grammar": "koch"}, "grammar='koch'; use 'paper' or 'psd'"),
        ({"n_evaluations": 0}, "n_evaluations=0"),
        ({"population_size": 1}, "population_size=1"),
        ({"tournament_size": 30}, "tournament_size=30 is more than population_size=20"),
        ({"design_factor": 0}, "design_factor=0; use a whole number, 1 or more"),
        ({"breeding_tries": 1.5}, "breeding_tries=1.5"),
        ({"n_holdouts": 0}, "n_holdouts=0; use 'auto' or a whole number, 1 or more"),
        ({"screened": False}, "screened=False"),
        ({"max_depth": 2}, "max_depth=2; use a whole number, from 3 to 64"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0 is not between 0 and 1"),
        ({"parsimony": -0.1}, "parsimony=-0.1"),
        ({"indefinite": "flip"}, "indefinite='flip'"),
        ({"C_range": (1, 0)}, r"C_range=\(1, 0\)"),
        ({"constant_range": (-1, 1)}, r"constant_range=\(-1, 1\)"),
    ],
)
@pytest.mark.parametrize("kind", [EvolvedKernelSVC, EvolvedKernelSVR])
def test_what_makes_no_sense(kind, wrong, words):
    with pytest.raises(ValueError, match=words):
        read_settings(kind(**wrong))


def test_a_range_of_epsilon_that_makes_no_sense():
    with pytest.raises(ArgumentError, match="epsilon_range=0.1"):
        read_settings(EvolvedKernelSVR(epsilon_range=0.1))
