"""Machines on our solvers of the dual: exact, evolutionary, swarm and memetic.

It may import common and `spotsvm.solvers`.
"""
