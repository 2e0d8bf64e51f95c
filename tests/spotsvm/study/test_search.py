import numpy as np
from scipy.stats import uniform

from spotsvm import Study

SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def value_and_seconds(params):
    """Three places have the value 0; evaluations take 0.1 to 100 seconds, the fewer the smaller x is."""
    x, y = 15 * params["x"] - 5, 15 * params["y"]
    value = (y - 5.1 / (4 * np.pi**2) * x * x + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 9.602113
    return value, 10.0 ** (3 * params["x"] - 1)


def run(study, n_trials, highest=0.9):
    while len(study.trials) < n_trials:
        trial = study.ask()
        value, seconds = value_and_seconds(trial.params)
        if trial.params["y"] > highest:
            study.fail(trial, "out of reach", seconds=seconds)
        else:
            study.tell(trial, value, seconds=seconds)
    return study


def seconds_until(study, value):
    """Return the seconds told until a value is reached, or nan if none."""
    frame = study.frame()
    return frame["seconds"].cumsum()[frame["value"] <= value].min()


def test_a_value_is_reached_in_less_than_half_the_seconds():
    plain, other = (
        [seconds_until(run(Study(SQUARE, name, seed, noise=False), n, highest=1.0), 0.01) for seed in range(3)]
        for name, n in (("kriging", 25), ("kriging_per_second", 32))
    )
    assert np.median(other) < 0.5 * np.median(plain)


def test_a_resumed_study_uses_the_recorded_seconds(tmp_path):
    def study(path=None):
        return Study(SQUARE, "kriging_per_second", 0, path=path, noise=True)

    whole = run(study(), 14)
    with study(tmp_path / "s.db") as part:
        run(part, 11)
    with study(tmp_path / "s.db") as part:
        run(part, 14)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials]
    slower = study()
    while len(slower.trials) < 14:
        trial = slower.ask()
        value, seconds = value_and_seconds(trial.params)
        slower.tell(trial, value, seconds=101 - seconds)
    assert [t.params for t in slower.trials] != [t.params for t in whole.trials]


def test_without_seconds_it_is_the_plain_search():
    """Also where they are too short to count; the seconds of trials that were asked for are measured, if not told."""
    plain, other = (Study(SQUARE, name, 0, noise=False) for name in ("kriging", "kriging_per_second"))
    for study in (plain, other):
        while len(study.trials) < 14:
            trial = study.ask()
            study.tell(trial, value_and_seconds(trial.params)[0], seconds=0.001)
        study.add_trial({"x": 0.5, "y": 0.2}, 1.0)
        study.ask()
    assert other.trials[14].seconds is None
    assert [t.params for t in plain.trials] == [t.params for t in other.trials]


def test_some_seconds_that_are_not_known():
    study = Study(SQUARE, "kriging_per_second", 0, noise=False)
    for x in np.linspace(0.05, 0.95, 7):
        params = {"x": x, "y": 0.3}
        study.add_trial(params, value_and_seconds(params)[0])
    run(study, 12)
    assert np.isfinite(study.best_trial.value)
