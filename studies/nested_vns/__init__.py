"""Nested variable neighbourhood search (Carrizosa et al. 2014): Tables 3 to 5 of the paper."""
