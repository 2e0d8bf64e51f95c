"""
A kernel of your own
====================

A machine takes any function of two arrays as its kernel, and a :class:`~spotsvm.Study` tunes what the function needs. Here it is
periodic, and its period is found from the data, so that the machine predicts beyond them.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.model_selection import KFold, cross_val_score

from spotsvm import ExactSVR, Study

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 45, size=120))


def signal(t):
    return np.sin(2 * np.pi * t / 8.3) + 0.5 * np.cos(4 * np.pi * t / 8.3)


y = signal(t) + 0.2 * rng.normal(size=120)


# %%
# The kernel: 1 for times that are whole periods apart.


def periodic(X, Z, gamma, period):
    return np.exp(-gamma * np.sin(np.pi * (X - Z.T) / period) ** 2)


def machine(params):
    return ExactSVR(C=params["C"], kernel=partial(periodic, gamma=params["gamma"], period=params["period"]))


folds = KFold(5, shuffle=True, random_state=0)
space = {"C": loguniform(0.1, 100), "gamma": loguniform(0.1, 10), "period": uniform(4, 8)}
study = Study(space, seed=0, noise=False)
study.run(lambda params: -cross_val_score(machine(params), t[:, None], y, cv=folds).mean(), n_trials=40)
print(f"period found: {study.best_params['period']:.2f}; of the simulation: 8.3")

# %%
grid = np.linspace(0, 80, 600)
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.plot(t, y, ".", color="0.6", label="data")
ax.plot(grid, signal(grid), color="black", lw=1, label="signal")
tuned, gaussian = machine(study.best_params).fit(t[:, None], y), ExactSVR(gamma=0.3).fit(t[:, None], y)
ax.plot(grid, tuned.predict(grid[:, None]), color="tab:blue", label="periodic kernel, tuned")
ax.plot(grid, gaussian.predict(grid[:, None]), color="tab:orange", label="Gaussian kernel")
ax.axvline(45, color="0.5", ls=":")
ax.set(xlabel="time", ylim=(-2.4, 3.2))
ax.legend(ncols=4, fontsize=8, loc="upper center")
plt.show()
