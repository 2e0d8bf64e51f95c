"""Conformal modification of the kernel (Williams et al. 2005): the toy problem, Mushroom, and further sets."""
