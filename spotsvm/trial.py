"""One evaluation of the objective: what was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spotsvm.read_only import ReadOnlyDict, ReadOnlyParams

State = Literal["running", "ok", "failed", "timeout"]
FINISHED: tuple[State, ...] = ("ok", "failed", "timeout")


@dataclass(frozen=True)
class Trial:
    """One trial of a study; it never changes, telling makes a new one.

    Attributes
    ----------
    number : int
        From 0, in the order of asking.
    params : dict
        The configuration to evaluate, in the parameters' own types. It cannot be changed, nor can `extra`: `dict(trial.params)`
        is a copy that can. Choices that are objects, such as estimators, are those of the space: clone one before changing it.
    point : tuple of float
        The same as a point of the unit cube.
    state : {"running", "ok", "failed", "timeout"}
        How it stands.
    value : float or None
        What the objective returned, in the study's own direction; None unless the state is "ok", and where a study has
        several objectives.
    extra : dict of str to float
        Further named numbers that the objective returned.
    reason : str
        Why it failed, in one line; empty otherwise.
    origin : str
        Where the search had it from: "design", "improvement", "replicate", "random" and so on.
    note : str
        What the search did out of the ordinary to find it.
    seed : int
        A random seed of the trial's own, from the study's seed and the trial's number.
    ask_seconds, seconds : float or None
        Time that the search took to suggest it, and the objective to evaluate it.
    values : tuple of float or None
        What was returned of each objective, in the study's own directions; of one objective the tuple of `value` alone. None
        unless the state is "ok".
    fit_seconds, acquisition_seconds : float or None
        Of `ask_seconds`, the time to fit the search's model and that to find the point; None of a search without a model.
    lost : tuple of str
        The reason of each attempt whose worker died, in one line each; the trial was then evaluated again, or failed.
    asked_at, told_at : float or None
        When it was asked for, and told, in seconds since 1970 (UTC); two trials that differ in nothing else are equal.
    """

    number: int
    params: Mapping[str, Any]
    point: tuple[float, ...]
    state: State = "running"
    value: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    origin: str = ""
    note: str = ""
    seed: int = 0
    ask_seconds: float | None = None
    seconds: float | None = None
    values: tuple[float, ...] | None = None
    fit_seconds: float | None = None
    acquisition_seconds: float | None = None
    lost: tuple[str, ...] = ()
    asked_at: float | None = field(default=None, compare=False)
    told_at: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, kind in (("params", ReadOnlyParams), ("extra", ReadOnlyDict)):
            if type(given := getattr(self, name)) is not kind:
                object.__setattr__(self, name, kind(given))
        if self.values is None and self.value is not None:
            object.__setattr__(self, "values", (self.value,))
