"""Priors of the optimum: the gain of a good prior, and the loss by a wrong prior."""
