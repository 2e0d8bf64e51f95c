"""
A kernel that is not positive semidefinite
==========================================

With such a kernel the dual problem of the machine has several local optima. The evolution of :class:`~spotsvm.EvoSVC`, with exact
local steps, starts in many places and keeps the best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from spotsvm import EvoSVC, solve_dual
from spotsvm.kernels import Kernel, gram_matrix

X, y = load_breast_cancer(return_X_y=True)
X, y = scale(X), np.where(y == 1, 1.0, -1.0)
X, y, X_new, y_new = X[:200], y[:200], X[200:], y[200:]

# %%
# The sigmoid kernel tanh(0.3 <x, z> - 1) has many negative eigenvalues on these rows.

K = gram_matrix(Kernel("sigmoid", gamma=0.3, coef0=-1.0), X)
eigenvalues = np.linalg.eigvalsh(K)

machine = EvoSVC(kernel="sigmoid", gamma=0.3, coef0=-1.0, bias=True, random_state=0).fit(X, y)
print(f"accuracy of the machine on {len(X_new)} new rows: {machine.score(X_new, y_new):.3f}")

# %%
# The objective that each method reaches from five seeds, as a difference from the best of all. The first four are the methods of
# Mierswa 2006; the last one adds exact local steps, and reaches the same best objective from each seed.

methods = ["gaussian", "switching", "hybrid", "swarm", "memetic"]
reached = {m: [solve_dual(K, y, 1.0, m, random_state=seed).objective for seed in range(5)] for m in methods}
best = max(max(values) for values in reached.values())

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
panels[0].plot(np.arange(1, len(K) + 1), eigenvalues[::-1], ".", ms=3)
panels[0].axhline(0, color="0.5", lw=0.8)
panels[0].set(
    yscale="symlog", xlabel="number", ylabel="eigenvalue", title=f"{np.sum(eigenvalues < -1e-9)} of {len(K)} are negative"
)
for k, method in enumerate(methods):
    panels[1].plot([k] * 5, [best - value for value in reached[method]], "o", mfc="none", color=f"C{k}")
panels[1].set_xticks(range(5), methods, rotation=20)
panels[1].set(yscale="symlog", ylabel="below the best objective", ylim=(-0.5, 1e3), title="Five seeds of each method")
plt.show()
