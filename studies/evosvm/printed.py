"""Table 1 and Table 2 of Mierswa 2006, as printed."""

from __future__ import annotations

import numpy as np

FOLDS = 20
COSTS = (1.0, 0.1, 0.01)
DATA_SETS = ("liver", "ionosphere", "sonar", "lawsuit", "lupus", "crabs")
LEARNERS = ("EvoSVM-G", "EvoSVM-S", "EvoSVM-H", "PsoSVM", "mySVM", "LibSVM")

#: Table 1: the kernel parameter, and the error in percent of always predicting the larger class
SIGMA = dict(zip(DATA_SETS, (0.01, 1.0, 1.0, 0.01, 0.001, 0.1), strict=True))
DEFAULT_ERROR = dict(zip(DATA_SETS, (42.03, 35.90, 46.62, 7.17, 40.00, 50.00), strict=True))

#: Table 2: error and standard deviation in percent, a row for each learner, a column for each data set
_TABLE_2 = {
    1.0: """
        34.71 8.60  10.81 5.71  14.03 4.52  2.05 1.87  25.20 11.77   2.25 3.72
        35.37 6.39   8.49 3.80  17.45 6.64  2.40 1.91  30.92 12.42   4.05 4.63
        34.97 7.32   6.83 3.87  15.41 6.39  2.01 1.87  24.03 13.68   3.95 4.31
        34.78 4.95   9.90 4.38  16.94 5.61  3.02 2.83  25.22  7.67   3.40 3.70
        33.62 4.31   8.56 4.25  15.81 5.59  1.89 2.51  25.28  8.58   3.00 3.32
        32.72 5.41   7.70 3.63  14.60 4.96  2.41 2.64  24.14 12.33   3.00 4.58
    """,
    0.1: """
        33.90  4.19   9.40 6.14  21.72 6.63  2.35 1.92  24.90 10.51   7.20  4.36
        35.57  3.55   7.12 3.54  24.90 6.62  4.47 2.31  25.98 12.56   7.95  5.68
        34.76  4.70   6.55 4.61  24.40 6.09  4.16 3.14  26.51 13.03   6.50  5.02
        36.81  5.04  13.96 7.56  24.18 6.11  3.03 2.83  29.86 12.84   8.15  6.02
        42.03  1.46  35.90 1.35  46.62 1.62  7.17 2.55  41.25  6.92   6.50  4.50
        33.08 10.63  11.40 6.52  22.40 6.45  4.55 3.25  25.29 16.95  21.00 12.41
    """,
    0.01: """
        42.03 1.46  35.90 1.35  45.33  2.20  7.17 2.55  40.00  6.33  26.20 12.66
        42.03 1.46  35.90 1.35  46.62  1.62  7.17 2.55  40.00  6.33   8.58  4.35
        42.03 1.46  35.90 1.35  46.27  1.42  7.17 2.55  40.00  6.33   7.00  4.00
        41.39 8.59  35.90 1.35  27.90  6.28  7.17 2.55  31.94 12.70  10.05  7.26
        42.03 1.46  35.90 1.35  46.62  1.62  7.17 2.55  40.00  6.33   6.50  4.50
        42.03 1.46  35.90 1.35  28.46 10.44  7.17 2.55  26.11 16.44  50.00  0.00
    """,
}
#: Table 2: the F test and the probability beside it, for each data set
_F_TESTS = {
    1.0: "3.20 0.01  9.78 0.00  6.19 0.00  1.51 0.19  11.94 0.00  2.25 0.05",
    0.1: "34.46 0.00  492.88 0.00  323.83 0.00  20.64 0.00  64.83 0.00  100.92 0.00",
    0.01: "0.52 0.77  0.00 1.00  442.46 0.00  0.00 1.00  78.27 0.00  1095.94 0.00",
}

#: (C, data set, learner) to error and standard deviation
ERRORS: dict[tuple[float, str, str], tuple[float, float]] = {
    (cost, data_set, learner): (float(error), float(deviation))
    for cost, text in _TABLE_2.items()
    for learner, row in zip(LEARNERS, np.array(text.split()).reshape(len(LEARNERS), -1, 2), strict=True)
    for data_set, (error, deviation) in zip(DATA_SETS, row, strict=True)
}
#: (C, data set) to F and its probability
F_TESTS: dict[tuple[float, str], tuple[float, float]] = {
    (cost, data_set): (float(f), float(p))
    for cost, text in _F_TESTS.items()
    for data_set, (f, p) in zip(DATA_SETS, np.array(text.split()).reshape(-1, 2), strict=True)
}


def implied_f(cost: float, data_set: str) -> float:
    """Return the F statistic of the printed errors and standard deviations, with a value for each learner and fold."""
    errors, deviations = np.array([ERRORS[cost, data_set, learner] for learner in LEARNERS]).T
    between, within = FOLDS * float(np.var(errors, ddof=1)), float(np.mean(deviations**2))
    return between / within
