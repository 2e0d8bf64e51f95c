"""The acid study: twelve parameters, five unbalanced classes, noisy splits (Fig. 2 and Table 8 of Koch et al. 2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import pandas as pd

from spotsvm.comparison.runs import Entrant, check_entrants, labelled_searches
from spotsvm.errors import ArgumentError, DataError
from spotsvm.solvers.search import SEARCHES
from spotsvm.space.space import Space
from spotsvm.studies.acid.data import SOURCES
from spotsvm.studies.acid.results import (
    by_budget,
    draw_acid,
    gain_table,
    judged,
    on_figure_2,
    on_judgement,
    on_parameters,
    on_scores,
    table_8,
)
from spotsvm.studies.acid.task import (
    FEWER,
    REGIONS,
    UNTUNED,
    AcidEntrant,
    AcidTask,
    acid_space,
    runs_from_seed,
    shared_task,
    untuned_confusion,
    untuned_svc,
)
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job
from spotsvm.study.given import equal_start
from spotsvm.tuning.pipelines.opening import opening

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: each value is the mean of two evaluations, the number in section 3.2.2
KOCH = partial(SEARCHES["koch2011"], repeats=1, max_repeats=1)
#: tuners of the default region, of some of its parameters, and of the paper's region; `spotsvm tune` tunes "3 then 12"
DEFAULT_ENTRANTS: Mapping[str, tuple[str, Entrant]] = {
    "kriging, 3 parameters": ("three", "kriging"),
    "kriging, 3 then 12": ("default", opening(acid_space("default"), FEWER["three"])),
    "kriging": ("default", "kriging"),
    "kriging, 2 parameters": ("two", "kriging"),
    "kriging, Table 8": ("table8", "kriging"),
    "random": ("default", "random"),
    "koch2011, Table 8": ("table8", KOCH),
    "cmaes": ("default", "cmaes"),
    "cmaes, Table 8": ("table8", "cmaes"),
    "random, Table 8": ("table8", "random"),
}

_SIMULATED = """\
Simulated spectra of acid mixtures stand in for the paper's data, which are not public: 4,437 records of 212 points, classes of
228, 1,528, 1,880, 731 and 70 records, 3,326 rows to train and 1,109 to test (a quarter of all that in the quick form). The
paper's numbers do not add up: 2 records are left out. No number here can be compared with the paper."""
_TECATOR = """\
Absorption spectra of 240 samples of meat (Tecator) stand in for the paper's data, which are not public; the fat is cut into five
classes of the paper's shares. Rows with the same spectrum stay together. The smallest class has 5 rows, 1 of them for testing:
its accuracy is 0 or 1, and counts for a fifth. No number here can be compared with the paper."""
_NOTES = """\
A design point is one setting. It is trained on 80 % of the training rows and validated on 20 %, on two random splits, and the
tuner gets the mean score. Tuners do not depend on the budget: the first 25 design points are the result of a budget of 25.
"tuned" is the best value seen, and "test" the score on the test rows of the recommended setting, trained on all training rows.
Both are mean class accuracies. All tuners start with the pipeline's defaults and the centre of their region. The regions are
twelve parameters in the default region, "3 parameters" (share of importance, gamma and C), "2 parameters" (gamma and C, all
features), and the paper's region. The untuned models are the pipeline and an SVM on the scaled spectra, both with weights
inversely proportional to class sizes. Principal components, monomials and ranking are computed from the training rows of each
split, with the first 12 components. A record that is predicted right gains 1 / (5 times the records of its class), so that the
gains of all classes sum to the mean class accuracy; that of a tuner is of its setting with the best predicted score.
The paper's best cutoffs sum to 1.195, although the fifth should follow from the others; ours are scaled to sum to 1."""


