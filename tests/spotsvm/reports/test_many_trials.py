import re

import pandas as pd
from scipy.stats import uniform

from spotsvm import Study
from tests.spotsvm.reports.pages import check_page

SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}
N = 1_200


def failing(p):
    if p["x"] > 0.9:
        raise ValueError("too large")
    return p["x"] ** 2 + 2 * p["y"] ** 2


def test_a_report_of_many_trials_is_small_and_says_what_it_leaves_out(tmp_path):
    study = Study(SQUARE, "random", 0, noise=False).run(failing, n_trials=N)
    file = study.report(tmp_path / "report.html", tables=tmp_path / "tables")
    assert file.stat().st_size < 3e6
    text = file.read_text(encoding="utf-8")
    check_page(text)
    kept = "the best, the first and the last trials, and an even selection of the others"
    assert text.count(f"Of {N} trials 500 are drawn: {kept}.") == 4  # convergence, slices, parallel coordinates, evaluations
    assert f"Of {N} trials 500 are shown: {kept}. study.to_csv and spotsvm export write all of them." in text
    assert f"(500 rows and 5 columns of {N} rows and 5 columns; the CSV file of the table has all)" in " ".join(text.split())
    best = study.best_trial.number
    for number in (0, best, N - 1):
        assert f'<th scope="row" class="n">{number}</th>' in text[text.index(">Trials</h2>") :]
    whole = next(f for f in (tmp_path / "tables").iterdir() if f"{N}-trials-their-parameters" in f.name)
    assert pd.read_csv(whole)["value"].notna().sum() == sum(t.value is not None for t in study.trials)
    assert len(pd.read_csv(whole)) == N


def test_a_report_of_a_large_front_is_small(tmp_path):
    study = Study(SQUARE, "random", 0, direction=("minimize", "minimize"))
    study.run(lambda p: {"values": [p["x"], -p["x"]]}, n_trials=N)  # all are on the front
    file = study.report(tmp_path / "report.html")
    assert file.stat().st_size < 3e6
    text = file.read_text(encoding="utf-8")
    check_page(text)
    assert f"The front has {N} trials of {N}" in text
    assert "At most 500 trials of the front and 500 others are drawn." in text
    assert len(re.findall(r"<tr", text)) < 2000
