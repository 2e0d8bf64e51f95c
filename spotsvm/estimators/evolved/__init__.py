"""Kernels by genetic programming: what an individual is worth, and the machine that comes of the best one."""
