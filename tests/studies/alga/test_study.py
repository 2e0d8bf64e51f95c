import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from spotsvm import ReducedSVC
from spotsvm.studies.alga.runs import (
    ALGA,
    GA_MODEL,
    GASVM,
    GRID,
    METHODS,
    NSGA2,
    REFITTED,
    run_method,
    tuned_machine,
)
from spotsvm.studies.alga.sets import chessboard_dots, thirds
from spotsvm.studies.alga.study import SETS, AlgaStudy

BOARD = "2d-chessboard-dots 4x4"


@pytest.fixture(scope="module")
def study():
    return AlgaStudy(quick=True, sets=[BOARD, "breast cancer"], max_n_per_class=8, max_evaluations=20).run()


def of_board(study, method, size=0):
    runs = study.frame()
    return runs[(runs["set"] == BOARD) & (runs.method == method) & (runs["K"] == size)]


def test_rows_of_every_run_their_models_and_fronts(study):
    runs = study.frame().drop_duplicates(["set", "fold", "method", "K", "run"])
    of_set = runs[runs["set"] == BOARD]
    assert of_set[of_set.method == ALGA].groupby("run")["K"].unique().map(list).tolist() == [[2, 8], [2, 8]]
    assert of_set.groupby("method").size().reindex(METHODS).tolist() == [1, 2, 4, 4, 4, 2, 4, 4, 2, 2, 2]
    assert runs[runs["set"] == "breast cancer"].groupby("fold").size().tolist() == [11, 11]
    assert (runs.support_vectors <= runs.vectors).all()
    assert runs[["validation", "test"]].stack().between(0.3, 1.0).all()
    assert (of_board(study, GASVM, 8)[["C", "gamma"]] == of_board(study, GRID).iloc[0][["C", "gamma"]]).all(axis=None)
    assert (of_board(study, GA_MODEL).vectors == 400).all()
    for _, front in of_board(study, NSGA2).groupby("run"):
        ordered = front.sort_values("support_vectors")
        assert ordered.validation.is_monotonic_increasing
        assert ordered.support_vectors.is_unique


def test_the_row_is_of_the_machine_that_reduced_svc_finds(study):
    row = of_board(study, ALGA, 8).iloc[0]
    parts = study.splits(BOARD)[0]
    machine = ReducedSVC(n_per_class=8, ties="any", crossover="rows", random_state=0, n_trials=20)
    machine.fit(parts.X, parts.y, validation=(parts.validation_X, parts.validation_y))
    assert row.chosen == " ".join(map(str, machine.training_indices_))
    assert (row.C, row.gamma, row.support_vectors) == (machine.C_, machine.gamma_, len(machine.support_))
    assert row.test == machine.score(parts.test_X, parts.test_y)
    assert row.vectors == 16


def test_a_refitted_machine_has_the_tuned_model_on_all_rows():
    parts = thirds(chessboard_dots(3600, board=4))
    tuned, refitted = (tuned_machine(parts, 0, refit=refit) for refit in (False, True))
    assert (refitted.svc.C, refitted.svc.gamma) == (tuned.svc.C, tuned.svc.gamma)
    again = SVC(C=tuned.svc.C, gamma=tuned.svc.gamma).fit(parts.X, parts.y)
    np.testing.assert_array_equal(refitted.svc.support_, again.support_)
    assert (len(refitted.rows), refitted.n_fits) == (1200, tuned.n_fits + 1)
    (row,) = run_method(parts, REFITTED, 0, 0, None)
    assert (row["vectors"], row["chosen"], row["test"]) == (1200, "", again.score(parts.test_X, parts.test_y))


def test_the_files(study, tmp_path, monkeypatch):
    monkeypatch.setattr("spotsvm.studies.alga.figures._GRID", 40)  # coarse shades, to be quick
    names = [file.name for file in study.write(tmp_path)]
    assert names == ["alga_runs.csv", "alga_table.csv", "alga.md", "alga.png", "alga_2.png", "alga.html"]
    page = (tmp_path / "alga.html").read_text()
    assert "Machines in the plane, of run 0" in page
    assert "ALGA beside grid search" in page
    text = (tmp_path / "alga.md").read_text()
    assert "### Wilcoxon tests" in text
    assert "2d-chessboard-dots 4x4: reached" in text
    assert "Beside an SVC tuned on 1,000 random rows" in text
    assert "### ALGA beside the same SVC, refitted on all rows" in text


def test_larger_sets_are_split_in_thirds_and_uci_has_five_folds_without_missing_values(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 3)), columns=["x1", "x2", "x3"])
    rows.assign(y=np.resize([-1, 1], 120), part="train").to_csv(tmp_path / "ida_banana.csv", index=False)
    rows.loc[5, "x2"] = np.nan
    rows.assign(y=np.where(rng.random(120) < 0.4, "g", "b")).to_csv(tmp_path / "ionosphere.csv", index=False)
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path))
    (parts,) = AlgaStudy(sets=["Banana"]).splits("Banana")
    assert (parts.name, parts.X.shape, len(parts.validation_y), len(parts.test_y)) == ("Banana", (40, 3), 40, 40)
    study = AlgaStudy(sets=["Ionosphere"], n_runs=2, methods=[GRID, "random subsets"], max_n_per_class=3, max_evaluations=20)
    runs = study.run().frame()
    assert runs.groupby("fold").size().tolist() == [2] * 5  # grid search, and one run of the random subsets
    assert sum(len(parts.test_y) for parts in study.splits("Ionosphere")) == 119
    assert study.settings()["sets"] == ("Ionosphere",)


def test_sets_without_data_are_left_out_and_named(monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    study = AlgaStudy()
    assert study.left_out == ["German", "Ionosphere", "Wisconsin", "Banana", "Twonorm", "Waveform", "Titanic"]
    assert study.sets == SETS
    assert (study.n_runs, study.n_model_runs, study.max_evaluations) == (30, 30, None)
    assert [study._runs_of(name, ALGA) for name in (BOARD, "Banana", "German")] == [30, 30, 10]
    assert AlgaStudy(n_model_runs=6)._runs_of("German", GA_MODEL) == 2
