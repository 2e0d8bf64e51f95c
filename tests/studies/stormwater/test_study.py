import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import _code
from spotsvm.studies.stormwater.series import simulated_series
from spotsvm.studies.stormwater.study import StormwaterStudy
from spotsvm.studies.stormwater.tables import SETS_6, TABLE_6, on_table_5, on_table_6, set_matrix, table_5, table_6
from spotsvm.studies.stormwater.tank import simulate_tank
from spotsvm.studies.tasks.svm import BY_HAND, REGION

SEARCHES = ("kriging", "koch2011", "cmaes")


def small(**options):
    given = {"series": simulated_series(0, 2400), "n_trials": 12, "searches": SEARCHES, "train_stride": 5, **options}
    return StormwaterStudy(quick=True, **given)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small(path=tmp_path_factory.mktemp("records")).run()


def test_every_run_has_its_row_and_begins_alike(study):
    runs = study.frame()
    assert len(runs) == 1 + 3 * 2 + 2 * 2 * 2
    assert runs.groupby("tuned_on").search.unique().map(list).to_dict() == {
        0: ["by hand"],
        1: ["kriging", "koch2011"],
        3: ["kriging", "koch2011"],
        4: list(SEARCHES),
    }
    tuned = runs[runs.tuned_on > 0]
    assert (tuned.evaluations == 12).all()
    assert (tuned.failed == 0).all()
    own = [row[f"set_{row.tuned_on}"] for _, row in tuned.iterrows()]
    np.testing.assert_allclose(tuned.recommended, own)
    np.testing.assert_allclose(tuned.recommended, tuned.best_seen)
    assert runs.iloc[0][list(REGION)].to_dict() == BY_HAND
    for comparison in study.comparisons.values():
        trials = comparison.frame()
        first = trials[trials.number < 2].groupby("number")["value"].unique()
        assert first.map(len).tolist() == [1, 1]
        assert first[0][0] == pytest.approx(study.frame().set_4[0]) or comparison is not study.comparisons[4]


def test_tables(study):
    table = study.table()
    assert table.method.tolist() == [*SEARCHES, "by hand"]
    found = study.comparisons[4].results()["cmaes"]
    row = table.set_index("method").loc["cmaes"]
    assert row[["best", "mean", "worst", "SD"]].tolist() == pytest.approx([found.min(), found.mean(), found.max(), found.std()])
    assert row["printed mean"] == 10.84
    for search in ("kriging", "koch2011"):
        six = study.further_tables()[f"Table 6 ({search})"]
        assert six["tuned on"].tolist() == ["set 1", "set 3", "set 4", "S_t", "V_t, %"]
        assert six["on set 4"][2] == pytest.approx(table.set_index("method")["mean"][search])
        assert six["on set 4"][3] == pytest.approx(six["on set 4"][:2].mean())
        assert six["printed set 1"].tolist() == pytest.approx([9.11, 10.82, 10.45, 10.635, 16.74], rel=1e-3)
        assert f"Tuned by {search}: " in study.conclusion()
    with pytest.raises(ArgumentError, match="search='cmaes' has not tuned on all sets; use one of kriging, koch2011"):
        study.matrix("cmaes")


def test_files_and_texts(study, tmp_path):
    files = study.write(tmp_path)
    matrices = [f"_{search}_{part}.csv" for search in ("kriging", "koch2011") for part in ("matrix", "matrix_runs")]
    endings = ("_runs.csv", "_table.csv", ".md", *matrices, "_trials.csv", ".png", ".html")
    assert [f.name for f in files] == [f"stormwater{ending}" for ending in endings]
    assert len(pd.read_csv(files[7])) == 12 * 14
    best = pd.read_csv(files[0])
    assert best.recommended.max() == study.frame().recommended.max()
    page = files[9].read_text()
    for text in ("Table 5", "Table 6", "The printed figures are of other data", "cut into four consecutive sets of 600"):
        assert text in page
        assert text in files[2].read_text()
    panels = study.figure().axes
    assert [line.get_label() for line in panels[2].lines] == ["measured", panels[2].lines[1].get_label(), "by hand"]
    assert panels[0].get_ylabel() == "best RMSE on set 4, %"


