import sys

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.studies.peers import runs, suites, two_objectives
from spotsvm.studies.peers.entrants import Peer, Search
from spotsvm.studies.peers.problems import Parameter, Problem
from spotsvm.studies.peers.study import PeersStudy

AXES = (Parameter("a", low=0.0, high=1.0), Parameter("b", low=0.0, high=1.0))


@pytest.fixture
def bowls(monkeypatch):
    """Return a suite of a problem with two objectives and one with a single one."""
    made = {
        "two": Problem(
            "two", "two", "bowls", AXES, lambda p, seed: [p["a"] ** 2 + p["b"], (p["a"] - 1) ** 2 + p["b"]], n_objectives=2
        ),
        "one": Problem("one", "one", "bowl", AXES, lambda p, seed: p["a"] ** 2 + p["b"]),
    }
    runs.problem_of.cache_clear()
    monkeypatch.setitem(suites.SUITES, "bowls", suites.Suite(lambda dimensions, instances: list(made), made.__getitem__))
    yield made
    runs.problem_of.cache_clear()


def test_the_result_is_the_share_that_is_missing_of_the_joint_front():
    several = pd.DataFrame(
        {
            "problem": ["p", "p", "p", "q"],
            "front": [[[0.0, 10.0]], [[5.0, 0.0], [4.0, 20.0]], [], None],
            "result": [np.nan, np.nan, np.nan, 3.0],
            "optimum": [np.nan, np.nan, np.nan, 1.0],
        }
    )
    found = two_objectives.with_shares(several)
    # scaled, the joint front is (0, 1), (1, 0) below the reference 1.1: each alone has 0.11, both together 0.21
    assert found.result.tolist() == pytest.approx([1 - 0.11 / 0.21, 1 - 0.11 / 0.21, 1.0, 3.0])
    assert found.optimum.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert "front" not in found


def test_optimizers_take_part_where_they_have_the_number_of_objectives(bowls):
    study = PeersStudy(
        suites=["bowls"], budgets=[2, 6], seeds=1, n_random=2, searches=["nsga2", "lhs", "vns"], peers=["cobyqa", "pycma"]
    ).run()
    took = study.frame().groupby("problem")["optimizer"].unique().map(set)
    assert took["two"] == {"random", "nsga2", "lhs"}
    assert took["one"] == {"random", "lhs", "vns", "cobyqa", "pycma"}
    assert study.left_out == {
        "nsga2": "it does not minimise 1 objective",
        **dict.fromkeys(["vns", "cobyqa", "pycma"], "it does not minimise 2 objectives"),
    }
    result = study.by_function().query("function == 'two' and budget == 6").set_index("optimizer")["result"]
    assert (result >= 0).all()
    assert result["nsga2"] < 0.5 * result["random"]
    assert "front" not in study.frame()


@pytest.mark.parametrize("interpreter", [None, sys.executable])
def test_tpe_is_told_both_values(bowls, interpreter):
    pytest.importorskip("optuna")
    (row,) = runs.run("bowls", "two", "optuna", Peer("optuna", interpreter), 0, (6,), None)
    assert row["failed"] == ""
    assert row["front"]
    (row,) = runs.run("bowls", "two", "lhs", Search("lhs"), 0, (6,), None)
    values = np.array(row["front"])
    assert (np.diff(values[:, 0]) > 0).all()
    assert (np.diff(values[:, 1]) < 0).all()


def test_the_objectives_of_the_svc_are_those_of_a_cross_validation():
    problem = two_objectives.make("svc_error_n_support")
    assert [one.name for one in problem.parameters] == ["C", "gamma"]
    error, size = problem.evaluate({"C": 1.0, "gamma": 0.03}, 0)
    assert 0.01 < error < 0.06
    assert 50 < size < 150
    timed = two_objectives.make("svc_error_time").evaluate({"C": 1.0, "gamma": 0.03}, 0)
    assert timed[0] == error
    assert timed[1] > 0


def test_functions_have_names_by_dimension_and_instance(monkeypatch):
    names = two_objectives.names((2, 7, 5), (1, 2))
    assert len(names) == 8 * 2 * 2 + 2
    assert "biobj f50 d5 i2" in names
    monkeypatch.setitem(sys.modules, "cocoex", None)
    with pytest.raises(DataError, match="the package coco-experiment; pip install coco-experiment"):
        two_objectives.make("biobj f1 d2 i1")


def test_a_function_of_coco_has_both_values():
    pytest.importorskip("cocoex")
    problem = two_objectives.make("biobj f1 d2 i1")
    values = problem.evaluate({"x0": 0.5, "x1": -0.5}, 0)
    assert np.isfinite(values).all()
    assert len(values) == 2
