import logging

import pytest
from scipy.stats import expon, loguniform, randint, uniform

from spotsvm import Space, Study
from spotsvm.trials.edges import edges_of


@pytest.mark.parametrize(
    ("given", "value", "side", "wider"),
    [
        (loguniform(2**-5, 2**15), 2.0**15, "upper", (2**-5, 3.36e7, "log-uniform")),
        (loguniform(2**-5, 2**15), 2.0**-5, "lower", (3.05e-5, 2**15, "log-uniform")),
        (uniform(-1, 2), 0.99, "upper", (-1.0, 2.0)),
        (uniform(1, 9), 1.01, "lower", (0, 10.0)),
        (randint(2, 7), 6, "upper", (2, 8)),
        (randint(1, 11), 1, "lower", (0, 10)),
        ((1, 100, "log-uniform"), 100, "upper", (1, 1000, "log-uniform")),
        ((4, 400, "log-uniform"), 4, "lower", (1, 400, "log-uniform")),
        (expon(scale=100), 750.0, "upper", (pytest.approx(0.0500125), 9.37e4, "log-uniform")),
    ],
)
def test_a_value_at_the_end_of_its_range_has_a_wider_one(given, value, side, wider):
    space = Space({"C": given, "other": uniform(0, 1)})
    (edge,) = edges_of({"C": value, "other": 0.5}, space)
    assert (edge.name, edge.value, edge.side, edge.wider) == ("C", value, side, wider)
    assert Space({"C": edge.wider, "other": uniform(0, 1)}).encode({"C": value, "other": 0.5}) is not None
    assert f"is at the {side} end of its range" in str(edge)


@pytest.mark.parametrize(
    ("given", "value"),
    [(loguniform(0.01, 100), 80.0), (randint(0, 5), 0), (randint(2, 7), 5), ([1, 2, 3], 3), ([7], 7), ((1, 100, "log"), 99)],
)
def test_no_edge(given, value):
    assert edges_of({"C": value, "other": 0.5}, Space({"C": given, "other": uniform(0, 1)})) == ()


def test_of_several_dictionaries_the_one_that_holds_the_configuration_counts():
    space = Space([{"kernel": ["rbf"], "C": (0.0, 1.0)}, {"kernel": ["poly"], "C": (0.0, 9.0)}])
    assert [edge.wider for edge in edges_of({"kernel": "poly", "C": 9.0}, space)] == [(0.0, 13.5)]
    assert edges_of({"C": 1.0}, space) == ()


def test_a_run_says_so_and_the_report_too(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="spotsvm")
    study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "random", 0, noise=False, start={"x": 0.4, "y": 1.0})
    study.run(lambda p: (p["x"] - 0.4) ** 2 - p["y"], 5)
    assert [(edge.name, edge.wider) for edge in study.edges()] == [("y", (0.0, 1.5))]
    text = 'is at the upper end of its range, 0 to 1; where values beyond it are valid, search "y": (0.0, 1.5).'
    assert text in caplog.text
    study.report(tmp_path / "page.html")
    assert "at the upper end of its range" in (tmp_path / "page.html").read_text()
