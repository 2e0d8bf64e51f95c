import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, t, ttest_1samp
from sklearn.svm import SVC

from spotsvm.studies.conformal.study import ConformalStudy
from spotsvm.studies.conformal.tables import (
    encoded,
    improvement_by_draw,
    improvement_of_means,
    run_mushroom,
    sets_table,
)
from spotsvm.studies.conformal.toy import (
    DENSE_LEFT,
    EVEN,
    GLOBAL,
    LOCAL,
    PAPER,
    draw_points,
    height_at,
    labels_of,
    run_toy,
)


def small(**options):
    return ConformalStudy(quick=True, **({"n_draws": 12, "n_mushroom_draws": 2, "n_splits": 2} | options))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(list("abcde"), 1200) for name in ("cap", "odor", "root")})
    table["y"] = np.where(table["odor"] < "c", "e", "p")
    table.loc[::7, "root"] = None
    table.to_csv(folder / "mushroom.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def study(data):
    return small().use_data(data).run()


def test_the_curve_and_the_square():
    np.testing.assert_allclose(height_at(np.array([0.0, 1.0])), [1.0, 2 * np.exp(-4) - 1])
    assert labels_of(np.array([[0.0, 0.9], [0.5, 0.9]])).tolist() == [-1.0, 1.0]
    X, X_test = draw_points(0, 3)
    assert (X.shape, X_test.shape) == ((100, 2), (1000, 2))
    assert np.abs(X).max() <= 1.0
    assert (X != draw_points(0, 4)[0]).all()
    dense, even_test = draw_points(0, 3, left=DENSE_LEFT)
    assert (dense[:, 0] < 0).sum() == 90
    np.testing.assert_array_equal(np.abs(dense[:, 0]), np.abs(X[:, 0]))
    np.testing.assert_array_equal(even_test, X_test)


def test_the_two_passes_are_those_of_svc():
    found = run_toy(PAPER, True, EVEN, 0, 5)
    X, X_test = draw_points(0, 5)
    y, y_test = labels_of(X), labels_of(X_test)
    first = SVC(C=10.0, gamma=2.0, tol=1e-5).fit(X, y)  # sigma 0.5
    assert found["before"] == pytest.approx(1 - first.score(X_test, y_test), abs=0.002)
    f, f_test = first.decision_function(X), first.decision_function(X_test)
    D, D_test = (np.exp(-(values**2) / np.abs(f).max()) for values in (f, f_test))

    def kernel(a, b):
        return np.exp(-2.0 * ((a[:, None] - b) ** 2).sum(axis=2))

    second = SVC(C=10.0, kernel="precomputed", tol=1e-5).fit(D[:, None] * kernel(X, X) * D, y)
    wrong = second.predict(D_test[:, None] * kernel(X_test, X) * D) != y_test
    assert found["after"] == pytest.approx(wrong.mean(), abs=0.003)
    assert found["far_after"] == pytest.approx((wrong & (np.abs(f_test) > 1)).mean(), abs=0.003)
    assert found["max_f"] == pytest.approx(np.abs(f).max(), rel=1e-2)


def test_without_two_classes_there_is_no_error(monkeypatch):
    monkeypatch.setattr("spotsvm.studies.conformal.toy.height_at", lambda x: np.full_like(x, -5.0))
    assert np.isnan(run_toy(PAPER, False, EVEN, 0, 0)["before"])


def test_improvements_and_their_intervals():
    before, after = np.array([0.1, 0.2, 0.0, 0.05]), np.array([0.08, 0.21, 0.0, 0.03])
    by_draw = improvement_by_draw(before, after)
    known = 100 * np.array([0.2, -0.05, 0.4])
    assert by_draw.mean == pytest.approx(known.mean())
    expected = ttest_1samp(known, 0.0).confidence_interval(0.95)
    assert (by_draw.low, by_draw.high) == pytest.approx((expected.low, expected.high))
    of_means = improvement_of_means(before, after)
    assert of_means.mean == pytest.approx(100 * (1 - 0.32 / 0.35))
    # the delta method against the bootstrap
    rng = np.random.default_rng(0)
    before = rng.gamma(4.0, 0.01, size=400)
    after = before * rng.uniform(0.7, 1.1, size=400)
    picks = rng.integers(400, size=(4000, 400))
    resampled = np.quantile(100 * (1 - after[picks].mean(axis=1) / before[picks].mean(axis=1)), [0.025, 0.975])
    found = improvement_of_means(before, after)
    np.testing.assert_allclose([found.low, found.high], resampled, atol=0.25)
    assert np.isnan(improvement_of_means(np.zeros(3), np.zeros(3)).mean)
    assert np.isnan(improvement_by_draw(np.zeros(3), np.zeros(3)).mean)


def test_rows_tables_and_files(study, tmp_path):
    runs = study.frame()
    # the rivals and the points that are dense on the left have a tenth of the draws, at least two
    assert len(runs) == 2 * 12 + 2 * 2 * 5 + 2 * 2 * 4 * 3 + 20 * 2 + 2 * 2
    table = study.table()
    assert table["bias"].tolist() == 6 * ["no", "yes"]
    assert table["factor"].tolist() == 2 * [factor for factor in (PAPER, GLOBAL, LOCAL) for _ in range(2)]
    assert table["left"].tolist() == 6 * [50.0] + 6 * [90.0]
    assert table["printed"].notna().tolist() == [True, True, *10 * [False]]
    first = runs[(runs.experiment == "toy") & (runs.factor == PAPER) & (runs.left == EVEN) & ~runs.bias.astype(bool)]
    assert table["before"].iloc[0] == pytest.approx(100 * first.before.mean())
    assert table["improvement"].iloc[0] == pytest.approx(100 * ((first.before - first.after) / first.before).mean())
    assert (table["draws"].iloc[0], table["printed"].iloc[0]) == (12, 14.5)
    mushroom = study.mushroom()
    assert len(mushroom) == 4
    assert mushroom["printed before"].iloc[:4].tolist() == [11.20, 4.02, 10.86, 11.97]
    local = runs[(runs.experiment == "mushroom") & (runs.factor == LOCAL) & runs.bias.astype(bool) & (runs.sigma == 1.0)]
    assert mushroom["after, support vectors, local"].iloc[1] == pytest.approx(100 * local.after.mean())
    row = table.set_index(["left", "factor", "bias"]).loc[(90.0, LOCAL, "yes")]
    assert f"{row['before']:.2f} to {row['after']:.2f} % ({LOCAL})" in study.conclusion()
    assert f"{table['before'].iloc[0]:.2f} to {table['after'].iloc[0]:.2f} %" in study.conclusion()
    names = {file.name for file in study.write(tmp_path)}
    assert {"conformal_runs.csv", "conformal_mushroom.csv", "conformal_mushroom_no_bias.csv", "conformal.png"} <= names
    assert "### Mushroom, without a bias" in (tmp_path / "conformal.md").read_text()
    titles = [panel.get_title()[:3] for panel in study.figure().axes]
    assert titles == ["(a)", "(b)", "(c)", "(d)"]


@pytest.mark.parametrize(
    ("by", "verdict"), [(0.2, "met without"), (0.05, "missed without"), (0.1, "left open by the interval without")]
)
def test_the_goal_is_judged_by_the_interval(study, monkeypatch, by, verdict):
    runs = study.frame().copy()
    first = (runs.experiment == "toy") & (runs.factor == PAPER) & (runs.left == EVEN) & ~runs.bias.astype(bool)
    before = runs.loc[first, "before"].clip(lower=0.01)
    spread = np.where(np.arange(first.sum()) % 2, 0.01, -0.01)
    runs.loc[first, "before"], runs.loc[first, "after"] = before, before * (1 - by - spread)
    monkeypatch.setattr(study, "_frame", runs)
    assert f"The goal of more than 10 % is {verdict} a bias, and " in study.conclusion()


def test_the_table_of_sets(study):
    table, runs = study.sets(), study.frame()
    assert table["set"].tolist() == ["toy", "breast cancer", "iris"]
    toy = runs[(runs.experiment == "sets") & (runs.set == "toy")]
    row = table.iloc[0]
    for name in ("svc", "paper", "default"):
        assert row[name] == pytest.approx(100 * toy[name].mean())
    difference = 100 * (toy["default"] - toy["svc"])
    interval = t.interval(0.95, len(toy) - 1, difference.mean(), sem(difference))
    assert (row["low"], row["high"]) == pytest.approx(interval)
    # a third of the rows is tested on: splits of one set are not independent
    iris = runs[(runs.experiment == "sets") & (runs.set == "iris")].assign(svc=0.05, default=[0.04, 0.06])
    made = sets_table(iris).iloc[0]
    spread = np.std([-1.0, 1.0], ddof=1) * np.sqrt(1 / 2 + 1 / 2)
    assert made["high"] - made["low"] == pytest.approx(2 * t.ppf(0.975, 1) * spread)
    assert "On 2 real sets, where C and gamma are tuned for SVC, the paper's machine is" in study.conclusion()


@pytest.mark.data
def test_the_printed_rows_of_the_nearest_encoding():
    from spotsvm.studies.common.data import read_table

    X, y = encoded(read_table("mushroom"))
    assert X.shape == (5644, 22)
    errors = [run_mushroom(X, y, 10.0, 0.6, PAPER, True, 0, draw) for draw in range(12)]
    before, after = (100 * np.mean([one[what] for one in errors]) for what in ("before", "after"))
    assert 9 < before < 15
    assert 5 < after < 11
