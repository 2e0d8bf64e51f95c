"""
A noisy function
================

A :class:`~spotsvm.Study` evaluates one point twice to see whether the function is noisy. If it is, the best value seen is partly
luck, and ``recommend()`` gives the configuration with the best prediction instead.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from spotsvm import Kriging, Study


def true_loss(x):
    return np.sin(3 * x) + 0.3 * (x - 2) ** 2


rng = np.random.default_rng(4)
study = Study({"x": uniform(0, 4)}, seed=0)
study.run(lambda p: true_loss(p["x"]) + 0.4 * rng.normal(), n_trials=40)

# %%
# What is predicted of the recommended place is about true. The best value seen is far below what the function can reach.

found = study.recommend()
for name, x, value in [
    ("recommended", found.params["x"], found.value),
    ("best value seen", found.best_seen_params["x"], found.best_seen_value),
]:
    print(f"{name}: x = {x:.2f}, expected {value:.2f}, true loss {true_loss(x):.2f}")

# %%
# The same Kriging model, drawn: its nugget is the noise, so that it does not follow each value.

frame = study.frame()
model = Kriging(random_state=0).fit(frame[["param_x"]].to_numpy(), frame["value"].to_numpy())
x = np.linspace(0, 4, 200)
mean, error = model.predict(x[:, None], return_std=True)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, true_loss(x), color="black", label="true loss")
ax.plot(frame["param_x"], frame["value"], "o", ms=4, color="0.6", label="trials")
ax.plot(x, mean, color="tab:blue", label="Kriging with a nugget")
ax.fill_between(x, mean - 2 * error, mean + 2 * error, color="tab:blue", alpha=0.15, label="two standard errors")
ax.axvline(found.params["x"], color="tab:blue", ls=":", label="recommended")
ax.axvline(found.best_seen_params["x"], color="tab:orange", ls="--", label="best value seen")
ax.set(xlabel="x", ylabel="loss")
ax.legend(fontsize=8, ncols=2)
plt.show()
