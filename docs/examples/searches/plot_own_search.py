"""
A search of your own
====================

A search is a class with a method that suggests the next point of the unit cube. With a name it is used like the others, in
studies, in :class:`~spotsvm.SpotSearchCV` and in comparisons, and its runs are recorded and resumed.
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
def rosenbrock(p):
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


space = {"x": uniform(-2, 4), "y": uniform(-1, 4)}
comparison = compare(rosenbrock, space, ["kriging", "around-the-best", "random"], n_trials=40, seeds=5)
comparison.table()

# %%
comparison.figure(log=True)
plt.show()
