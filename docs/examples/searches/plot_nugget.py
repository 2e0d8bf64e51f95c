"""
Kriging with and without a nugget
=================================

:class:`~spotsvm.Kriging` estimates the noise of the values as a nugget. Without one it goes through every value, and sees
structure where there is noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from spotsvm import Kriging

rng = np.random.default_rng(1)
x = np.sort(rng.random(25))[:, None]
y = np.sin(6 * x[:, 0]) + 0.25 * rng.normal(size=25)

models = {
    "with a nugget": Kriging(random_state=0).fit(x, y),
    "interpolating": Kriging(nugget=None, random_state=0).fit(x, y),
}
for name, model in models.items():
    print(f"{name}: log likelihood {model.log_likelihood_:.1f}, nugget {model.nugget_:.3g}")

# %%
grid = np.linspace(0, 1, 400)
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (name, model) in zip(panels, models.items(), strict=True):
    mean, error = model.predict(grid[:, None], return_std=True)
    ax.plot(grid, np.sin(6 * grid), color="black", lw=1, label="true function")
    ax.fill_between(grid, mean - 2 * error, mean + 2 * error, color="tab:blue", alpha=0.15, label="two standard errors")
    ax.plot(grid, mean, color="tab:blue", label="prediction")
    ax.plot(x[:, 0], y, "o", ms=4, color="tab:orange", label="noisy values")
    ax.set(xlabel="x", title=f"{name}: RMSE {np.sqrt(np.mean((mean - np.sin(6 * grid)) ** 2)):.2f}", ylim=(-2.2, 2.2))
panels[1].legend(fontsize=8)
plt.show()
