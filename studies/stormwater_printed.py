"""What Koch et al. 2011 print of the stormwater problem; their data are not public."""

from __future__ import annotations

from typing import NamedTuple

#: with what Tables 5 and 6 of the paper are to be read beside ours
CAVEAT = "The printed figures are of other data, which are not public: the two cannot be set against each other number by number."


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

#: Table 6, mean RMSE over five seeds: rows are tuned on, columns applied to
SETS_6 = (1, 3, 4)
TABLE_6 = ((9.11, 16.40, 12.88), (10.82, 12.78, 12.36), (10.45, 12.93, 7.69))
TABLE_6_SD = ((0.56, 6.42, 5.50), (1.55, 0.34, 3.46), (0.28, 0.35, 0.48))
