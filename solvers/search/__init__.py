"""Parameter search on the unit cube: one contract, and the searches by name."""

from solvers.search.base import AskTell, Search, Suggestion
from solvers.search.cmaes_search import CmaesSearch
from solvers.search.koch_search import KochSearch
from solvers.search.kriging_search import KrigingSearch
from solvers.search.latin_hypercube import LatinHypercubeSearch
from solvers.search.lbfgsb_search import LbfgsbSearch
from solvers.search.multi_objective_search import MultiObjectiveSearch
from solvers.search.nested_search import NestedSearch
from solvers.search.nsga2_search import Nsga2Search
from solvers.search.parego_search import ParegoSearch
from solvers.search.random_search import RandomSearch
from solvers.search.registry import SEARCHES, describe_search, make_search, needs_several_objectives
from solvers.search.stage import Stage
from solvers.search.vns_search import VnsSearch

__all__ = [
    "SEARCHES",
    "AskTell",
    "CmaesSearch",
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
    "describe_search",
    "make_search",
    "needs_several_objectives",
]
