import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.new_rows import study as module
from spotsvm.studies.new_rows.development_sets import DEVELOPMENT
from spotsvm.studies.new_rows.entrants import DEFAULTS, ENTRANTS, REFERENCE, Entrant, Key, Made
from spotsvm.studies.new_rows.rivals import RIVALS
from spotsvm.studies.new_rows.sets import TableSet
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION
from spotsvm.studies.new_rows.study import NewRowsStudy

KEYS = [*Key._fields, "budget"]


def classes(job, budgets):
    """Return a constant model for each budget, and pretend that it took the time."""
    made = (DummyRegressor() if job.regression else DummyClassifier()).fit(job.X, job.y)
    return [Made(made, budget, budget + job.unit, 7) for budget in budgets]


def quick_reference(job, budgets):
    (made,) = classes(job, [0.25 * (1 + job.seed % 3)])
    return [made._replace(looks=25)]


def failing(job, budgets):
    raise ValueError(f"no model of {job.X.shape[1]} columns")


FAKES = {
    REFERENCE: Entrant(quick_reference, has_budget=False, seeds=3),
    DEFAULTS: Entrant(lambda job, budgets: classes(job, [0.0]), has_budget=False),
    "budgeted": Entrant(classes),
    "failing": Entrant(failing),
    "absent": Entrant(failing, lacks=lambda: "it is on holiday"),
}


def fake_set(name):
    if name == "splice":
        raise DataError("there is no splice")
    rng = np.random.default_rng(len(name))
    table = pd.DataFrame({"a": rng.normal(size=150), "b": np.repeat(["u", "v"], 75)})
    if name == "friedman 1":
        return TableSet(name, REGRESSION, table.drop(columns="b"), table["a"].to_numpy() + rng.normal(size=150))
    return TableSet(name, CLASSIFICATION, table, (table["b"] == "u").to_numpy().astype(int))


@pytest.fixture
def fake_sets(monkeypatch):
    monkeypatch.setattr(module, "read_set", fake_set)


def small(**options):
    settings = {"quick": True, "entrants": FAKES, "units": (2, 4), "n_splits": 2, "rows": (40, 60)} | options
    return NewRowsStudy(**settings)


@pytest.mark.usefixtures("fake_sets")
def test_a_row_for_each_trial_and_budget():
    study = small(sets=("digits", "friedman 1", "splice"))
    runs = study.frame()
    splits = 2 * 2 * 2  # sets, rows, splits
    assert not runs[KEYS].duplicated().any()
    assert runs["entrant"].value_counts().to_dict() == {
        REFERENCE: 3 * splits, DEFAULTS: splits, "budgeted": 2 * splits, "failing": 2 * splits,
    }  # fmt: skip
    assert study.left_out == {"absent": "it is on holiday", "splice": "there is no splice"}
    # the unit is the mean time of the reference's candidates over its seeds, and the budgets are in it
    reference = runs[runs["entrant"] == REFERENCE].groupby(["set", "rows", "split"])["searched"].mean() / 25
    budgeted = runs[runs["entrant"] == "budgeted"]
    expected = reference.loc[list(budgeted[["set", "rows", "split"]].itertuples(index=False, name=None))].to_numpy()
    np.testing.assert_allclose(budgeted["unit"], expected)
    np.testing.assert_allclose(budgeted["searched"], budgeted["budget"] * expected)
    np.testing.assert_allclose(budgeted["spent"], budgeted["budget"] + 1)
    # each trial has a seed of its own: the fake times of the reference depend on it
    assert runs[runs["entrant"] == REFERENCE].groupby(["set", "rows", "split"])["searched"].nunique().max() > 1


@pytest.mark.usefixtures("fake_sets")
def test_what_it_says(tmp_path):
    study = small(n_splits=1)
    names = {file.name for file in study.write(tmp_path)}
    assert {"new_rows.png", "new_rows.html", "new_rows_runs.csv", "new_rows_differences.csv", "new_rows_table.csv"} <= names
    text = (tmp_path / "new_rows.md").read_text()
    assert "Left out: absent (it is on holiday)." in text
    assert "failing failed 8 times, first with ValueError: no model of 3 columns." in text
    table = study.table().set_index(["task", "entrant"])
    assert table.columns.tolist() == ["sets", "own time", "2 units", "4 units"]
    assert "failing" not in table.index.get_level_values("entrant")
    # constants err on as many as each other
    assert table.loc[(CLASSIFICATION, "budgeted"), "4 units"] == "+0.00"
    assert table.loc[(REGRESSION, "budgeted"), "4 units"] == "1.000"
    by_rows = study.further_tables()["By number of rows, 4 units or an entrant's own time"]
    assert by_rows.columns.tolist() == ["task", "entrant", "sets", "40 rows", "60 rows"]


