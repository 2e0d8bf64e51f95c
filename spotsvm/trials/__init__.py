"""Trials: outcomes, objectives, tables, the Pareto front, and the recommendation.

It may import space and common.
"""
