"""
Two objectives
==============

With several objectives a :class:`~spotsvm.Study` looks for the front: the
trials that no other trial beats in all of them. Here the error of an SVM is
traded against its number of support vectors, and so against its time of
prediction.
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


def error_and_size(params):
    scores = cross_validate(SVC(**params), X, y, cv=5, return_estimator=True)
    size = sum(svm.n_support_.sum() for svm in scores["estimator"]) / 5
    error = 1 - scores["test_score"].mean()
    return {"values": {"error": error, "support vectors": size}}


# %%
# The search of ParEGO (Knowles 2006) and random search, with 50 trials each.

space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
directions = {"error": "minimize", "support vectors": "minimize"}
fronts = {}
for search in ("parego", "random"):
    study = Study(space, search, direction=directions, seed=0)
    study.run(error_and_size, n_trials=50)
    fronts[search] = sorted(study.pareto(), key=lambda trial: trial.values)
for trial in fronts["parego"]:
    error, vectors = trial.values
    C, gamma = trial.params["C"], trial.params["gamma"]
    print(f"error {error:.3f}, {vectors:.1f} vectors", end=": ")
    print(f"C={C:.3g}, gamma={gamma:.3g}")

# %%
# Each step of a line is a compromise between the two. The cross is the
# estimator with its default parameters, far from both fronts.

default = error_and_size({})["values"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for search, front in fronts.items():
    errors, sizes = zip(*(trial.values for trial in front), strict=True)
    ax.step(errors, sizes, "o-", where="post", ms=5, label=search)
ax.plot(*default.values(), "kx", ms=9, label="default parameters")
ax.set(xlabel="cross-validated error", ylabel="support vectors (mean)")
ax.set_title("Fronts after 50 trials")
ax.legend()
plt.show()

# %%
# Trials of ParEGO match or beat more than half of the front of random search
# in error and size. Random search matches or beats less than half of ParEGO's
# front.


def surpassed(front, other):
    """Return the share of a front that another one is better than."""
    better = [
        any(
            all(a <= b for a, b in zip(u.values, t.values, strict=True))
            for u in other
        )
        for t in front
    ]
    return sum(better) / len(better)


of_random = surpassed(fronts["random"], fronts["parego"])
of_parego = surpassed(fronts["parego"], fronts["random"])
print(f"surpassed: {of_random:.0%} of random, {of_parego:.0%} of parego")
assert of_random > 0.5 > of_parego