def measured(values):
    """Return runs by hand: of each search its errors on set 4 by seed, and Kriging's of Table 6 on all sets."""
    rows = [{"tuned_on": 0, "search": "by hand", "seed": 0, **{f"set_{k}": 9.0 for k in (1, 2, 3, 4)}}]
    rows += [
        {"tuned_on": 4, "search": search, "seed": seed, "set_1": 1.0, "set_2": 2.0, "set_3": 3.0, "set_4": value}
        for search, errors in values.items()
        for seed, value in enumerate(errors)
    ]
    return pd.DataFrame(rows).assign(recommended=1.0, best_seen=1.0)


def test_findings_follow_the_figures():
    clear = on_table_5(measured({"kriging": [5.0, 6.0], "cmaes": [7.0, 8.0], "lbfgsb": [6.5, 12.0]}), "%")
    assert "Kriging: its best is below cmaes and lbfgsb; its mean is below cmaes and lbfgsb (in the paper, on other data" in clear
    assert "by hand 9, which is below the mean of lbfgsb." in clear
    assert "in 6 of 6 runs the recommended trial is the best seen" in clear
    mixed = on_table_5(measured({"kriging": [5.0, 9.5], "cmaes": [5.0, 8.0], "lbfgsb": [6.5, 7.0]}), "")
    assert "its best is below lbfgsb, not below cmaes; its mean is not below cmaes and lbfgsb" in mixed
    table = table_5(measured({"kriging": [5.0, 6.0], "mine": [7.0, 8.0]})).set_index("method")
    assert table.loc["kriging", ["untouched", "trained", "printed best"]].tolist() == [2.0, 2.0, 6.83]
    assert np.isnan(table.loc["mine", "printed best"])
    assert table.index[-1] == "by hand"


def test_the_papers_table_6_through_our_matrix():
    rows = [
        {"tuned_on": v, "search": "kriging", "seed": 0, **{f"set_{t}": TABLE_6[i][j] for j, t in enumerate(SETS_6)}}
        for i, v in enumerate(SETS_6)
    ]
    matrix = set_matrix(pd.DataFrame(rows))
    assert (100 * matrix.V).round(2).tolist() == [16.74, 14.75, 64.11]
    assert matrix.S.tolist() == pytest.approx([10.635, 14.665, 12.62])
    table = table_6(matrix)
    assert table["on set 4"].tolist() == table["printed set 4"].tolist()
    assert "(Printed, of other data: 16.7 %, 14.7 %, 64.1 %.)" in on_table_6(matrix)


def test_a_series_of_ones_own(tmp_path):
    simulate_tank(2400, 4).frame().to_csv(tmp_path / "mine.csv", index=False)
    by_data = small(series=None).use_data(tmp_path / "mine.csv")
    by_argument = small(series=tmp_path / "mine.csv")
    np.testing.assert_array_equal(by_data.rain_series.rain, by_argument.rain_series.rain)
    assert by_data.rain_series.name == "mine"
    (tmp_path / "rain_flow_wye_hourly.csv").write_bytes((tmp_path / "mine.csv").read_bytes())
    assert small(series=None).use_data(tmp_path).rain_series.unit == "mm/h"
    assert small(series=None).rain_series.name == "simulated tank (seed 0)"


def test_data_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match="--data .*nowhere is neither a folder nor a CSV file"):
        StormwaterStudy(quick=True).use_data(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"--data .*: there is no rain_flow_wye_hourly\.csv in it"):
        StormwaterStudy(quick=True).use_data(tmp_path)


def test_the_code_to_repeat_is_honest_about_a_series(tmp_path):
    series = simulated_series(0, 2400)
    for given, filled in ((series, {"series": series}), (tmp_path / "mine.csv", {})):
        study = small(series=given, path=tmp_path / "records")
        code = _code(study).replace("study.run()", "made = study  # ")
        assert ("# series: simulated tank (seed 0): 2400 records" in code) == bool(filled)
        names = dict(filled)
        exec(code, names)
        made, expected = names["made"].settings(), study.settings()
        assert made["series"] is series if filled else made["series"] == str(given)
        assert {name: str(value) for name, value in made.items()} == {name: str(value) for name, value in expected.items()}
