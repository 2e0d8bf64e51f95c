"""Continue the records of a tuning in a wider space, if the recommended value of a parameter is at the end of its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.space.description import described_parameter, same_parameter, scale_of
from spotsvm.space.space import Space
from spotsvm.study.record.widening import is_wider
from spotsvm.study.recorded import recorded_study

#: SVM parameters for which every positive number is valid; other ranges are not widened
OPEN = ("C", "gamma", "epsilon")


@dataclass(frozen=True)
class Continued:
    """The space and the number of trials with which the searches of a tuning continue, and the lines to print about them."""

    space: dict[str, Any]
    n_trials: int
    said: tuple[str, ...] = ()


def continued(space: dict[str, Any], n_trials: int, out: Path | None, searches: Sequence[str], *, widen: bool) -> Continued:
    """Return how a tuning continues from its records in a folder; the requested search is the last of `searches`.

    A widened record goes on in its own space, which all share. With `widen`, after the last search's end, C, gamma or epsilon
    gets a wider range if the recommended value is at its end; a full record gets as many trials more.
    """
    if widen and out is None:
        raise ArgumentError("--widen continues the record of an earlier run; name its folder by --out")
    wide, most, study = dict(space), n_trials, None
    for name in searches if out is not None else ():
        study = recorded_study(Path(out or "") / f"{name}.db")
        if study is not None and is_wider(Space(wide).describe(), study.about["space"]):
            wide = _with_ranges(wide, study.about["space"][0])
            most = max(most, int(study.about.get("budget") or 0))
    path = Path(out or "") / f"{searches[-1]}.db"
    if not widen:
        return Continued(wide, most)
    if study is None:
        return Continued(
            wide, most, (f"--widen: there is no record {path} yet; run the same command again once this run has ended",)
        )
    if study.status().state != "ended":
        return Continued(wide, most, (f"--widen: the search in {path} has not ended; it continues in the same space",))
    if not same_parameter(study.space.describe(), Space(wide).describe()):
        return Continued(wide, most, ("--widen: the searches continue in the wider space of a run that has not ended",))
    try:
        edges = [edge for edge in study.edges() if edge.name.rpartition("__")[2] in OPEN]
    except NoCompletedTrialError:
        edges = []
    if not edges:
        return Continued(
            wide, most, (f"--widen: no recommended value of {', '.join(OPEN)} is at an end of its range; nothing is widened",)
        )
    said = [f"widened: {edge.name} = {edge.value:.4g} was at the {edge.side} end; searched now: {edge.wider}" for edge in edges]
    if study.n_finished >= n_trials:
        most = study.n_finished + n_trials
        said.append(f"widened: {n_trials} more trials for each search, up to {most}")
    return Continued({**wide, **{edge.name: edge.wider for edge in edges}}, most, tuple(said))


def _with_ranges(space: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return a space with the recorded ranges, where they differ."""
    described = Space(space).describe()[0]
    wider = dict(space)
    for name in space:
        if same_parameter(recorded[name], described[name]):
            continue
        parameter = described_parameter(name, recorded[name])
        if parameter.bounds is not None:
            prior = ["log-uniform"] if scale_of(parameter) == "log" else []
            wider[name] = (*parameter.bounds, *prior)
    return wider
