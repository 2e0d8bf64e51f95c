import pytest
from scipy.stats import expon, loguniform, randint, uniform

from spotsvm import Study, load_study
from spotsvm.errors import StudyMismatchError

NARROW = {"C": loguniform(0.1, 10), "degree": (2, 4), "n": (1, 8, "log-uniform"), "kernel": ["a", "b", "c"], "x": [1.0]}
WIDE = {"C": loguniform(0.1, 1e4), "degree": (1, 9), "n": (1, 80, "log-uniform"), "kernel": ["a", "b", "c", "d"], "x": [1.0, 2.0]}


def value(params):
    return abs(params["C"] - 500.0) / 500.0 + abs(params["degree"] - 6) + params["n"] / 100 + (params["kernel"] != "d")


def facts(study):
    return [(t.number, dict(t.params), t.value, t.point) for t in study.trials]


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_a_record_goes_on_in_a_wider_space(search, tmp_path):
    path = tmp_path / "s.db"
    with Study(NARROW, search, 0, path=path, noise=False) as first:
        first.run(value, 9)
    with Study(WIDE, search, path=path, noise=False) as wide:
        assert [(dict(t.params), t.value) for t in wide.trials] == [(dict(t.params), t.value) for t in first.trials]
        for t in wide.trials:
            assert wide.space.encode(t.params) == pytest.approx(t.point)
        wide.run(value, 11)
    assert any(t.params["C"] > 10 or t.params["degree"] > 4 for t in wide.trials[9:])
    recorded = load_study(path)
    assert facts(recorded) == facts(wide)
    assert recorded.space.describe() == wide.space.describe()
    with Study(WIDE, search, path=path, noise=False) as cut:
        cut.run(value, 13)
    with Study(NARROW, search, 0, path=tmp_path / "t.db", noise=False) as again:
        again.run(value, 9)
    with Study(WIDE, search, path=tmp_path / "t.db", noise=False) as straight:
        straight.run(value, 13)
    assert facts(cut) == facts(straight)
    with pytest.raises(StudyMismatchError, match="another space: .* Use the same space, or another file; a wider space, which"):
        Study(NARROW, search, path=path, noise=False)


def test_the_repeats_of_koch_2011_go_on_in_a_wider_space(tmp_path):
    def noisy(params):
        return value(params) + params["C"] % 0.01

    notes = []
    for path, sizes in (("s.db", (30,)), ("t.db", (26, 30))):
        with Study(NARROW, "koch2011", 0, path=tmp_path / path, noise=True) as study:
            study.run(noisy, sizes[0])
        for n in sizes[1:]:
            with Study(WIDE, "koch2011", path=tmp_path / path, noise=True) as study:  # without a warning
                study.run(noisy, n)
        notes.append([t.note for t in study.trials[26:27]])
    assert notes[0] == notes[1]
    assert "evaluation" in notes[0][0]


def test_running_trials_keep_their_parameters(tmp_path):
    with Study(NARROW, "random", 0, path=tmp_path / "s.db") as study:
        asked = [study.ask() for _ in range(3)]
    with Study(WIDE, "random", path=tmp_path / "s.db") as wide:
        for before in asked:
            trial = wide.ask()
            assert {**trial.params, "C": 0} == {**before.params, "C": 0}
            assert trial.params["C"] == pytest.approx(before.params["C"])


@pytest.mark.parametrize(
    "changed",
    [
        {"C": loguniform(0.5, 1e4)},
        {"C": uniform(0.2, 100)},
        {"C": uniform(0.1, 9.9)},
        {"degree": (2, 4, "log-uniform")},
        {"kernel": ["c", "b", "a"]},
        {"degree": (3, 9)},
        {"kernel": ["a", "b", "d"]},
        {"degree": (2.0, 9.0)},
        {"C": [0.1, 10.0]},
        {"y": [1]},
    ],
)
def test_what_is_not_wider_is_refused_and_changes_nothing(changed, tmp_path):
    with Study(NARROW, "random", 0, path=tmp_path / "s.db") as study:
        study.run(value, 2)
    with pytest.raises(StudyMismatchError, match="another space"):
        Study(NARROW | changed, "random", 0, path=tmp_path / "s.db")
    with pytest.raises(StudyMismatchError, match="another seed"):
        Study(WIDE, "random", 1, path=tmp_path / "s.db")
    assert facts(load_study(tmp_path / "s.db")) == facts(study)


def test_another_distribution_may_be_wider(tmp_path):
    with Study({"C": uniform(1, 9), "n": randint(2, 5)}, "random", 0, path=tmp_path / "s.db") as study:
        study.run(lambda p: p["C"], 3)
    with Study({"C": expon(scale=100), "n": (1, 100, "log-uniform")}, "random", path=tmp_path / "s.db") as wide:
        assert [dict(t.params) for t in wide.trials] == [dict(t.params) for t in study.trials]
