"""Parameter search on the unit cube: the contract of a search, and the searches by name."""

from spotsvm.solvers.search.checks import check_search, search_checks
from spotsvm.solvers.search.cmaes_search import CmaesSearch
from spotsvm.solvers.search.contract.base import AskTell, Capabilities, LatinHypercubeSearch, RandomSearch, Search, Suggestion
from spotsvm.solvers.search.keerthi_lin_search import KeerthiLinSearch
from spotsvm.solvers.search.kriging.koch_search import KochSearch
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.solvers.search.lbfgsb_search import LbfgsbSearch
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.solvers.search.multi_objective.nsga2_search import Nsga2Search
from spotsvm.solvers.search.multi_objective.parego_search import ParegoSearch
from spotsvm.solvers.search.nested_search import NestedSearch, Stage
from spotsvm.solvers.search.registry import (
    SEARCHES,
    capabilities_of,
    describe_search,
    make_search,
    needs_several_objectives,
    needs_space,
    register_search,
)
from spotsvm.solvers.search.vns_search import VnsSearch

__all__ = [
    "SEARCHES",
    "AskTell",
    "Capabilities",
    "CmaesSearch",
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
    "capabilities_of",
    "check_search",
    "describe_search",
    "make_search",
    "needs_several_objectives",
    "needs_space",
    "register_search",
    "search_checks",
]
