"""
Kriging with and without a nugget
=================================

:class:`~spotsvm.Kriging` estimates the noise of the values as a nugget.
Without one it goes through every value, and sees structure where there is
noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from spotsvm import Kriging

rng = np.random.default_rng(1)
x = np.sort(rng.random(25))[:, None]
y = np.sin(6 * x[:, 0]) + 0.25 * rng.normal(size=25)

# %%
# The third model is scikit-learn's Gaussian process, whose WhiteKernel is a
# nugget as well. The error is that of the prediction, against the true
# function.

sklearn_kernel = 1.0 * RBF(0.2) + WhiteKernel(0.1)
models = {
    "with a nugget": Kriging(random_state=0),
    "interpolating": Kriging(nugget=None, random_state=0),
    "scikit-learn": GaussianProcessRegressor(sklearn_kernel),
}
grid = np.linspace(0, 1, 400)
error = {}
for name, model in models.items():
    mean = model.fit(x, y).predict(grid[:, None])
    error[name] = np.sqrt(np.mean((mean - np.sin(6 * grid)) ** 2))
    print(f"{name}: RMSE {error[name]:.2f}")

# %%
# The prediction with a nugget passes between the values. The interpolating one
# passes through them, and swings wildly in between.

figure, panels = plt.subplots(
    1, 2, figsize=(9, 4.2), sharey=True, layout="constrained"
)
for ax, name in zip(panels, ["with a nugget", "interpolating"], strict=True):
    mean, std = models[name].predict(grid[:, None], return_std=True)
    ax.plot(grid, np.sin(6 * grid), color="black", lw=1, label="truth")
    low, high = mean - 2 * std, mean + 2 * std
    band = ax.fill_between(grid, low, high, color="tab:blue", alpha=0.15)
    band.set_label("two standard errors")
    ax.plot(grid, mean, color="tab:blue", label="prediction")
    ax.plot(x, y, "o", ms=4, color="tab:orange", label="noisy values")
    ax.set(xlabel="x", title=name, ylim=(-2.2, 2.2))
panels[0].set_ylabel("y")
figure.legend(
    *ax.get_legend_handles_labels(), loc="outside lower center", ncols=4
)
plt.show()

# %%
# The nugget reduces the error to less than a third. The error of
# scikit-learn's process with a WhiteKernel differs by less than 0.05: the
# library gains nothing over it here.

assert error["with a nugget"] < error["interpolating"] / 3
assert abs(error["with a nugget"] - error["scikit-learn"]) < 0.05
assert models["interpolating"].nugget_ == 0
