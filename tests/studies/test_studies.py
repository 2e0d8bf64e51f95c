"""Arguments and data that studies refuse, and the quick form of two studies."""

import pytest

from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.studies.acid.study import AcidStudy
from spotsvm.studies.alga.study import AlgaStudy
from spotsvm.studies.conformal.study import ConformalStudy
from spotsvm.studies.costs.load import LoadStudy
from spotsvm.studies.costs.multi_kernel import MultiKernelCostStudy
from spotsvm.studies.costs.overhead import OverheadStudy
from spotsvm.studies.costs.speed import SpeedStudy
from spotsvm.studies.coverage.study import CoverageStudy
from spotsvm.studies.evosvm.indefinite import IndefiniteStudy
from spotsvm.studies.evosvm.study import EvosvmStudy
from spotsvm.studies.kernel_evolution.study import KernelEvolutionStudy
from spotsvm.studies.oversearching.study import OversearchingStudy
from spotsvm.studies.peers.pending import PendingQualityStudy
from spotsvm.studies.peers.reinterpolation import VARIANTS
from spotsvm.studies.peers.study import PeersStudy
from spotsvm.studies.stormwater.study import StormwaterStudy
from tests.studies.small import ran

REFUSED = [
    (AcidStudy, {"source": "wine"}, "source='wine'"),
    (AcidStudy, {"entrants": {"a": ("table9", "random")}}, "region 'table9' of 'a' is unknown; use one of default"),
    (AcidStudy, {"entrants": {}}, "searches is empty"),
    (AcidStudy, {"budgets": []}, "budgets="),
    (AcidStudy, {"seeds": 0}, "seeds=0"),
    (AlgaStudy, {"n_runs": 1}, "n_runs=1 is too few; use 2 or more"),
    (AlgaStudy, {"n_model_runs": 0}, "n_model_runs=0 is too few; use 1 or more"),
    (AlgaStudy, {"sets": ["moons"]}, "'moons' is unknown; use some of 2d-random-dots"),
    (AlgaStudy, {"methods": ["grid search", "gradient"]}, "'gradient' is unknown"),
    (AlgaStudy, {"methods": ["ALGA"]}, "has no 'grid search'"),
    (AlgaStudy, {"max_n_per_class": 0}, "max_n_per_class=0"),
    (AlgaStudy, {"max_evaluations": 0}, "max_evaluations=0"),
    *(
        (study, {name: 1}, f"{name}=1 is too few; use 2 or more")
        for study, names in (
            (ConformalStudy, ("n_draws", "n_mushroom_draws", "n_splits")),
            (CoverageStudy, ("n_fits", "n_studies", "n_truths")),
            (OversearchingStudy, ("n_trials", "n_repeats")),
        )
        for name in names
    ),
    (LoadStudy, {"parts": ()}, "parts is empty"),
    (OverheadStudy, {"n_jobs": 0}, "n_jobs=0 is not a number of processes; use 1 or more, -1 for all, or None"),
    (SpeedStudy, {"n_jobs": 2}, "n_jobs=2: the study speed measures times, and runs one job at a time"),
    (LoadStudy, {"parts": ("kills",)}, "'kills' is unknown; use some of throughput"),
    (KernelEvolutionStudy, {"n_evaluations": 0}, "n_evaluations=0 is too few"),
    (KernelEvolutionStudy, {"n_splits": 0}, "n_splits=0 is too few"),
    (KernelEvolutionStudy, {"sets": ()}, "sets is empty"),
    (
        KernelEvolutionStudy,
        {"sets": ("Heart", "heart")},
        "sets: 'heart' is unknown; use some of Ionosphere, Glass2",
    ),
    (KernelEvolutionStudy, {"grammars": ("psd", "koch")}, "grammars: 'koch' is unknown; use some of paper, psd"),
    (KernelEvolutionStudy, {"grammars": ("psd", "psd")}, "grammars: 'psd' is there twice"),
    (KernelEvolutionStudy, {"sets": ["Heart", "Heart"]}, "sets: 'Heart' is there twice, and its runs would count twice"),
    (KernelEvolutionStudy, {"options": {"depth": 3}}, "options: 'depth' is unknown, .*; use some of .*max_depth"),
    (KernelEvolutionStudy, {"options": {"random_state": 3}}, "options: 'random_state' is unknown, or an argument of the study"),
    (OversearchingStudy, {"n_rows": (10,)}, "too few rows"),
    (PendingQualityStudy, {"q": (2, 4)}, r"q=\(2, 4\) lacks 1"),
    (PeersStudy, {"suites": ("bbob",)}, "suites: 'bbob' is unknown; use some of tasks, coco"),
    (PeersStudy, {"peers": ("tpe",)}, "peers: 'tpe' is unknown; use some of optuna"),
    (
        PeersStudy,
        {"peers": ("cobyqa",), "interpreters": {"ax": "python"}},
        "interpreters: 'ax' is not among the optimizers; use some of",
    ),
    (PeersStudy, {"searches": {"ax": "kriging"}}, "searches: 'ax' is the name of an optimizer of another library"),
    (PeersStudy, {"budgets": (10, 5)}, r"budgets=\(10, 5\) is not a list of evaluations by dimension"),
    (
        PeersStudy,
        {"suites": ("coco",), "dimensions": (4,)},
        r"dimensions=\(4,\): the suite coco has none of these; use some of 2, 3",
    ),
    (PeersStudy, {"instances": (0,)}, r"instances=\(0,\) is empty or has a number below 1"),
    (PeersStudy, {"problems": ("ackley",)}, r"problems=\('ackley',\) fit no problem of the suites tasks"),
    (PeersStudy, {"seeds": 0}, "seeds=0"),
    (StormwaterStudy, {"searches": ("cmaes",)}, r"searches=\['cmaes'\] has no 'kriging', which tunes on all sets; add it"),
    (StormwaterStudy, {"train_stride": 0}, "train_stride=0 is not a step between records; use 1 or more"),
    (StormwaterStudy, {"seeds": 0}, "seeds=0"),
]
TOO_FEW = [
    (AcidStudy, {"budgets": [3, 25]}, "kriging"),
    (StormwaterStudy, {"n_trials": 5}, "n_trials=5"),
]


