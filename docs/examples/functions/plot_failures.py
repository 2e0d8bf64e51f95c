"""
A function that fails
=====================

An objective that raises an error, or returns a value that is not finite,
makes a failed trial with its reason. The search goes on, and learns where the
function fails.
"""

import matplotlib.pyplot as plt
from scipy.stats import uniform

from spotsvm import Study


def simulation(p):
    if p["x"] ** 2 + p["y"] ** 2 > 1.2:
        raise ArithmeticError("the simulation diverges")
    return (p["x"] - 0.9) ** 2 + (p["y"] - 0.4) ** 2


# %%
# Three quarters of the square fail. Random search fails as often as that.

space = {"x": uniform(0, 2), "y": uniform(0, 2)}
studies = {name: Study(space, name, seed=0) for name in ("kriging", "random")}
for name, study in studies.items():
    study.run(simulation, n_trials=40, max_failures=None)
    failed = study.status().n_failed
    print(f"{name}: {failed} of 40 failed, best value {study.best_value:.4f}")
print([t.reason for t in studies["kriging"].trials if t.state == "failed"][0])

# %%
# Crosses are failed trials. The Kriging search learns from the first of them,
# and then tries few points beyond the border, although the best value, at the
# star, is close to it.

figure, panels = plt.subplots(
    1, 2, figsize=(9, 4.6), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, study) in zip(panels, studies.items(), strict=True):
    frame = study.frame()
    bad = frame["state"] == "failed"
    x, y = frame["param_x"], frame["param_y"]
    works = plt.Circle((0, 0), 1.2**0.5, color="tab:green", alpha=0.12)
    ax.add_patch(works)
    works.set_label("where the function works")
    ax.plot(x[bad], y[bad], "x", color="tab:red", label="failed")
    points = ax.scatter(
        x[~bad], y[~bad], c=frame["number"][~bad], s=24, label="succeeded"
    )
    ax.plot(0.9, 0.4, "*", ms=14, mfc="none", mec="black", label="optimum")
    ax.set(xlabel="x", title=f"{name}: {bad.sum()} of 40 trials fail")
    ax.set(xlim=(-0.1, 2.1), ylim=(-0.1, 2.1), aspect="equal")
panels[0].set_ylabel("y")
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=4)
figure.colorbar(points, ax=panels, label="number of the trial")
plt.show()

# %%
# The Kriging search has less than half as many failures as random search, and
# it comes closer to the optimum.

n_failed = {name: s.status().n_failed for name, s in studies.items()}
assert n_failed["kriging"] < n_failed["random"] / 2
assert studies["kriging"].best_value < studies["random"].best_value
