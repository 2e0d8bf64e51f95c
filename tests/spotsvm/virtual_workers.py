"""Simulated workers of the studies, for the tests of the loop."""

from studies.common.virtual_workers import VirtualWorkers

__all__ = ["VirtualWorkers"]
