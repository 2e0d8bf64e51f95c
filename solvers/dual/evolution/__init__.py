"""Solvers of the dual by an evolution strategy, a particle swarm and a memetic algorithm.

It may import `spotsvm.solvers.dual.problem` and `.exact`.
"""
