"""Strongly typed genetic programming of kernel expressions."""

from solvers.search.genetic_programming.breeding import Bred, breed_new, breed_variation
from solvers.search.genetic_programming.grammar import Grammar
from solvers.search.genetic_programming.paper_grammar import PaperGrammar
from solvers.search.genetic_programming.psd_grammar import PsdGrammar

__all__ = ["Bred", "Grammar", "PaperGrammar", "PsdGrammar", "breed_new", "breed_variation"]
