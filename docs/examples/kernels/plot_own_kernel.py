"""
A kernel of your own
====================

An SVM takes any function of two arrays as its kernel, and a
:class:`~spotsvm.Study` tunes what the function needs. Here it is periodic, and
its period is found from the data, so that the SVM predicts beyond them.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.model_selection import KFold, cross_val_score

from spotsvm import ExactSVR, Study

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 45, size=120))[:, None]


def signal(t):
    t = np.ravel(t)
    return np.sin(2 * np.pi * t / 8.3) + 0.5 * np.cos(4 * np.pi * t / 8.3)


y = signal(t) + 0.2 * rng.normal(size=120)


# %%
# The kernel: 1 for times that are whole periods apart.


def periodic(X, Z, gamma, period):
    return np.exp(-gamma * np.sin(np.pi * (X - Z.T) / period) ** 2)


def periodic_svr(C, gamma, period):
    kernel = partial(periodic, gamma=gamma, period=period)
    return ExactSVR(C=C, kernel=kernel)


# %%
# Both kernels are tuned on the same folds: by the study with 40 trials, and
# the periodic one by random search as well.

folds = KFold(5, shuffle=True, random_state=0)
space = {"C": loguniform(0.1, 100), "gamma": loguniform(0.1, 10)}
periods = space | {"period": uniform(4, 8)}
later = np.linspace(45, 80, 300)[:, None]
tasks = {
    "periodic kernel": (periodic_svr, periods, "kriging"),
    "periodic, random search": (periodic_svr, periods, "random"),
    "Gaussian kernel": (ExactSVR, space, "kriging"),
}
models, error = {}, {}
for name, (make, ranges, search) in tasks.items():
    study = Study(ranges, search, direction="maximize", seed=0, noise=False)
    study.run(
        lambda p, make=make: cross_val_score(make(**p), t, y, cv=folds).mean(),
        n_trials=40,
    )
    models[name] = make(**study.best_params).fit(t, y)
    residuals = models[name].predict(later) - signal(later)
    error[name] = np.sqrt(np.mean(residuals**2))
    print(f"{name}: R2 {study.best_value:.3f} by cross-validation,", end=" ")
    print(f"RMSE {error[name]:.2f} after time 45")
    if name == "periodic kernel":
        period = study.best_params["period"]
print(f"period found: {period:.2f}; of the simulation: 8.3")

# %%
# Where there are data, the tuned kernels agree. Beyond them the Gaussian one
# falls back to a constant.

grid = np.linspace(0, 80, 600)[:, None]
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.plot(t, y, ".", color="0.6", label="data")
ax.plot(grid, signal(grid), color="black", lw=1, label="signal")
for name in ("periodic kernel", "Gaussian kernel"):
    ax.plot(grid, models[name].predict(grid), label=name)
ax.axvline(45, color="0.5", ls=":")
ax.set(xlabel="time", ylabel="y", ylim=(-2.2, 2.2))
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# The study finds the period, and random search with as many trials does not.
# After the last data the error of the periodic kernel is less than half of the
# error of the Gaussian one, which was tuned as well.

assert abs(period - 8.3) < 0.1
assert error["periodic kernel"] < error["Gaussian kernel"] / 2
assert error["periodic kernel"] < error["periodic, random search"] / 2
