"""The studies that come with the package, in their quick form."""

from importlib.metadata import entry_points

import numpy as np
import pytest

from spotsvm.common.errors import DataError
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.costs.multi_kernel import MultiKernelCostStudy
from spotsvm.studies.costs.overhead import OverheadStudy, fed_search
from spotsvm.studies.costs.speed import SpeedStudy
from spotsvm.studies.evosvm.indefinite import IndefiniteStudy
from spotsvm.studies.evosvm.study import EvosvmStudy
from spotsvm.studies.search_comparison.reinterpolation import BRANIN_MINIMUM, VARIANTS, ReinterpolationStudy, branin


@pytest.mark.parametrize("point", entry_points(group="spotsvm.studies"), ids=lambda p: p.name)
def test_every_study_is_found_by_name(point):
    study = point.load()
    assert issubclass(study, Experiment)
    assert study.name == point.name


@pytest.mark.parametrize("study", [SpeedStudy, MultiKernelCostStudy, EvosvmStudy, IndefiniteStudy])
def test_the_full_form_says_what_data_it_needs(study, monkeypatch, tmp_path):
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    with pytest.raises(DataError, match=r"set SPOTSVM_DATA to the folder that holds .*\.csv"):
        study().run()
    with pytest.raises(DataError, match=r"there is no .*\.csv in it"):
        study().use_data(tmp_path).run()


def test_reinterpolation_quick():
    study = ReinterpolationStudy(quick=True)
    runs = study.frame()
    assert len(runs) == 9
    assert (runs[["regret", "regret_smoothed"]] > -1e-6).all().all()
    assert study.table().variant.tolist() == list(VARIANTS)
    ours = runs[runs.variant == "reinterpolation"]
    assert ours.regret.equals(ours.regret_smoothed)
    assert runs.equals(ReinterpolationStudy(quick=True).frame())
    assert [panel.get_title() for panel in study.figure().axes][:2] == ["lower quartile", "median regret"]


def test_branin_has_its_minima():
    for x, y in [(-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)]:
        assert np.isclose(branin(np.array([(x + 5) / 15, y / 15])), BRANIN_MINIMUM, atol=1e-5)


@pytest.mark.slow
def test_reinterpolation_beats_plain_expected_improvement_in_the_median():
    """On the first of the study's seeds, and three quarters of its evaluations: the whole takes minutes."""
    median = ReinterpolationStudy(seeds=14, n_trials=60).table().set_index("variant")["median regret"]
    assert median["reinterpolation"] < median["plain EI"]
    assert median["reinterpolation"] < median["plain EI with nugget"]


def test_overhead_quick():
    table = OverheadStudy(quick=True).table()
    assert table.points.tolist() == [30, 60]
    assert (table.milliseconds > 0).all()
    assert table.peak_megabytes.between(50, 500).all()


def test_a_fed_search_has_a_model():
    search = fed_search(30)
    assert len(search.values) == 30
    assert search.ask().origin == "improvement"
