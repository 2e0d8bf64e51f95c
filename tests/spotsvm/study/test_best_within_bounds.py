"""What shows the best keeps to the bounds."""

import numpy as np
from scipy.stats import uniform

from spotsvm import Study

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def needing_memory(params):
    """The best that holds memory <= 1e9 is at x = 0.55, y = 0.45, on the border, with the value 0.245."""
    value = (params["x"] - 0.9) ** 2 + (params["y"] - 0.8) ** 2
    return {"value": value, "memory": 1e9 * np.exp(3 * (params["x"] + params["y"]) - 3)}


def test_what_shows_the_best_keeps_to_the_bounds(tmp_path):
    from spotsvm import list_studies
    from spotsvm.reports.convergence import best_so_far
    from spotsvm.reports.slices import _best
    from spotsvm.reports.view import StudyView

    study = Study(SPACE, "kriging", 0, constraints={"memory": ("<=", 1e9)}, path=tmp_path / "s.db", noise=False)
    study.run(needing_memory, n_trials=12)
    best = study.best_trial
    assert min(t.value for t in study.trials) < best.value
    assert study.status().incumbent.number == best.number
    assert best_so_far(study.trials, 1.0)[-1] == best.value
    assert _best(StudyView(study)) == {best.number}
    held = int(sum(t.extra["bounds_held"] for t in study.trials))
    html = study._repr_html_()
    assert f"the best of {held}," in html
    assert f"<tbody><tr><td>{best.number}</td>" in html
    page = study.report(tmp_path / "report.html").read_text()
    assert "own model ignores the bounds" in page
    study.close()
    assert list_studies(tmp_path)["best"].tolist() == [best.value]
