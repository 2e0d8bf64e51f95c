"""
A bound on a further number
===========================

An objective may return further numbers with its value, and ``constraints``
may bound one of them. The search learns where the bound holds, and recommends
the best trial that satisfies it: here, an SVM with at most 50 support
vectors.
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
    size = sum(svm.n_support_.sum() for svm in scores["estimator"]) / 5
    return {"value": 1 - scores["test_score"].mean(), "n_support": size}


# %%
# Three searches of 40 trials. Only the last one has the bound. For the
# others, the best of the trials counts that satisfy it by chance.

bound = {"n_support": ("<=", 50)}
studies = {
    "random search": Study(space, "random", seed=0),
    "Kriging": Study(space, seed=0),
    "Kriging with the bound": Study(space, constraints=bound, seed=0),
}
best, held = {}, {}
default = error_and_size({})
print(f"defaults: {default['value']:.4f}, {default['n_support']:.0f} vectors")
for name, study in studies.items():
    frame = study.run(error_and_size, n_trials=40).frame()
    small = frame[frame["extra_n_support"] <= 50]
    best[name] = small.loc[small["value"].idxmin()]
    held[name] = len(small)
    print(f"{name}: {best[name]['value']:.4f} within the bound")

# %%
# Each dot is a trial, and the star is the best of those on the left of the
# line. With the bound, most trials are spent there.

figure, panels = plt.subplots(
    1, 3, figsize=(10, 4), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, study) in zip(panels, studies.items(), strict=True):
    frame = study.frame()
    size = frame["extra_n_support"]
    points = ax.scatter(size, frame["value"], c=frame["number"], s=20)
    ax.axvline(50, color="0.5", ls=":")
    star = best[name]["extra_n_support"], best[name]["value"]
    ax.plot(*star, "*", ms=16, mfc="none", mec="tab:red", mew=1.5)
    ax.set(xscale="log", yscale="log", xlabel="support vectors (mean)")
    ax.set_title(f"{name}: {held[name]} of 40\nhold it, best {star[1]:.3f}")
    ax.set_xticks([25, 50, 100, 200, 400], [25, 50, 100, 200, 400])
    ax.set_yticks([0.02, 0.05, 0.1, 0.2], [0.02, 0.05, 0.1, 0.2])
    ax.minorticks_off()
panels[0].set_ylabel("cross-validated error")
figure.colorbar(points, ax=panels, label="number of the trial")
plt.show()

# %%
# The search with the bound has more trials that satisfy it than the others,
# and the best of these is no worse than theirs.

bounded = studies["Kriging with the bound"]
assert bounded.best_trial.extra["n_support"] <= 50
assert held.pop("Kriging with the bound") > max(held.values())
assert bounded.best_value <= min(row["value"] for row in best.values())
