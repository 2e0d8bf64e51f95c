"""Pipelines of preprocessing and a support vector machine, each with the space in which to tune it."""
