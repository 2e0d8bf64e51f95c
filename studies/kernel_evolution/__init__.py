"""Kernels evolved by genetic programming (Koch et al. 2011), and the causality of the variation operators."""
