"""Tables 5 and 6 of Koch et al. 2011, printed and from the runs of the stormwater study, and the figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.comparison.between_sets import OversearchingMatrix
from spotsvm.comparison.comparison import Comparison
from spotsvm.studies.stormwater.runs import HAND, StormwaterErrors
from spotsvm.studies.tasks.svm import BY_HAND, REGION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: a caveat for the comparison with Tables 5 and 6 of the paper
CAVEAT = "The printed figures are of other data, which are not public, so single figures cannot be compared."


class Printed(NamedTuple):
    """A row of Table 5: the RMSE over five seeds."""

    method: str
    best: float
    mean: float
    worst: float
    sd: float


_NONE = float("nan")
_SPOT = Printed("SPOT (Forrester)", 6.83, 7.68, 8.12, 0.52)

#: Table 5, by our names
TABLE_5 = {
    "kriging": _SPOT,
    "koch2011": _SPOT,
    "cmaes": Printed("CMA-ES", 8.37, 10.84, 14.42, 3.10),
    "lbfgsb": Printed("BFGS", 12.98, 14.12, 15.98, 1.17),
    "by hand": Printed("Hand-tuning", 9.73, _NONE, _NONE, _NONE),
}

#: Table 6, mean RMSE over five seeds: rows are sets used for tuning, columns sets used for testing
SETS_6 = (1, 3, 4)
TABLE_6 = ((9.11, 16.40, 12.88), (10.82, 12.78, 12.36), (10.45, 12.93, 7.69))
TABLE_6_SD = ((0.56, 6.42, 5.50), (1.55, 0.34, 3.46), (0.28, 0.35, 0.48))
TARGET = 4  # the set that Table 5 tunes on
TUNER: Final = "kriging"  # of Table 6
PAPER: Final = "koch2011"  # of Table 6 in the paper


def table_5(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search: measured and printed errors on set 4 over the seeds (best, mean, worst, SD).

    The column `untouched` is the mean error of the same settings on sets 1 and 3, which these searches have not seen; `trained`
    is that on set 2.
    """
    rows = []
    for search, group in runs[runs.tuned_on.isin([0, TARGET])].groupby("search", sort=False):
        errors = group[f"set_{TARGET}"]
        row: dict[str, Any] = {
            "method": search,
            "best": errors.min(),
            "mean": errors.mean(),
            "worst": errors.max(),
            "SD": errors.std(),
        }
        row |= {"untouched": group[["set_1", "set_3"]].to_numpy().mean(), "trained": group["set_2"].mean()}
        printed = TABLE_5.get(str(search))
        if printed is not None:
            row |= {"printed as": printed.method, "printed best": printed.best, "printed mean": printed.mean}
            row |= {"printed worst": printed.worst, "printed SD": printed.sd}
        rows.append(row)
    table = pd.DataFrame(rows)
    return pd.concat([table[table.method != HAND], table[table.method == HAND]], ignore_index=True)


def set_matrix(runs: pd.DataFrame, search: str = TUNER) -> OversearchingMatrix:
    """Return the matrix of Table 6: tuned by a search on each of sets 1, 3 and 4, applied to all of them, by seed."""
    ours = runs[(runs.search == search) & runs.tuned_on.isin(SETS_6)]
    seeds = sorted(ours.seed.unique())
    by_run = ours.set_index(["seed", "tuned_on"])
    values = [[[by_run.loc[(seed, v), f"set_{t}"] for t in SETS_6] for v in SETS_6] for seed in seeds]
    return OversearchingMatrix(np.array(values, dtype=float), [f"set {t}" for t in SETS_6])


def table_6(matrix: OversearchingMatrix) -> pd.DataFrame:
    """Return the matrix with S_t and V_t (in percent), standard deviations over the seeds, and the printed figures."""
    printed = OversearchingMatrix(TABLE_6, matrix.names)
    columns: dict[str, Any] = {"tuned on": [*matrix.names, "S_t", "V_t, %"]}
    for k, name in enumerate(matrix.names):
        columns[f"on {name}"] = [*matrix.mean[:, k], matrix.S[k], 100 * matrix.V[k]]
        columns[f"SD {name}"] = [*matrix.std[:, k], np.nan, 100 * matrix.V_error[k]]
    for k, name in enumerate(matrix.names):
        columns[f"printed {name}"] = [*printed.mean[:, k], printed.S[k], 100 * printed.V[k]]
        columns[f"printed SD {name}"] = [*(row[k] for row in TABLE_6_SD), np.nan, np.nan]
    return pd.DataFrame(columns)


