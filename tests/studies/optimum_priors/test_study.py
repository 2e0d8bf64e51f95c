import numpy as np
import pytest

from spotsvm import Space
from spotsvm.errors import DataError
from spotsvm.studies.common.jobs import JobFile
from spotsvm.studies.optimum_priors.study import OptimumPriorsStudy, _Near


@pytest.fixture(scope="module")
def study():
    return OptimumPriorsStudy(quick=True, tasks=("branin",), seeds=2).run()


def test_all_priors_spend_the_same_evaluations(study):
    counts = study.frame().groupby(["prior", "seed"], sort=False).trial.max()
    assert (counts == 15).all()
    assert counts.index.get_level_values("prior").unique().tolist() == ["none", "good", "flat", "misleading"]


def test_the_table_is_of_the_frame(study):
    table, frame = study.table().set_index("prior"), study.frame()
    at_ten = frame[(frame.prior == "good") & (frame.trial == 10)].regret.mean()
    assert table["regret 10"]["good"] == pytest.approx(at_ten)
    assert table["regret 10"]["none"] == pytest.approx(1.0)
    assert table.behind["none"] == "+0"
    medians = frame.groupby(["prior", "trial"]).best.median()
    first = [int(np.argmax(medians[prior].to_numpy() <= medians["none"][15])) for prior in ("good", "none")]
    assert table.behind["good"] == f"{first[0] - first[1]:+d}"
    assert f"{table['regret 10']['good']:.3g} (good)" in study.conclusion()


def test_tasks_with_one_space_learn_from_each_other():
    tasks = ("branin", "branin_noisy", "hartmann6")
    table = OptimumPriorsStudy(quick=True, tasks=tasks, seeds=1, n_trials=10).run().table()
    assert set(table.prior[table.task != "hartmann6"]) == {"none", "good", "flat", "misleading", "learned"}
    assert "learned" not in set(table.prior[table.task == "hartmann6"])


def test_a_file_of_other_tasks_from_which_priors_were_learned_is_refused(tmp_path):
    path = tmp_path / "jobs.json"
    settings = {"quick": True, "n_trials": 15, "tasks": ("branin",)}
    JobFile(path, "optimum_priors", settings).add({"task": "branin", "prior": "none", "seed": 0}, [])
    with pytest.raises(DataError, match=r"was written with tasks=\['branin'\], not \['branin', 'hartmann6'\]; name another file"):
        OptimumPriorsStudy(quick=True, tasks=("branin", "hartmann6"), path=path).run()


def test_a_belief_is_normal_in_the_unit_interval():
    parameter = Space({"C": (1e-3, 1e3, "log-uniform")}).axes[0].parameter
    belief = _Near(parameter, 0.5)
    np.testing.assert_allclose(belief.cdf([1e-9, 1.0, 1e9]), [0.0, 0.5, 1.0], atol=1e-6)
    assert belief.support() == pytest.approx((1e-3, 1e3))
