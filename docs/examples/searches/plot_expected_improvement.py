"""
Where to look next under noise
==============================

Under noise a model with a nugget is uncertain even where it has been, and expected improvement may ask for the same point for
ever. Forrester, Sobester and Keane (2008) reinterpolate: a second model goes through the predictions of the first.
"""

import matplotlib.pyplot as plt
import numpy as np

from spotsvm import Kriging
from spotsvm.acquisition import expected_improvement

rng = np.random.default_rng(3)
x = np.array([0.02, 0.15, 0.3, 0.42, 0.5, 0.55, 0.6, 0.62, 0.75, 0.98])[:, None]
y = (6 * x[:, 0] - 2) ** 2 * np.sin(12 * x[:, 0] - 4) + 1.5 * rng.normal(size=len(x))

noisy = Kriging(random_state=0).fit(x, y)
models = {"with a nugget": noisy, "reinterpolated": noisy.reinterpolate()}

# %%
# Both models predict the same. The errors of the second one vanish at the points, and so does its expected improvement.

grid = np.linspace(0, 1, 500)
figure, panels = plt.subplots(2, 2, figsize=(9, 5), sharex=True, sharey="row", height_ratios=[2, 1], layout="constrained")
for (above, below), (name, model) in zip(panels.T, models.items(), strict=True):
    mean, error = model.predict(grid[:, None], return_std=True)
    improvement = expected_improvement(mean, error, best=model.predict(x).min())
    above.fill_between(grid, mean - 2 * error, mean + 2 * error, color="tab:blue", alpha=0.15, label="two standard errors")
    above.plot(grid, mean, color="tab:blue", label="prediction")
    above.plot(x[:, 0], y, "o", ms=4, color="tab:orange", label="noisy values")
    above.set_title(name)
    below.fill_between(grid, improvement, color="tab:green", alpha=0.4)
    below.plot(x[:, 0], np.zeros(len(x)), "|", color="tab:orange")
    below.axvline(grid[improvement.argmax()], color="tab:red", ls="--", label="next point")
    below.set_xlabel("x")
panels[0, 0].legend(fontsize=8)
panels[1, 0].set_ylabel("expected improvement")
panels[1, 0].legend(fontsize=8)
plt.show()
