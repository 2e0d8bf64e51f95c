"""
A machine on few rows
=====================

:class:`~spotsvm.ReducedSVC` evolves a small training set together with C and gamma. Its machine has few support vectors, so that
its predictions are fast.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from spotsvm import ReducedSVC

rng = np.random.default_rng(0)
X = rng.uniform(0, 4, size=(4000, 2))
y = (np.floor(X).sum(axis=1) % 2).astype(int)  # a chessboard of 4 x 4 fields
X, X_new, y, y_new = X[:2000], X[2000:], y[:2000], y[2000:]

reduced = ReducedSVC(n_per_class=32, random_state=0).fit(X, y)
whole = SVC(C=100.0, gamma=10.0).fit(X, y)

# %%
# The selected rows lie along the borders of the fields.

grid = np.meshgrid(np.linspace(0, 4, 200), np.linspace(0, 4, 200))
places = np.column_stack([axis.ravel() for axis in grid])
figure, panels = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
for ax, machine, title in zip(panels, [reduced, whole], ["64 selected rows", "all 2000 rows"], strict=True):
    ax.contourf(*grid, machine.predict(places).reshape(grid[0].shape), levels=1, cmap="coolwarm", alpha=0.35)
    vectors = X[machine.support_]
    ax.scatter(*vectors.T, c=y[machine.support_], cmap="coolwarm", s=14, edgecolor="black", linewidth=0.5)
    ax.set_title(f"{title}: {len(vectors)} support vectors,\naccuracy {machine.score(X_new, y_new):.3f} on new rows")
    ax.set_aspect("equal")
plt.show()
