"""
A search of your own
====================

A search is a class with a method that suggests the next point of the unit
cube. With a name it is used like the others, in studies, in
:class:`~spotsvm.SpotSearchCV` and in comparisons, and its runs are recorded
and resumed.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from spotsvm import compare
from spotsvm.searches import Search, Suggestion, register_search


class AroundTheBest(Search):
    """Steps around the best point so far, shorter and shorter."""

    def suggest(self, rng):
        n = len(self.points)
        if n < 5:
            return Suggestion(rng.random(self.domain.dimension), "random")
        best = self.points[int(np.argmin(self.values))]
        step = 0.3 * 0.95**n * rng.normal(size=self.domain.dimension)
        return Suggestion(np.clip(best + step, 0, 1), "around the best")


register_search("around-the-best", AroundTheBest)

# %%
# It is compared with two searches of the library on a curved valley.


def rosenbrock(p):
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


space = {"x": uniform(-2, 4), "y": uniform(-1, 4)}
searches = ["kriging", "around-the-best", "random"]
comparison = compare(rosenbrock, space, searches, n_trials=40, seeds=8)
table = comparison.table().set_index("search")
table[["best", "median", "worst", "ask_seconds"]]

# %%
# The lines are medians, and the bands quartiles.

comparison.figure(log=True)
plt.show()

# %%
# On this valley ten lines do better than random search. The Kriging search is
# still better in the end, and slower at each suggestion.

median = table["median"]
assert median["kriging"] < median["around-the-best"] < median["random"]
assert table["ask_seconds"].idxmax() == "kriging"
