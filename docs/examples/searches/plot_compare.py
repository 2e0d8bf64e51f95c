"""
Compare searches
================

:func:`~spotsvm.compare` runs several searches from the same first evaluations
and the same seeds, and tests which differences are more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from spotsvm import compare


def branin(p):
    x, y = p["x"], p["y"]
    valley = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


# %%
# Eight seeds, since fewer cannot show a difference: with five, the smallest
# possible p is 0.06 for one rival. ``p_holm`` is adjusted for three rivals.

space = {"x": uniform(-5, 15), "y": uniform(0, 15)}
searches = ["kriging", "cmaes", "vns", "random"]
comparison = compare(branin, space, searches, n_trials=40, seeds=8)
table = comparison.table().set_index("search")
table[["best", "median", "worst", "difference", "p", "p_holm", "ask_seconds"]]

# %%
# The lines are medians, and the bands quartiles. All searches begin with the
# same points; afterwards Kriging falls fastest, at ``ask_seconds`` a trial.

comparison.figure(log=True, optimum=0.397887)
plt.show()

# %%
# Kriging ends nearest to the optimum, each rival is significantly behind, and
# a suggestion of Kriging takes longest. That pays where an evaluation takes
# longer still.

assert table["median"].idxmin() == "kriging"
assert (table["p_holm"].drop("kriging") < 0.05).all()
assert table["ask_seconds"].idxmax() == "kriging"
