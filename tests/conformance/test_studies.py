"""Each study keeps the contract of `Experiment`: found by name, it reports itself, repeats itself, and goes on from its file."""

import inspect
import shutil
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from spotsvm.studies.common.experiment import Experiment
from tests.studies.small import STUDIES, path_of, ran, run_small


def rows_of(study):
    """Return the measurements without those of time, in one order."""
    frame = study.frame()
    timed = [name for name in frame if any(part in name for part in ("second", "searched", "spent", "unit", "predicted"))]
    rows = frame.drop(columns=timed)
    return rows.sort_values(list(rows.columns[:5]), kind="stable").reset_index(drop=True)


def check_reports(study, folder):
    assert study.seconds > 0
    assert len(study.table()) > 0, "the table has no rows"
    assert study.conclusion().endswith("."), "the conclusion is no sentence"
    name, files = study.name, study.write(folder)
    assert {f"{name}{end}" for end in ("_runs.csv", "_table.csv", ".md", ".png", ".html")} <= {file.name for file in files}
    assert all(file.stat().st_size > 0 for file in files)
    assert len(pd.read_csv(files[0])) == len(study.frame()) > 0
    assert len(pd.read_csv(files[1])) == len(study.table())
    text, page = (next(file for file in files if file.suffix == end).read_text() for end in (".md", ".html"))
    assert text.startswith(f"## {study.title()}\n\n(quick form: it only shows that the study works)")
    assert text.endswith(f"### Conclusion\n\n{study.conclusion()}\n")
    assert "This is the quick form: it only shows that the study works." in page
    assert f"Study '{name}' of spotsvm." in page.replace("&#39;", "'")


def check_settings(study):
    settings = study.settings()
    missing = set(inspect.signature(type(study)).parameters) - set(settings) - {"n_jobs", "path"}  # left out where None
    assert not missing, f"{missing} are arguments, and no attributes of that name keep them"
    again = type(study)(**settings).settings()
    assert {key: str(value) for key, value in again.items()} == {key: str(value) for key, value in settings.items()}


def check_same_rows(study, other):
    pd.testing.assert_frame_equal(rows_of(other), rows_of(study))


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_found_by_name_reports_itself_repeats_itself_and_goes_on(name, tmp_path):
    whole = ran(name)
    assert isinstance(whole, Experiment)
    assert whole.name == name
    check_reports(whole, tmp_path / "report")
    check_settings(whole)
    path = path_of(name, tmp_path)
    if whole.keeps_records:
        shutil.copytree(whole.path, path, dirs_exist_ok=True)
        records = sorted(path.rglob("*.db"))
        assert len(records) > 1
        records[-1].unlink()
    else:
        head, *jobs = whole.path.read_text().splitlines(keepends=True)
        path.write_text(head + "".join(jobs if whole.measures_times else jobs[:-1]))
    again = run_small(name, path=path, n_jobs=1 if whole.measures_times else 2)
    check_same_rows(whole, again)
    # ended jobs do not run again: their times are those of the file
    pd.testing.assert_frame_equal(run_small(name, path=path).frame(), again.frame())


@dataclass(kw_only=True)
class Right(Experiment):
    """Draw numbers: a study for these tests."""

    name = "right"
    drawn = ("value",)
    seed: int = 0

    def _measure(self):
        return pd.DataFrame({"run": range(3), "value": np.random.default_rng(self.seed).random(3)})

    def table(self):
        return self.frame().describe()[["value"]].reset_index(names="what")

    def conclusion(self):
        return f"The mean is {self.frame()['value'].mean():.2f}."


class Silent(Right):
    def conclusion(self):
        return ""


class WithoutTable(Right):
    def table(self):
        return super().table().iloc[:0]


class Drifting(Right):
    def _measure(self):
        return super()._measure().assign(value=np.random.default_rng().random(3))


class Forgetful(Right):
    def __init__(self, quick=False, *, noise=0.1):
        super().__init__(quick)


def test_a_study_that_breaks_the_contract_is_refused(tmp_path):
    study = Right(quick=True).run()
    check_reports(study, tmp_path)
    check_settings(study)
    check_same_rows(study, Right(quick=True))
    with pytest.raises(AssertionError, match="the conclusion is no sentence"):
        check_reports(Silent(quick=True).run(), tmp_path)
    with pytest.raises(AssertionError, match="the table has no rows"):
        check_reports(WithoutTable(quick=True).run(), tmp_path)
    with pytest.raises(AssertionError, match="are different"):
        check_same_rows(study, Drifting(quick=True))
    with pytest.raises(AssertionError, match="{'noise'} are arguments, and no attributes of that name keep them"):
        check_settings(Forgetful(quick=True))
