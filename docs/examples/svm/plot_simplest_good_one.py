"""
The one-standard-error rule
===========================

``refit="1se"`` takes the smallest C, and then the smallest gamma, whose score is within one standard error of the best: the
simplest machine that cannot be told from the best one. On average it costs about a third of a point of accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

X, y = make_moons(150, noise=0.3, random_state=0)
space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**5)}
chosen = {
    "best": SpotSearchCV(SVC(), space, n_iter=20, random_state=0).fit(X, y),
    "simplest within one standard error": SpotSearchCV(SVC(), space, n_iter=20, refit="1se", random_state=0).fit(X, y),
}

# %%
# The lines are the boundaries and, dashed, the margins of the two machines.

grid = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.6, 2.1, 200))
places = np.column_stack([axis.ravel() for axis in grid])
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, (name, search) in zip(panels, chosen.items(), strict=True):
    decision = search.best_estimator_.decision_function(places).reshape(grid[0].shape)
    ax.contour(*grid, decision, levels=[-1, 0, 1], colors="black", linestyles=["--", "-", "--"], linewidths=[1, 2, 1])
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=14)
    C, gamma = search.best_params_["C"], search.best_params_["gamma"]
    ax.set_title(f"{name}\nC={C:.3g}, gamma={gamma:.3g}: {search.best_estimator_.n_support_.sum()} support vectors")
plt.show()