@pytest.mark.usefixtures("fake_sets")
def test_jobs_of_other_entrants_and_splits_stay_in_the_file(tmp_path):
    file = tmp_path / "jobs.json"
    first = small(path=file).frame()
    # a further entrant runs alone; jobs of others stay in the file and are not shown
    more = small(path=file, entrants=FAKES | {"again": FAKES["budgeted"]}).frame()
    assert len(more) == len(first) + 2 * 2 * 2 * 2
    assert len(small(path=file, n_splits=1).frame()) == len(first) // 2
    with pytest.raises(DataError, match=r"was written with units=\[2, 4\], not \[2, 5\]; name another file"):
        small(path=file, units=(2, 5)).run()


@pytest.mark.usefixtures("fake_sets")
def test_without_the_reference_there_is_no_unit_and_no_study():
    with pytest.raises(ValueError, match="no model of 3 columns"):
        small(entrants=FAKES | {REFERENCE: Entrant(failing, has_budget=False)}).run()


@pytest.mark.usefixtures("fake_sets")
def test_an_entrant_gets_the_table_and_the_target_as_they_are(monkeypatch):
    n = 90
    table = pd.DataFrame(
        {
            "number": np.where(np.arange(n) % 7, np.arange(n) * 100.0, np.nan),
            "category": pd.Categorical(np.where(np.arange(n) % 3, "low", "high"), ["low", "high"], ordered=True),
            "text": [None if k % 5 == 0 else f"level {k % 2}" for k in range(n)],
            "date": pd.date_range("2024-01-01", periods=n, freq="D"),
            "flag": np.arange(n) % 2 == 0,
        }
    )
    target = 1e6 + 1e3 * np.arange(n)
    monkeypatch.setattr(module, "read_set", lambda name: TableSet(name, REGRESSION, table, target))
    seen = []

    def watching(job, budgets):
        seen.append(job)
        return classes(job, [0.0])

    entrants = {REFERENCE: FAKES[REFERENCE], DEFAULTS: FAKES[DEFAULTS], "watching": Entrant(watching, has_budget=False)}
    small(sets=("digits",), rows=(60,), n_splits=1, entrants=entrants).run()
    job = next(job for job in seen if "number" in job.X)  # others are of the warm-up
    pd.testing.assert_series_equal(job.X.dtypes, table.dtypes)
    places = ((job.y - 1e6) / 1e3).astype(int)
    assert (1e6 + 1e3 * places == job.y).all()
    pd.testing.assert_frame_equal(job.X, table.iloc[places].reset_index(drop=True))


@pytest.mark.usefixtures("fake_sets")
def test_a_set_without_enough_rows_is_left_out_there():
    runs = small(rows=(60, 101), n_splits=1).frame()
    assert set(runs["rows"]) == {60}


def test_the_quick_form():
    chosen = (REFERENCE, DEFAULTS, "constant", "random search")
    study = NewRowsStudy(quick=True, entrants=chosen, units=(2,))
    runs = study.frame()
    assert (runs["failure"] == "").all()
    assert set(runs["set"]) == {"digits", "friedman 1"}
    mean = runs.groupby(["set", "entrant"])["error"].mean()
    assert mean["digits", "constant"] == pytest.approx(90, abs=2)
    assert mean["digits", REFERENCE] < 30
    assert mean["friedman 1", "constant"] == pytest.approx(100, abs=10)
    assert mean["friedman 1", REFERENCE] < 60
    assert (runs.loc[runs["entrant"] == "random search", "spent"] >= 2).all()
    assert study.entrants == chosen
    # the full form has every rival, and none of the judging sets
    whole = NewRowsStudy()
    assert set(RIVALS) < set(whole.entrants) < set(ENTRANTS)
    assert whole.sets == tuple(DEVELOPMENT)
    assert (whole.rows, whole.n_splits) == ((300, 1000), 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_splits": 0}, "n_splits=0 is too few"),
        ({"units": ()}, "not numbers that rise"),
        ({"units": (0, 5)}, "not numbers that rise"),
        ({"rows": (300, 150)}, "not numbers that rise"),
        ({"rows": (20,)}, "use numbers of 30 or more"),
        ({"sets": ("digit",)}, "sets: 'digit' is unknown"),
        ({"entrants": ("defaults", "grid")}, "entrants: 'grid' is unknown"),
        ({"entrants": ("defaults",)}, r"has no 'RandomizedSearchCV\(n_iter=25\)'"),
        ({"entrants": {REFERENCE: FAKES[REFERENCE]}}, "has no 'defaults'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        NewRowsStudy(**arguments)


@pytest.mark.usefixtures("fake_sets")
def test_where_there_is_no_set():
    with pytest.raises(DataError, match="there is no data set: there is no splice"):
        small(sets=("splice",)).run()
