"""
Conditions on the parameters
============================

``constraints`` takes functions of the parameters. A configuration for which
one of them does not hold is never evaluated.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import uniform

from spotsvm import Study

space = {"layers": uniform(0, 10), "width": uniform(0, 10)}


def small_enough(p):
    return p["layers"] * p["width"] <= 20


def loss(p):
    return (p["layers"] - 6) ** 2 + (p["width"] - 5) ** 2


# %%
# The Kriging search and random search, with 30 trials each.

study = Study(space, constraints=[small_enough], seed=0).run(loss, n_trials=30)
chance = Study(space, "random", constraints=[small_enough], seed=0)
chance.run(loss, n_trials=30)

# the lowest loss that is allowed lies on the border, width = 20 / layers
best = minimize_scalar(
    lambda layers: loss({"layers": layers, "width": 20 / layers}),
    bounds=(2, 10),
    method="bounded",
)
print(f"lowest loss that is allowed: {best.fun:.3f}")
print(f"Kriging: {study.best_value:.3f}; random: {chance.best_value:.3f}")

# %%
# On a line the loss is the same. The cross is the best place without the
# condition; the search ends at the best place on the border.

layers, width = np.meshgrid(np.linspace(0, 10, 201), np.linspace(0, 10, 201))
losses = (layers - 6) ** 2 + (width - 5) ** 2
frame = study.frame()
figure, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
ax.contour(layers, width, losses, levels=12, colors="0.7", linewidths=0.8)
forbidden = layers * width
ax.contourf(
    layers, width, forbidden, levels=[20, 100], colors="tab:red", alpha=0.2
)
ax.text(7.2, 8.3, "not allowed", color="tab:red")
x, y = frame["param_layers"], frame["param_width"]
points = ax.scatter(
    x, y, c=frame["number"], s=24, label="trials", clip_on=False, zorder=3
)
ax.plot(6, 5, "x", ms=10, color="black", label="best without the condition")
star = study.best_params["layers"], study.best_params["width"]
ax.plot(*star, "*", ms=16, mfc="none", mec="tab:red", label="best found")
ax.set(xlabel="layers", ylabel="width", aspect="equal")
figure.legend(loc="outside lower center", ncols=2)
figure.colorbar(points, label="number of the trial")
plt.show()

# %%
# No trial breaks the condition, and the best one is within 0.05 of the lowest
# loss that is allowed; that of random search is not.

assert (x * y <= 20).all()
assert best.fun - 1e-9 <= study.best_value < best.fun + 0.05
assert chance.best_value > best.fun + 0.05
