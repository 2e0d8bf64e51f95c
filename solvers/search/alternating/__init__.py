"""Genetic algorithms that select a subset of rows, a model, or both in turns."""

from solvers.search.alternating.alternation import Alternation, PhaseRecord
from solvers.search.alternating.genetics import Genetics
from solvers.search.alternating.model_genetics import ModelGenetics
from solvers.search.alternating.phase import Phase
from solvers.search.alternating.population import Population, high_low_children
from solvers.search.alternating.subset_genetics import SubsetGenetics
from solvers.search.alternating.vector_genetics import VectorGenetics

__all__ = [
    "Alternation",
    "Genetics",
    "ModelGenetics",
    "Phase",
    "PhaseRecord",
    "Population",
    "SubsetGenetics",
    "VectorGenetics",
    "high_low_children",
]