def winners(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the recommended setting of each run."""
    return runs[["tuned_on", "search", "seed", *REGION]].reset_index(drop=True)


_RIVALS = ("cmaes", "lbfgsb")


def on_table_5(runs: pd.DataFrame, unit: str) -> str:
    """Name the searches with the lowest errors, and compare Kriging's errors with those of CMA-ES and L-BFGS-B."""
    of = {str(row.pop("method")): row for row in table_5(runs).to_dict("records")}
    hand = float(of.pop(HAND)["best"])
    errors = ", ".join(f"{name} {row['best']:.4g} and {row['mean']:.4g}" for name, row in of.items())
    above = [name for name, row in of.items() if row["mean"] > hand]
    parts = [
        f"RMSE on set {TARGET}{', ' + unit if unit else ''}, best and mean over the seeds: {errors}; by hand {hand:.4g}"
        + (f", which is below the mean of {' and '.join(above)}." if above else "."),
        *_on_rivals(of),
        _on_recommended(runs[runs.tuned_on > 0]),
    ]
    return " ".join(parts)


def _on_rivals(of: dict[str, dict[Any, Any]]) -> list[str]:
    """Return in words whether the best and mean errors of Kriging are below those of its rivals in the paper's Table 5."""
    rivals = [name for name in _RIVALS if name in of]
    if not rivals:
        return []
    parts = []
    for what in ("best", "mean"):
        lower = [name for name in rivals if of[TUNER][what] < of[name][what]]
        others = [name for name in rivals if name not in lower]
        below = f"below {' and '.join(lower)}" if lower else ""
        parts.append(f"its {what} is " + ", ".join(filter(None, [below, f"not below {' and '.join(others)}" if others else ""])))
    return [f"Kriging: {'; '.join(parts)} (in the paper, on other data, SPOT's are below both)."]


def _on_recommended(chosen: pd.DataFrame) -> str:
    same = int(np.isclose(chosen.recommended, chosen.best_seen).sum())
    return f"Evaluations have no noise: in {same} of {len(chosen)} runs the recommended trial is the best seen."


def on_table_6(matrix: OversearchingMatrix) -> str:
    """Return in words the optimism of the tuned error, and the printed optimism for other data."""
    printed = ", ".join(f"{100 * v:.1f} %" for v in OversearchingMatrix(TABLE_6, matrix.names).V)
    return f"{' '.join(matrix.summary().splitlines())} (Printed, of other data: {printed}.)"


_STRETCH = 400  # records
_GREY = "#666666"


def draw_stormwater(comparison: Comparison, runs: pd.DataFrame, objective: StormwaterErrors) -> Figure:
    """Draw three panels: convergence and final errors on the set used for tuning, and a part of the series."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplot_mosaic([["convergence", "errors"], ["series", "series"]], width_ratios=[1.5, 1])
    unit = f", {objective.series.unit}" if objective.series.unit else ""
    comparison.figure(ax=panels["convergence"])
    panels["convergence"].set_ylabel(f"best RMSE on set {objective.tuned_on}{unit}")
    _draw_errors(panels["errors"], comparison, runs, objective.tuned_on)
    panels["errors"].set_ylabel(f"RMSE on set {objective.tuned_on}{unit}")
    _draw_series(panels["series"], runs, objective)
    panels["series"].set_ylabel(f"level{unit}")
    return figure


def _draw_errors(panel: Axes, comparison: Comparison, runs: pd.DataFrame, number: int) -> None:
    """Draw the final errors of the seeds as dots, their mean as a bar, and the error by hand as a line."""
    results = comparison.results()
    for k, search in enumerate(comparison.searches):
        errors = results[search].to_numpy()
        spread = np.linspace(-0.15, 0.15, len(errors)) if len(errors) > 1 else np.zeros(1)
        panel.plot(k + spread, errors, "o", color=COLOURS[k % len(COLOURS)], ms=5)
        panel.plot([k - 0.28, k + 0.28], [errors.mean()] * 2, "-", color=COLOURS[k % len(COLOURS)], lw=2)
    hand = float(runs.loc[runs.search == HAND, f"set_{number}"].iloc[0])
    panel.axhline(hand, color=_GREY, ls="--", lw=1)
    panel.annotate(HAND, (0.02, hand), xycoords=("axes fraction", "data"), va="bottom", fontsize=8, color=_GREY)
    panel.set_xticks(range(len(comparison.searches)), comparison.searches)
    panel.set_xlim(-0.6, len(comparison.searches) - 0.4)
    tidy(panel)


def _draw_series(panel: Axes, runs: pd.DataFrame, objective: StormwaterErrors) -> None:
    """Draw the busiest part of the set: measured, and predicted with the best setting and with that by hand."""
    series, tuned = objective.series, runs[runs.tuned_on == objective.tuned_on]
    best = tuned.iloc[int(np.argmin(tuned[f"set_{objective.tuned_on}"].to_numpy()))]
    setting: dict[str, Any] = {name: best[name] for name in REGION}
    rows = _busiest(objective)
    panel.plot(rows, series.level[rows], color=_GREY, lw=1.8, label="measured")
    panel.plot(rows, objective.predict(setting, rows), color=COLOURS[0], lw=1.2, label=f"tuned by {best.search}")
    panel.plot(rows, objective.predict(BY_HAND, rows), "--", color=COLOURS[1], lw=1.2, label=HAND)
    panel.set_xlabel(f"record (of set {objective.tuned_on})")
    panel.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8)
    rain = panel.twinx()
    rain.bar(rows, series.rain[rows], width=1.0, color=COLOURS[5])
    rain.set_ylim(
        4 * max(float(series.rain[rows].max()), np.finfo(float).tiny), 0
    )  # bars from above, over a quarter of the height
    rain.set_ylabel("rain")
    rain.spines["top"].set_visible(False)
    panel.margins(x=0.01)
    tidy(panel)


def _busiest(objective: StormwaterErrors) -> np.ndarray:
    """Return the records of the part in which the level changes most."""
    rows = objective.series.rows(objective.tuned_on)
    moves = np.append(0.0, np.abs(np.diff(objective.series.level[rows])).cumsum())
    length = min(_STRETCH, len(rows) - 1)
    first = int(np.argmax(moves[length:] - moves[: len(moves) - length]))
    return rows[first : first + length]
