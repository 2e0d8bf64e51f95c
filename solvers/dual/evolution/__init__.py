"""The dual solved by evolution, by a swarm, and by a memetic algorithm.

It may import `spotsvm.solvers.dual.problem` and `.exact`.
"""
