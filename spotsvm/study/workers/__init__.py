"""Evaluate trials in this process, in worker processes that can be killed, on an executor, or on a Dask cluster.

It may import trials, space, and what is below them.
"""
