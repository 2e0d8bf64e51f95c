"""Tables 3, 4 and 5 of Carrizosa, Martin-Barragan and Romero Morales 2014, as printed."""

from __future__ import annotations

from typing import NamedTuple

RBF_SETS = (
    "banana", "diabetis", "image", "splice", "ringnorm", "twonorm", "waveform", "german", "heart", "thyroid", "titanic",
    "flare_solar", "breast_cancer",
)  # fmt: skip
#: The sets whose first split is at hand: the printed parameters give the printed test errors.
CONFIRMED = tuple(name for name in RBF_SETS if name != "diabetis")

#: Table 3, a row a set: test error in percent, log C and log sigma of the method of Keerthi and Lin (KL), and of VNS. The
#: logarithms are base 2, and the kernel is exp(-d^2 / sigma).
_TABLE_3 = """
    11.59 -2.00 -1.00  11.61 -2.07 -0.87
    24.00  4.00  6.00  24.67 -0.94  4.02
     5.84 -0.50  3.00   2.38  1.26  0.80
    10.53 -0.50  6.00   9.93  1.90  6.62
     1.44 -3.00  4.00   1.70  1.89  3.10
     2.47 -2.50  5.50   2.77  1.01  6.08
    11.39  0.00  6.00  10.46  0.90  4.57
    21.33  3.00  6.00  21.33  0.19  4.09
    21.00 -3.00  4.50  20.00  0.16  7.38
     5.33  0.00 -1.00   5.33 -0.55 -1.12
    22.92 -2.00  3.50  22.92 -1.39  2.23
    34.50 -0.50  3.50  34.50  0.04  3.32
    29.87  3.50  7.00  28.57  1.75  5.83
"""


class RbfSetting(NamedTuple):
    """What Table 3 prints of a method on a set: test error in percent, and the binary logarithms of C and sigma."""

    error: float
    log_C: float
    log_sigma: float


TABLE_3: dict[tuple[str, str], RbfSetting] = {
    (name, method): RbfSetting(*(float(cell) for cell in row.split()[first : first + 3]))
    for name, row in zip(RBF_SETS, _TABLE_3.strip().splitlines(), strict=True)
    for method, first in (("KL", 0), ("VNS", 3))
}


class Printed(NamedTuple):
    """A row of Table 4 or 5: test errors in percent of 12 other methods, of nested VNS, and its rank among the 13.

    Nothing is printed of the others for model (8): there they are those for model (7).
    """

    best: float
    median: float
    worst: float
    error: float
    rank: int


#: (model, data set): "linear" is Table 4, "fixed" model (7) and "tuned" model (8) of Table 5
TABLES_4_AND_5: dict[tuple[str, str], Printed] = {
    ("linear", "pendigitEO"): Printed(6.47, 6.66, 11.07, 7.25, 11),
    ("linear", "pendigitSL"): Printed(8.88, 9.06, 15.56, 10.45, 11),
    ("linear", "mfeatEO4"): Printed(1.99, 2.15, 4.22, 2.34, 10),
    ("linear", "mfeatEO6"): Printed(1.61, 1.76, 3.10, 1.46, 1),
    ("linear", "mfeatSL4"): Printed(4.82, 5.11, 9.46, 6.19, 12),
    ("linear", "mfeatSL6"): Printed(2.19, 2.54, 10.82, 2.30, 2),
    ("linear", "addata"): Printed(3.41, 3.72, 4.90, 3.22, 1),
    ("fixed", "mfeatEO4"): Printed(0.67, 0.96, 2.18, 0.74, 4),
    ("fixed", "mfeatEO6"): Printed(0.58, 0.67, 7.22, 0.65, 3),
    ("fixed", "mfeatSL4"): Printed(1.43, 1.63, 4.60, 1.58, 5),
    ("fixed", "mfeatSL6"): Printed(0.97, 1.25, 7.25, 0.99, 3),
    ("fixed", "addata"): Printed(3.81, 4.34, 11.88, 3.24, 1),
    ("tuned", "mfeatEO4"): Printed(0.67, 0.96, 2.18, 0.72, 4),
    ("tuned", "mfeatEO6"): Printed(0.58, 0.67, 7.22, 0.53, 1),
    ("tuned", "mfeatSL4"): Printed(1.43, 1.63, 4.60, 1.40, 1),
    ("tuned", "mfeatSL6"): Printed(0.97, 1.25, 7.25, 0.95, 1),
    ("tuned", "addata"): Printed(3.81, 4.34, 11.88, 3.39, 1),
}


def rank_bounds(printed: Printed, error: float) -> tuple[int, int]:
    """Give the best and the worst rank that an error can have among 13: of the 12 others, three errors are printed.

    The printed nested VNS, whose rank is known as well, narrows them. An equal error is no smaller one.

    Examples
    --------
    >>> rank_bounds(Printed(0.67, 0.96, 2.18, 0.74, 4), 0.70)
    (2, 4)
    >>> rank_bounds(Printed(0.67, 0.96, 2.18, 0.74, 4), 0.60)
    (1, 1)
    """
    error = float(error)
    # how many of the 12 others have a smaller error: it rises with the error, and is known where something is printed
    fewest = max(
        [0]
        + [1] * (error > printed.best)
        + [6] * (error > printed.median)
        + [12] * (error > printed.worst)
        + [printed.rank - 1] * (error >= printed.error)
    )
    most = min(
        [12]
        + [11] * (error <= printed.worst)
        + [6] * (error <= printed.median)
        + [0] * (error <= printed.best)
        + [printed.rank - 1] * (error <= printed.error)
    )
    return fewest + 1, most + 1
