"""Machines on our solvers of the dual: exact, evolutionary, swarm and memetic, and fronts of margin against error.

It may import common and `spotsvm.solvers`.
"""
