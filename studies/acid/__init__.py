"""The acid problem (Koch et al. 2011): many parameters of a spectroscopy pipeline, tuned together."""
