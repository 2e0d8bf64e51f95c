"""Experiments that can be run, reported on and exported: `spotsvm study NAME`."""
