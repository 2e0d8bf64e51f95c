"""Records of a tuning that go on in a wider space."""

import pytest
from scipy.stats import loguniform

from spotsvm import Study
from spotsvm.errors import ArgumentError
from spotsvm.tuning.widening import continued

SPACE = {"C": loguniform(0.01, 100), "gamma": loguniform(0.01, 1), "degree": (2, 4)}
SEARCHES = ["random", "kriging"]


def falling(params):
    """The larger C the better; gamma and degree are best inside their ranges."""
    return -params["C"] + 10 * (params["gamma"] - 0.1) ** 2 + (params["degree"] - 3) ** 2


def run(folder, name, space, n_trials, until=None):
    with Study(space, name, 0, noise=False, path=folder / f"{name}.db") as study:
        study._books.plan(n_trials)
        study.run(falling, n_trials=until or n_trials)
        study._books.plan(n_trials)
    return study


@pytest.fixture
def folder(tmp_path):
    for name in SEARCHES:
        run(tmp_path, name, SPACE, 15)
    return tmp_path


def test_the_range_is_widened_and_as_many_trials_more_are_evaluated(folder):
    going = continued(SPACE, 15, folder, SEARCHES, widen=True)
    assert going.space == {**SPACE, "C": (0.01, 10000.0, "log-uniform")}
    assert going.n_trials == 30
    assert "widened: C = " in going.said[0]
    assert going.said[1] == "widened: 15 more trials for each search, up to 30"
    assert continued(SPACE, 40, folder, SEARCHES, widen=True).n_trials == 40
    before = run(folder, "kriging", SPACE, 15)
    after = run(folder, "kriging", going.space, 30)
    assert [t.params for t in after.trials[:15]] == [t.params for t in before.trials]
    assert after.best_params["C"] > 100
    # the same command without the option goes on where it is, and with it once more
    run(folder, "random", going.space, 30)
    assert continued(SPACE, 15, folder, SEARCHES, widen=False) == type(going)(going.space, 30)
    assert continued(SPACE, 15, folder, SEARCHES, widen=True).space["C"] == (0.01, 10000000.0, "log-uniform")


@pytest.mark.parametrize("widen", [True, False])
def test_what_was_interrupted_goes_on_in_the_wider_space(folder, widen):
    going = continued(SPACE, 15, folder, SEARCHES, widen=True)
    run(folder, "random", going.space, 30, until=20)  # killed before the other search has begun to go on
    again = continued(SPACE, 15, folder, SEARCHES, widen=widen)
    assert (again.space, again.n_trials) == (going.space, 30)
    run(folder, "random", going.space, 30)
    run(folder, "kriging", going.space, 30, until=20)
    again = continued(SPACE, 15, folder, SEARCHES, widen=widen)
    assert (again.space, again.n_trials) == (going.space, 30)


def test_nothing_is_widened(tmp_path):
    with pytest.raises(ArgumentError, match="--widen continues the record of an earlier run; name its folder by --out"):
        continued(SPACE, 15, None, SEARCHES, widen=True)
    assert continued(SPACE, 15, None, SEARCHES, widen=False).space == SPACE
    going = continued(SPACE, 15, tmp_path, SEARCHES, widen=True)
    assert (going.space, going.n_trials) == (SPACE, 15)
    assert "there is no record" in going.said[0]
    wide = {**SPACE, "C": (0.01, 10.0)}
    with Study(wide, "kriging", 0, noise=False, path=tmp_path / "kriging.db") as study:
        study.run(lambda p: (p["C"] - 5) ** 2 + (p["gamma"] - 0.1) ** 2 + abs(p["degree"] - 3), n_trials=15)
    going = continued(wide, 15, tmp_path, SEARCHES, widen=True)
    assert going.said == ("--widen: no recommended value of C, gamma, epsilon is at an end of its range; nothing is widened",)
    assert (going.space, going.n_trials) == (wide, 15)


def test_the_command_goes_on_in_the_wider_range(tmp_path, no_pictures):
    from click.testing import CliRunner
    from sklearn.datasets import make_classification

    from spotsvm.commands.tune import tune

    X, y = make_classification(60, 3, n_informative=3, n_redundant=0, random_state=0)
    rows = [",".join([*(f"{x:.4f}" for x in row), "ab"[label]]) for row, label in zip(X, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,r,class", *rows]))
    given = [str(tmp_path / "t.csv"), "--target", "class", "--model", "svm", "--cv", "2", "--trials", "4", "--search", "random"]
    given += ["--oversearching", "none", "--no-compare", "--out", str(tmp_path / "out")]
    first = CliRunner().invoke(tune, given)
    assert first.exit_code == 0, first.output
    from spotsvm import load_study

    edges = [edge for edge in load_study(tmp_path / "out" / "random.db").edges() if edge.name.endswith(("C", "gamma"))]
    second = CliRunner().invoke(tune, [*given, "--widen"])
    assert second.exit_code == 0, second.output
    study = load_study(tmp_path / "out" / "random.db")
    assert study.n_finished == (8 if edges else 4)
    assert ("widened: " in second.output) == bool(edges)
    assert ("The same command with --widen continues" in first.output) == bool(edges)
