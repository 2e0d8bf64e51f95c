"""Parameter search on the unit cube: one contract, and the searches by name."""

from solvers.search.base import AskTell, Search, Suggestion
from solvers.search.kriging_search import KrigingSearch
from solvers.search.latin_hypercube import LatinHypercubeSearch
from solvers.search.random_search import RandomSearch
from solvers.search.registry import SEARCHES, describe_search, make_search

__all__ = [
    "SEARCHES",
    "AskTell",
    "KrigingSearch",
    "LatinHypercubeSearch",
    "RandomSearch",
    "Search",
    "Suggestion",
    "describe_search",
    "make_search",
]
