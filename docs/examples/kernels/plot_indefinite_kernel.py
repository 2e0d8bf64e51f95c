"""
A kernel that is not positive semidefinite
==========================================

With such a kernel the dual problem of an SVM has several local optima. The
evolution of :class:`~spotsvm.EvoSVC`, with exact local steps, starts in many
places and keeps the best. Does the better optimum predict better?
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import EvoSVC, solve_dual
from spotsvm.kernels import Kernel, gram_matrix

X, y = load_breast_cancer(return_X_y=True)
X, y = scale(X), np.where(y == 1, 1.0, -1.0)
X, y, X_new, y_new = X[:200], y[:200], X[200:], y[200:]
sigmoid = {"kernel": "sigmoid", "gamma": 0.3, "coef0": -1.0}

# %%
# The sigmoid kernel tanh(0.3 <x, z> - 1) has many negative eigenvalues on
# these rows. Accuracies on 369 new rows, and the seconds of the fits:

K = gram_matrix(Kernel("sigmoid", gamma=0.3, coef0=-1.0), X)
eigenvalues = np.linalg.eigvalsh(K)
svms = {
    "EvoSVC, sigmoid": EvoSVC(**sigmoid, bias=True, random_state=0),
    "SVC, sigmoid": SVC(**sigmoid),
    "SVC, Gaussian, defaults": SVC(),
}
accuracy = {}
for name, svm in svms.items():
    began = time.perf_counter()
    svm.fit(X, y)
    seconds = time.perf_counter() - began
    accuracy[name] = svm.score(X_new, y_new)
    print(f"{name}: {accuracy[name]:.3f} after {seconds:.2f} s")

# %%
# On the right, how far each method of the dual problem ends below the best
# objective of all. The first five are from Mierswa 2006, "two_stage" as its
# proposal for later work; the last one adds exact local steps.

methods = ["gaussian", "switching", "hybrid", "two_stage", "swarm", "memetic"]
reached = {
    method: np.array(
        [
            solve_dual(K, y, 1.0, method, random_state=seed).objective
            for seed in range(5)
        ]
    )
    for method in methods
}
best = max(values.max() for values in reached.values())

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
panels[0].plot(np.arange(1, len(K) + 1), eigenvalues[::-1], ".", ms=3)
n_negative = np.sum(eigenvalues < -1e-9)
panels[0].set(yscale="symlog", xlabel="rank", ylabel="eigenvalue")
panels[0].axhline(0, color="0.5", lw=0.8)
panels[0].set_title(f"{n_negative} of {len(K)} eigenvalues are negative")
for k, values in enumerate(reached.values()):
    panels[1].plot(np.full(5, k), best - values, "o", mfc="none")
panels[1].set_xticks(range(6), methods, rotation=20)
panels[1].set(yscale="symlog", ylim=(-0.5, 1e3))
panels[1].set(ylabel="dual objective below the best", title="five seeds each")
plt.show()

# %%
# The local steps reach the best objective from each seed. That gains no
# accuracy beyond a point: scikit-learn's SVC with the same kernel is at most a
# point worse, and the Gaussian kernel, which is positive definite, more than
# two points better than both. Use EvoSVC where the problem gives the kernel,
# and the optimum itself matters.

assert np.ptp(reached["memetic"]) < 1e-3 * best
assert max(reached[m].max() for m in methods[:4]) < best - 10
assert accuracy["SVC, sigmoid"] > accuracy["EvoSVC, sigmoid"] - 0.01
gaussian = accuracy.pop("SVC, Gaussian, defaults")
assert gaussian > max(accuracy.values()) + 0.02
