"""What the sections of a study's report share: the study, its axes, its models, each made once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.recommendation import Recommendation
from spotsvm.reports.axes import StudyAxis, study_axes
from spotsvm.reports.effects import Importance, importance
from spotsvm.reports.study_model import StudyModel, fit_study_model
from spotsvm.reports.thinned import MOST, SHOWN, thinned
from spotsvm.study_results import StudyResults
from spotsvm.trial import FINISHED, Trial

Floats = NDArray[np.float64]
HUGE = 1e301


class StudyView:
    """A study as its report sees it, at one moment.

    Parameters
    ----------
    study : StudyResults
        A study, or what its record has of one.
    """

    def __init__(self, study: StudyResults):
        self.study = study
        self.trials: tuple[Trial, ...] = study.trials
        self.axes: list[StudyAxis] = study_axes(study.space)

    @cached_property
    def findings(self) -> dict[str, dict[str, Any]]:
        """What was found out about the study, by name."""
        return dict(getattr(self.study, "findings", {}))

    @cached_property
    def done(self) -> list[Trial]:
        """The trials that succeeded."""
        return [t for t in self.trials if t.state == "ok" and t.values is not None]

    @cached_property
    def failed(self) -> list[Trial]:
        """The trials that failed or were ended."""
        return [t for t in self.trials if t.state in ("failed", "timeout")]

    def rows(self, most: int = MOST) -> NDArray[np.intp]:
        """Give the numbers of the trials to show where they are more than so many; the recommended one is among them."""
        if self.study.objectives.several:
            front = {t.number for t in self.front} if self.done else set()
            losses = np.array([0.0 if t.number in front else 1.0 for t in self.trials])
        else:
            sign = float(self.study.objectives.signs[0])
            losses = np.array([np.inf if t.value is None else sign * t.value for t in self.trials])
            if self.recommended is not None:
                losses[self.recommended.number] = -np.inf
        return thinned(losses, most)

    @cached_property
    def drawn(self) -> list[Trial]:
        """The trials that pictures show: all that have ended, or some where they are many."""
        return [t for t in (self.trials[k] for k in self.rows()) if t.state in FINISHED]

    @property
    def thinned_words(self) -> str:
        """Say that a picture does not show all trials; empty where it does."""
        return f" Of {len(self.trials)} trials {MOST} are drawn: {SHOWN}." if len(self.trials) > MOST else ""

    @cached_property
    def too_large(self) -> str:
        """Say that values are too large for a model and an axis, whose widths must be numbers; empty if none is."""
        largest = max((abs(value) for t in self.done for value in t.values or ()), default=0.0)
        return f"A value of {largest:.3g} is beyond {HUGE:g}, too large to be drawn or modelled." if largest > HUGE else ""

    @property
    def n_running(self) -> int:
        """How many trials have no result yet."""
        return sum(t.state == "running" for t in self.trials)

    @cached_property
    def recommended(self) -> Recommendation | None:
        """The trial to use; None if no trial has succeeded, or there are several objectives."""
        return None if not self.done or self.study.objectives.several else self.study.recommend()

    @cached_property
    def front(self) -> tuple[Trial, ...]:
        """Of several objectives, the trials that no other one dominates."""
        return self.study.pareto()

    @cached_property
    def models(self) -> list[StudyModel | str]:
        """The model of each objective, or why there is none."""
        s = self.study
        return [
            fit_study_model(self.trials, s.space.domain, s.objectives, k, noise=s.noise, seed=s.seed)
            for k in range(len(s.objectives))
        ]

    @cached_property
    def importances(self) -> list[Importance | None]:
        """The Sobol indices of each objective's model, None where there are none."""
        return [None if isinstance(model, str) else importance(model, self.study.seed) for model in self.models]

    @property
    def chosen_point(self) -> Floats:
        """The point of the recommended trial; of several objectives, of the front's middle one."""
        if self.recommended is not None:
            return np.array(self.trials[self.recommended.number].point)
        return np.array(self.front[len(self.front) // 2].point)

    def objective_name(self, k: int) -> str:
        """Give the name of an objective; of a single one "value"."""
        return self.study.objectives.labels[k].partition(" (")[0]

    def values(self, k: int = 0) -> Floats:
        """Give the values of the trials that succeeded; shape (n,)."""
        return np.array([t.values[k] for t in self.done if t.values is not None])
