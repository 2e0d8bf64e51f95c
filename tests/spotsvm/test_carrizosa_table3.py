"""Table 3 of Carrizosa 2014: the printed parameters give the printed test errors, without any search.

Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
printed logarithms read as base 2: C = 2^log(C), and the kernel exp(-d^2 / sigma) with sigma = 2^log(sigma). The file of the
set diabetis holds another split than the paper's, so it is left out.
"""

import os
from pathlib import Path

import pandas as pd
import pytest

from spotsvm.exact_svc import ExactSVC

# test error in percent, log C, log sigma
PRINTED = {
    ("banana", "KL"): (11.59, -2.00, -1.00),
    ("banana", "VNS"): (11.61, -2.07, -0.87),
    ("image", "KL"): (5.84, -0.50, 3.00),
    ("image", "VNS"): (2.38, 1.26, 0.80),
    ("splice", "KL"): (10.53, -0.50, 6.00),
    ("splice", "VNS"): (9.93, 1.90, 6.62),
    ("ringnorm", "KL"): (1.44, -3.00, 4.00),
    ("ringnorm", "VNS"): (1.70, 1.89, 3.10),
    ("twonorm", "KL"): (2.47, -2.50, 5.50),
    ("twonorm", "VNS"): (2.77, 1.01, 6.08),
    ("waveform", "KL"): (11.39, 0.00, 6.00),
    ("waveform", "VNS"): (10.46, 0.90, 4.57),
    ("german", "KL"): (21.33, 3.00, 6.00),
    ("german", "VNS"): (21.33, 0.19, 4.09),
    ("heart", "KL"): (21.00, -3.00, 4.50),
    ("heart", "VNS"): (20.00, 0.16, 7.38),
    ("thyroid", "KL"): (5.33, 0.00, -1.00),
    ("thyroid", "VNS"): (5.33, -0.55, -1.12),
    ("titanic", "KL"): (22.92, -2.00, 3.50),
    ("titanic", "VNS"): (22.92, -1.39, 2.23),
    ("flare_solar", "KL"): (34.50, -0.50, 3.50),
    ("flare_solar", "VNS"): (34.50, 0.04, 3.32),
    ("breast_cancer", "KL"): (29.87, 3.50, 7.00),
    ("breast_cancer", "VNS"): (28.57, 1.75, 5.83),
}


def split(name):
    if "SPOTSVM_DATA" not in os.environ:
        pytest.skip("SPOTSVM_DATA names no folder with the IDA data sets")
    (path,) = Path(os.environ["SPOTSVM_DATA"]).glob(f"ida_{name}.csv*")
    table = pd.read_csv(path)
    for part in ("train", "test"):
        rows = table[table["part"] == part]
        yield rows.drop(columns=["y", "part"]).to_numpy(float)
        yield rows["y"].to_numpy()


@pytest.mark.parametrize(("name", "method"), PRINTED)
def test_the_printed_parameters_give_the_printed_error(name, method):
    error, log_C, log_sigma = PRINTED[name, method]
    X, y, X_test, y_test = split(name)
    # one row each of banana and waveform has a decision of 0.0003 and falls on either side under a loose tolerance
    machine = ExactSVC(C=2.0**log_C, gamma=2.0**-log_sigma, tol=1e-6).fit(X, y)
    got = round(100 * (1 - machine.score(X_test, y_test)), 2)  # as many digits as are printed
    assert got == pytest.approx(error, abs=0.02 + 1e-9)
