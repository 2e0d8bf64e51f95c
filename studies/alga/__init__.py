"""The alternating genetic algorithm (Kawulok et al. 2017), compared with grid search and tuned SVMs."""
