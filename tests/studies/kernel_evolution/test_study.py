import pandas as pd
import pytest

from spotsvm import ExpressionKernel
from spotsvm.errors import DataError
from spotsvm.studies.kernel_evolution.runs import labelled_sets
from spotsvm.studies.kernel_evolution.study import KernelEvolutionStudy
from tests.studies.small import ran

# enough for both grammars to find a kernel, and no more
FEW = {"n_finalists": 1, "n_tuning_trials": 1, "n_holdouts": 1, "population_size": 6, "tournament_size": 4}


def small(**options):
    return KernelEvolutionStudy(quick=True, **({"n_evaluations": 8, "n_splits": 2, "options": FEW} | options))


@pytest.fixture(scope="module")
def study():
    return ran("kernel_evolution")


def test_every_method_runs_on_every_split(study):
    runs = study.frame()
    assert len(runs) == 2 * 2 * 2
    counts = runs.groupby(["set", "split"])
    assert (counts.method.nunique() == 2).all()
    # one split's rows, whatever the method
    assert (counts[["seed", "train_rows", "test_rows"]].nunique() == 1).all(axis=None)
    assert runs.groupby("set").test_rows.first().to_dict() == {"breast cancer": 32, "iris": 20}
    assert (runs.test_rows * runs.error).map(lambda wrong: abs(wrong - round(wrong))).max() < 1e-9
    assert runs.error.between(0, 0.5).all()
    kernels = [ExpressionKernel.from_json(text) for text in runs.kernel]
    assert [kernel.expression.text() for kernel in kernels] == runs.formula.tolist()
    assert [kernel.expression.size for kernel in kernels] == runs["size"].tolist()


def test_the_files(study, tmp_path):
    names = {file.name for file in study.write(tmp_path)}
    assert {f"kernel_evolution{end}" for end in ("_tests.csv", "_best_kernels.csv", "_causality.csv", ".png")} <= names
    text = (tmp_path / "kernel_evolution.md").read_text()
    assert "two small sets of scikit-learn" in text
    assert "### Table 9" in text
    assert study.best_kernels()["kernel"].isin(study.frame().formula).all()
    best = pd.read_csv(tmp_path / "kernel_evolution_best_kernels.csv")
    assert len(best) == 2
    assert all(f"- {name}, {by}: ${latex}$" in text for name, by, latex in zip(best["set"], best.method, best.latex, strict=True))
    assert "The goal" not in text  # two sets of another source do not show it
    page = (tmp_path / "kernel_evolution.html").read_text()
    assert "Table 10: best kernels" in page
    assert "GP (psd) - tRBF" in page


@pytest.mark.data
def test_the_papers_sets_stand_beside_what_is_printed():
    some = small(sets=("Heart", "Glass2"), n_splits=1, grammars=()).run()
    table = some.table().set_index("set")
    assert table.index.tolist() == ["Glass2", "Heart"]
    assert table["mean printed"].tolist() == [0.2015, 0.1593]
    assert [panel.get_title() for panel in some.figure().axes] == ["Glass2", "Heart"]


@pytest.mark.data
def test_classes_are_as_in_the_files():
    glass, heart = labelled_sets(None, quick=True)
    assert set(glass.y) == {"float", "non_float"}
    assert set(heart.y) == {"absent", "present"}
    sizes = {data.name: data.X.shape for data in labelled_sets(None, quick=False)}
    assert sizes == {"Ionosphere": (351, 34), "Glass2": (163, 9), "Heart": (270, 13), "Liver": (345, 6), "Pima": (768, 8)}


def test_sets_that_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    with pytest.raises(DataError, match="set SPOTSVM_DATA to the folder"):
        small(sets=("Pima",)).run()
    pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "c"]}).to_csv(tmp_path / "liver.csv", index=False)
    with pytest.raises(DataError, match="column y has 3 values"):
        small(sets=("Liver",)).use_data(tmp_path).run()
