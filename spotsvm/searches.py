"""The searches, and what a search of your own needs: `Search`, its domain, and `register_search` for a name.

Examples
--------
>>> import numpy as np
>>> from scipy.stats import uniform
>>> from spotsvm import Study
>>> from spotsvm.searches import Search, Suggestion
>>> class Halves(Search):
...     def suggest(self, rng):
...         return Suggestion(
...             np.full(self.domain.dimension, 0.5 ** (1 + len(self.points))),
...             "halved",
...         )
>>> Study({"x": uniform(0, 1)}, Halves, seed=0).run(
...     lambda p: p["x"], n_trials=3
... ).best_trial.params
{'x': 0.125}
"""

from spotsvm.solvers.search import (
    SEARCHES,
    AskTell,
    Capabilities,
    CmaesSearch,
    KeerthiLinSearch,
    KochSearch,
    KrigingSearch,
    LatinHypercubeSearch,
    LbfgsbSearch,
    MultiObjectiveSearch,
    NestedSearch,
    Nsga2Search,
    ParegoSearch,
    RandomSearch,
    Search,
    Stage,
    Suggestion,
    VnsSearch,
    check_search,
    register_search,
    search_checks,
)
from spotsvm.surrogates import Coordinate, Domain
from spotsvm.tuning.pipelines.opening import opening

__all__ = [
    "SEARCHES",
    "AskTell",
    "Capabilities",
    "CmaesSearch",
    "Coordinate",
    "Domain",
    "KeerthiLinSearch",
    "KochSearch",
    "KrigingSearch",
    "LatinHypercubeSearch",
    "LbfgsbSearch",
    "MultiObjectiveSearch",
    "NestedSearch",
    "Nsga2Search",
    "ParegoSearch",
    "RandomSearch",
    "Search",
    "Stage",
    "Suggestion",
    "VnsSearch",
    "check_search",
    "opening",
    "register_search",
    "search_checks",
]
