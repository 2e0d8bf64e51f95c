"""What all rules and policies choose from a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spotsvm.studies.equal_time.estimates.choices import (
    COARSE,
    DEFAULTS,
    GRID,
    OWN,
    POLICIES,
    REFERENCE,
    RULES,
    WEIGHT,
    Experience,
    best,
    confirmed,
    one_standard_error,
    smoothed,
)
from spotsvm.studies.equal_time.estimates.divisions import DIVISIONS, predicted_by_kriging
from spotsvm.studies.equal_time.estimates.policies import SPENT
from spotsvm.studies.equal_time.estimates.tables import LOG_C, LOG_GAMMA, Table, drawn, turned


def all_choices(table: Table, search: int, experience: Experience) -> Iterator[dict[str, Any]]:
    """Yield a row for each rule and policy: the error on the new rows of what it chooses, and its time in units."""
    order = turned(search)
    table = table._replace(**{name: getattr(table, name)[:, order] for name in ("errors", "losses", "deviations")})
    errors, both = table.errors, table.errors + WEIGHT * table.losses
    random, coarse, whole = drawn(search, 25), "grid of 6 C x 5 gamma", f"whole grid, {len(LOG_C)} C x {len(LOG_GAMMA)} gamma"
    rules = {
        OWN: DEFAULTS,
        REFERENCE: best(errors[:, :1], random),
        "best of 50 random settings": best(errors[:, :1], drawn(search, 50)),
        "25 random settings, the best five on three further partitions": confirmed(errors, random, 5, 4),
        f"{coarse}, the best five on three further partitions": confirmed(errors, COARSE, 5, 4),
        f"{coarse}, every setting on four partitions": best(errors[:, :4], COARSE),
        f"{whole}, one standard error": one_standard_error(table, GRID),
    }
    for n, some in ((1, "one partition"), (2, "two partitions"), (4, "four partitions"), (8, "eight partitions")):
        rules[f"{whole}, {some}"] = best(errors[:, :n], GRID)
        rules[f"{whole}, {some}, error and loss"] = best(both[:, :n], GRID)
        if n > 1:
            predicted = predicted_by_kriging(np.tile(GRID, n), errors[GRID, :n].ravel(order="F"))[: len(GRID), None]
            guessed = {
                "smoothed by a learned prior": smoothed(errors[GRID, :n], experience),
                "predicted by Kriging with a nugget": predicted,
            }
            for how, values in guessed.items():
                rules[f"{whole}, {some}, {how}"] = GRID[best(values, np.arange(len(GRID)))]
    rules["(the best for the new rows themselves)"] = best(table.new[:, None], GRID)
    chosen = [(RULES, name, settings, np.nan) for name, settings in rules.items()]
    chosen += [(POLICIES, str(way), *way.spend(table, experience.gammas)) for way in (*SPENT, *DIVISIONS)]
    for kind, name, settings, units in chosen:
        yield {"kind": kind, "choice": name, "error": float(table.new[settings].mean()), "units": units}