@dataclass(kw_only=True)
class AcidStudy(Experiment):
    """Class weights, cutoffs, preprocessing and SVM of a spectroscopy problem, tuned together.

    Twelve parameters: XPERC (the share of a random forest's importance that the selected features have), gamma, C, a weight for
    each of five classes, and four cutoffs of the vote; or only three or two of them. By default the data are simulated UV/vis
    spectra of acid mixtures of the paper's size; with a folder of data sets, they are the real spectra of its `tecator.csv`.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 12, 16 and 24 design points, on a quarter of the simulated records.
    n_jobs, path
        See `Experiment`. A job is a seed with all tuners; `path` is a folder for the records of the searches.
    source : {"simulated", "tecator"} or None, default=None
        The data; None is "tecator" after `use_data`, else "simulated".
    entrants : mapping of str to (str, search), optional
        For each label the region, and the search as in `compare`. "default" is the default region of `spectra_pipeline`; "three"
        and "two" tune only this number of its parameters; "table8" and "table7" are the paper's regions, with gamma from 0.001 to
        0.8 and C up to 100 in Table 8, and gamma from 0.005 to 0.3 and C from 1 to 10 in Table 7.
    budgets : sequence of int, optional
        Numbers of design points after which the tuners are judged; by default 25, 50 and 100.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 5, as in the paper.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.2.
    """

    name = "acid"
    keeps_records = True
    _table_caption = "Tuned and test score (Fig. 2)"
    _figure_caption = (
        "Tuned score (filled) and score on the test rows (open) after each number of design points, mean and standard "
        "deviation over the seeds."
    )

    source: Literal["simulated", "tecator"] | None = None
    entrants: Mapping[str, Any] = field(default_factory=lambda: DEFAULT_ENTRANTS)
    budgets: Sequence[int] = either((25, 50, 100), (12, 16, 24))
    seeds: Seeds = either(5, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source is not None and self.source not in SOURCES:
            raise ArgumentError(f"source={self.source!r} is unknown; use 'simulated' or 'tecator'")
        labelled = labelled_searches({label: search for label, (_, search) in self.entrants.items()})
        self.entrants = {label: AcidEntrant(self.entrants[label][0], search) for label, search in labelled.items()}
        if wrong := [label for label, entrant in self.entrants.items() if entrant.region not in REGIONS]:
            region = self.entrants[wrong[0]].region
            raise ArgumentError(f"entrants: region {region!r} of {wrong[0]!r} is unknown; use one of {', '.join(REGIONS)}")
        self.budgets = sorted({int(budget) for budget in self.budgets})
        if not self.budgets or self.budgets[0] < 2:
            raise ArgumentError(
                f"budgets={self.budgets} are not numbers of design points of at least 2; use for example [25, 50, 100]"
            )
        for label, entrant in self.entrants.items():
            space = Space(acid_space(entrant.region))
            # the pipeline's defaults, which come first, are only known with the data
            check_entrants({label: entrant.search}, space, self.budgets[0], noise=True, start=equal_start(space))

    def use_data(self, folder: str | Path) -> Self:
        """Take the spectra of `tecator.csv` in this folder, unless the source was given.

        Raises
        ------
        DataError
            If the folder is missing, or the file in it.
        """
        super().use_data(folder)
        if self.source != "simulated" and not any(self.data_file(ending).is_file() for ending in (".csv", ".csv.gz")):
            raise DataError(f"--data {folder}: there is no tecator.csv in it, nor tecator.csv.gz")
        return self

    def data_file(self, ending: str) -> Path:
        """Return the path of the real spectra."""
        return (self.data or Path()) / f"tecator{ending}"

    @property
    def used_source(self) -> str:
        """The data in use."""
        return self.source or ("simulated" if self.data is None else "tecator")

    def _measure(self) -> pd.DataFrame:
        source, quick = self.used_source, self.quick
        folder = None if self.path is None else Path(self.path)
        regions = {entrant.region for entrant in self.entrants.values()}
        tasks = {region: shared_task(source, quick, region, self.budgets[-1], folder) for region in regions}
        task = AcidTask(source, quick)
        scores = (untuned_svc(task.data), task.test(task.default))
        rows = pd.DataFrame({"tuner": UNTUNED, "seed": -1, "budget": 0, "test": scores})
        # the tuners of a seed run together, because their n-th trials share splits and features
        runs = self._run(Job({"seed": seed}, runs_from_seed, (tasks, self.entrants, seed, self.budgets)) for seed in self.seeds)
        return pd.concat([rows, runs], ignore_index=True)

    def table(self) -> pd.DataFrame:
        """Return Fig. 2 as a table: tuned and test score over the seeds for each tuner and budget."""
        return by_budget(self.frame())

    def table_8(self, region: str) -> pd.DataFrame:
        """Return Table 8: a region of twelve parameters and the best setting in it."""
        return table_8(self.frame(), region)

    def gains(self) -> pd.DataFrame:
        """Return confusion matrices on the test rows, with gains: the best predicted setting of all, and the untuned models."""
        frame = self.frame()
        last = frame[frame.budget == frame.budget.max()]
        best = last.loc[last.predicted.idxmax()]
        task, pipeline = (AcidTask(self.used_source, self.quick, region) for region in (best.region, "default"))
        found = {best.tuner: task.confusion({name: best[name] for name in acid_space(best.region)})}
        untuned = (untuned_confusion(task.data), pipeline.confusion(pipeline.default))
        return gain_table(found | dict(zip(UNTUNED, untuned, strict=True)))

    def judged(self) -> pd.DataFrame:
        """Return the recommended trial against the best seen, on the test rows, after each budget."""
        return judged(self.frame())

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return Table 8, confusion and gains, and the comparison of the recommended trial with the best seen."""
        eights = {f"Table 8 ({region_name(region)})": self.table_8(region) for region in self._whole_regions()}
        gains = {"Confusion and gains on the test rows": self.gains()}
        return {**eights, **gains, "Recommended against best seen": self.judged()}

    def notes(self) -> str:
        """Return an explanation of the tables."""
        data = _SIMULATED if self.used_source == "simulated" else _TECATOR
        return f"{data}\n\n{_NOTES}"

    def conclusion(self) -> str:
        """Return in words the scores, how much of them is luck, and whether the recommendation was the better choice."""
        frame = self.frame()
        parts = (on_scores(self.table()), on_figure_2(frame), on_parameters(frame), on_judgement(self.judged()))
        return " ".join(filter(None, parts))

    def figure(self) -> Figure:
        """Draw Fig. 2."""
        return draw_acid(self.table())

    def _whole_regions(self) -> list[str]:
        return [region for region in REGIONS if region not in FEWER and region in {e.region for e in self.entrants.values()}]

    def _further_files(self) -> dict[str, pd.DataFrame]:
        eights = {region: self.table_8(region) for region in self._whole_regions()}
        return eights | {"judged": self.judged(), "gains": self.gains()}


def region_name(region: str) -> str:
    """Return the name of a region of twelve parameters."""
    return "default region" if region == "default" else f"region of Table {region[-1]}"
