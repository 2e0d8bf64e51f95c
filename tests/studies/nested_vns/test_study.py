import numpy as np
import pandas as pd
import pytest

from spotsvm.studies.common.view_sets import digits_by_quarters
from spotsvm.studies.nested_vns.kernels import (
    SEARCHES,
    TABLES_4_AND_5,
    Printed,
    kernel_table,
    model_sequence,
    on_tables_4_and_5,
    quick_view_sets,
    rank_bounds,
    tune_nested,
)
from spotsvm.studies.nested_vns.rbf import CONFIRMED, RBF_SETS, TABLE_3, on_table_3, quick_splits, rbf_table


@pytest.mark.parametrize(("model", "poorer", "richer"), [("linear", 1, 4), ("fixed", 1, 12), ("tuned", 2, 8)])
def test_models_are_nested_and_of_the_papers_size(model, poorer, richer):
    models = model_sequence(model, digits_by_quarters())
    assert [m.n_parameters for m in models] == [poorer, richer]
    assert models[1].contains(models[0])


@pytest.mark.parametrize("model", ["linear", "tuned"])
def test_all_nested_searches_begin_with_the_same_trial(model):
    data = digits_by_quarters()
    models = model_sequence(model, data)
    X, y, *_ = data.split(0)
    first = [tune_nested(models, X, y, search, 0, (6, 7)).cv_results_["params"][0] for search in SEARCHES.values()]
    assert first[0] == first[1]
    centre = {name: float(dist.median()) for name, dist in models[0].space().items()}
    assert first[0] == pytest.approx(models[1].embed(models[0], centre))


def rbf_of(errors):
    return pd.DataFrame(
        [
            {"data set": name, "seed": seed, "search": search, "test error": error + 0.5 * seed}
            for (name, search), error in errors.items()
            for seed in (0, 1)
        ]
    )


def test_table_3_stands_beside_what_is_printed():
    searches = ("KL", "VNS of the paper", "vns", "kriging", "random")
    runs = rbf_of({(name, s): e for name, e in (("banana", 11.0), ("image", 3.0)) for s in searches})
    table = rbf_table(runs)
    assert table["data set"].tolist() == ["banana", "image", "mean of 2 confirmed"]
    assert table["VNS printed"].tolist() == pytest.approx([11.61, 2.38, 6.995])
    assert table["vns"].tolist() == pytest.approx([11.25, 3.25, 7.25])
    assert table["KL printed"].tolist() == pytest.approx([11.59, 5.84, 8.715])
    assert table["KL"].tolist() == pytest.approx([11.25, 3.25, 7.25])
    assert table["sd vns"].iloc[0] == pytest.approx(0.5 / 2**0.5)
    text = on_table_3(runs)
    assert (len(TABLE_3), len(CONFIRMED), TABLE_3["breast_cancer", "VNS"]) == (26, 12, (28.57, 1.75, 5.83))
    assert max(TABLE_3[name, "VNS"].error - TABLE_3[name, "KL"].error for name in RBF_SETS) == pytest.approx(0.67)
    assert "kriging: mean 7.25, more than 0.7 points above the printed error on image (+0.87)" in text


def kernels_of(errors):
    return pd.DataFrame(
        [
            {
                "data set": name, "model": model, "search": "vns", "seed": seed,
                "test error of the poorer model": error + 1, "test error": error,
            }
            for (model, name), error in errors.items()
            for seed in (0, 1)
        ]
    )  # fmt: skip


def test_tables_4_and_5_give_ranks_and_say_what_is_not_available():
    errors = {("linear", "mfeatEO4"): 1.5, ("tuned", "mfeatEO6"): 0.55, ("fixed", "addata (1966 rows)"): 3.0}
    table = kernel_table(kernels_of(errors)).set_index(["table", "data set"])
    assert table.loc[("4, linear (10)", "mfeatEO4"), "rank vns"] == "1"
    assert table.loc[("5, model (8)", "mfeatEO6"), "rank vns"] == "1"
    assert table.loc[("5, model (7)", "addata (1966 rows)"), "nested VNS printed"] == 3.24
    assert pd.isna(table.loc[("5, model (7)", "addata (1966 rows)"), "rank vns"])
    assert ("4, linear (10)", "pendigitEO (not available)") in table.index
    assert ("4, linear (10)", "mfeatEO4 (not available)") not in table.index
    text = on_tables_4_and_5(kernels_of(errors))
    assert "in 2 of 2 cases" in text
    assert "pendigit" not in text
    runs = kernels_of({("fixed", "mfeatSL6"): 1.1})  # a rank that may be worse than printed
    assert "in 0 of 1 cases; not on 5, model (7) mfeatSL6 (1.10 +- 0.00, printed 0.99)" in on_tables_4_and_5(runs)
    assert "(1.10 +- nan, printed 0.99)" in on_tables_4_and_5(runs[runs.seed == 0])


def test_printed_errors_and_ranks_agree():
    for printed in TABLES_4_AND_5.values():
        assert rank_bounds(printed, printed.error) == (printed.rank, printed.rank)


@pytest.mark.parametrize(
    ("error", "bounds"),
    [(0.5, (1, 1)), (1.0, (1, 1)), (1.1, (2, 4)), (1.5, (4, 4)), (1.8, (4, 7)), (2.5, (7, 12)), (4.0, (7, 12)), (5.0, (13, 13))],
)
def test_a_rank_is_what_the_printed_errors_leave_open(error, bounds):
    assert rank_bounds(Printed(best=1.0, median=2.0, worst=4.0, error=1.5, rank=4), error) == bounds


def test_rivals_stand_in_the_table_without_a_rank():
    errors = {("linear", "mfeatEO4"): 1.5, ("tuned", "mfeatEO4"): 0.5}
    rival = kernels_of({("linear", "mfeatEO4"): 2.5}).assign(search="SimpleMKL").drop(columns="test error of the poorer model")
    runs = pd.concat([kernels_of(errors), rival])
    table = kernel_table(runs, others=False).set_index("table")
    assert table.index.tolist() == ["4, linear (10)", "5, model (8)"]
    assert table.loc["4, linear (10)", "SimpleMKL"] == 2.5
    assert not {"rank SimpleMKL", "poorer model, SimpleMKL"} & set(table)
    text = on_tables_4_and_5(runs)
    assert text.endswith("Mean test error of the rivals, table by table: 4, linear (10): vns 1.50, SimpleMKL 2.50.")
    assert "rank at least as good as printed in 2 of 2 cases" in text
    assert "rivals" not in on_tables_4_and_5(kernels_of(errors))


def test_the_short_form_takes_the_data_folder_where_it_is_there(tmp_path, monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    assert [data.name for data in quick_view_sets()] == ["digits by quarters"]
    assert [data.name for data in quick_splits()] == ["breast cancer", "iris"]
    rng = np.random.default_rng(0)
    for view in ("fou", "kar", "pix", "zer"):
        pd.DataFrame({"a": rng.normal(size=50), "y": np.arange(50) % 10}).to_csv(tmp_path / f"mfeat_{view}.csv", index=False)
    parts = pd.DataFrame({"a": rng.normal(size=8), "y": [0, 1] * 4, "part": ["train"] * 4 + ["test"] * 4})
    for name in ("thyroid", "breast_cancer"):
        parts.to_csv(tmp_path / f"ida_{name}.csv", index=False)
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path))
    (data,) = quick_view_sets()
    assert (data.name, data.X.shape, list(data.groups)) == ("mfeatEO4 (400 rows)", (10, 4), ["fou", "kar", "pix", "zer"])
    assert [data.name for data in quick_splits()] == ["thyroid", "breast_cancer"]
