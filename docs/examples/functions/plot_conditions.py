"""
Conditions on the parameters
============================

``constraints`` takes functions of the parameters. A configuration for which one of them does not hold is never evaluated.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from spotsvm import Study

space = {"layers": uniform(0, 10), "width": uniform(0, 10)}


def small_enough(p):
    return p["layers"] * p["width"] <= 20


def loss(p):
    return (p["layers"] - 6) ** 2 + (p["width"] - 5) ** 2


study = Study(space, constraints=[small_enough], seed=0).run(loss, n_trials=30)

# %%
# The best place without the condition is the cross. The search ends at the best place on its border.

frame = study.frame()
layers, width = np.meshgrid(np.linspace(0, 10, 200), np.linspace(0, 10, 200))
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.contour(layers, width, (layers - 6) ** 2 + (width - 5) ** 2, levels=12, colors="0.7", linewidths=0.8)
ax.contourf(layers, width, layers * width, levels=[20, 100], colors="tab:red", alpha=0.2)
ax.text(7.2, 8.3, "not allowed", color="tab:red")
points = ax.scatter(frame["param_layers"], frame["param_width"], c=frame["number"], s=24, label="trials")
ax.plot(6, 5, "x", ms=10, color="black", label="best without the condition")
best = study.best_params
ax.plot(
    best["layers"], best["width"], "*", ms=16, mfc="none", mec="tab:red", mew=1.5, label=f"best found: {study.best_value:.2f}"
)
ax.set(xlabel="layers", ylabel="width")
ax.legend(loc="lower left", fontsize=8)
figure.colorbar(points, label="number of the trial")
plt.show()
