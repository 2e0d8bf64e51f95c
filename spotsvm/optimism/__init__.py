"""How much of a tuned score is luck: nested resampling, fresh repeats, and the bias that the folds' own scores tell of."""
