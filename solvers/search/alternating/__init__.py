"""Genetic algorithms that select a subset of rows, a model, or both in turns."""

from spotsvm.solvers.search.alternating.alternation import Alternation, PhaseRecord
from spotsvm.solvers.search.alternating.genetics import Genetics
from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
from spotsvm.solvers.search.alternating.phase import Phase
from spotsvm.solvers.search.alternating.population import Population, high_low_children
from spotsvm.solvers.search.alternating.subset_genetics import SubsetGenetics
from spotsvm.solvers.search.alternating.vector_genetics import VectorGenetics

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
