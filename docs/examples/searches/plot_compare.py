"""
Compare searches
================

:func:`~spotsvm.compare` runs several searches from the same first evaluations and the same seeds, and tests which differences are
more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from spotsvm import compare


def branin(p):
    x, y = p["x"], p["y"]
    return (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


space = {"x": uniform(-5, 15), "y": uniform(0, 15)}
comparison = compare(branin, space, ["kriging", "cmaes", "vns", "random"], n_trials=40, seeds=5)
comparison.table()

# %%
comparison.figure(log=True, optimum=0.397887)
plt.show()
