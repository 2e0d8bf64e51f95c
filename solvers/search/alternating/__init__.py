"""Genetic algorithms that select a subset of rows, a model, or both in turns."""

from spotsvm.solvers.search.alternating.alternation import (
    Alternation,
    Genetics,
    Phase,
    PhaseRecord,
    Population,
    high_low_children,
)
from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
from spotsvm.solvers.search.alternating.subset_genetics import SubsetGenetics, VectorGenetics

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