@pytest.mark.parametrize(
    ("error", "study", "arguments", "said"),
    [(ArgumentError, *row) for row in REFUSED] + [(BudgetError, *row) for row in TOO_FEW],
)
def test_arguments_that_make_no_sense(error, study, arguments, said):
    with pytest.raises(error, match=said):
        study(**arguments)


@pytest.mark.parametrize("study", [SpeedStudy, MultiKernelCostStudy, EvosvmStudy, IndefiniteStudy])
def test_the_full_form_says_what_data_it_needs(study, monkeypatch, tmp_path):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    with pytest.raises(DataError, match=r"set SPOTSVM_DATA to the folder with .*\.csv"):
        study().run()
    with pytest.raises(DataError, match=r"there is no .*\.csv in it"):
        study().use_data(tmp_path).run()


def test_reinterpolation_quick():
    study = ran("reinterpolation")
    runs = study.frame()
    assert len(runs) == 9
    assert (runs[["regret", "regret_smoothed"]] > -1e-6).all().all()
    assert study.table().variant.tolist() == list(VARIANTS)
    ours = runs[runs.variant == "reinterpolation"]
    assert ours.regret.equals(ours.regret_smoothed)
    figure = study.figure()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["median regret", "median, smoothing model"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(VARIANTS)


def test_overhead_quick():
    table = ran("overhead").table()
    assert table.points.tolist() == [30, 60]
    assert (table.milliseconds > 0).all()
    assert table.peak_megabytes.between(50, 500).all()
