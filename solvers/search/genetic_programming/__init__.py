"""Strongly typed genetic programming of kernel expressions."""

from spotsvm.solvers.search.genetic_programming.grammar import Bred, Grammar, breed_new, breed_variation
from spotsvm.solvers.search.genetic_programming.paper_grammar import PaperGrammar
from spotsvm.solvers.search.genetic_programming.psd_grammar import PsdGrammar

__all__ = ["Bred", "Grammar", "PaperGrammar", "PsdGrammar", "breed_new", "breed_variation"]
