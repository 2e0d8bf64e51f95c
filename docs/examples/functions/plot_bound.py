"""
A bound on a further number
===========================

An objective may return further numbers beside its value, and ``constraints`` may bound one of them. The search learns where the
bound holds, and recommends the best trial that holds it: here, a machine with at most 60 support vectors.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import Study

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
space = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-15, 2**3)}


def error_and_size(params):
    scores = cross_validate(SVC(**params), X, y, cv=5, return_estimator=True)
    size = sum(machine.n_support_.sum() for machine in scores["estimator"]) / 5
    return {"value": 1 - scores["test_score"].mean(), "n_support": size}


free = Study(space, seed=0).run(error_and_size, n_trials=40)
bound = Study(space, constraints={"n_support": ("<=", 60)}, seed=0).run(error_and_size, n_trials=40)

# %%
# With the bound, trials are spent where it holds.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for ax, study, title in zip(panels, [free, bound], ["without a bound", "at most 60 support vectors"], strict=True):
    frame = study.frame()
    ax.scatter(frame["extra_n_support"], frame["value"], c=frame["number"], s=24)
    best = study.best_trial
    size = best.extra["n_support"]
    ax.plot(size, best.value, "*", ms=16, mfc="none", mec="tab:red", mew=1.5, label=f"best: {best.value:.3f}, {size:.0f} vectors")
    ax.axvline(60, color="0.5", ls=":", label="the bound" if study is bound else None)
    ax.set(xscale="log", yscale="log", xlabel="support vectors", title=title)
    ax.set_xticks([30, 60, 120, 240, 480], [30, 60, 120, 240, 480], minor=False)
    ax.minorticks_off()
    ax.legend()
panels[0].set_ylabel("cross-validated error")
plt.show()
