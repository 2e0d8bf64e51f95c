"""
A function that fails
=====================

An objective that raises an error, or returns a value that is not finite, makes a failed trial with its reason. The search goes
on, and learns where it fails.
"""

import matplotlib.pyplot as plt
from scipy.stats import uniform

from spotsvm import Study


def simulation(p):
    if p["x"] ** 2 + p["y"] ** 2 > 1.2:
        raise ArithmeticError("the simulation diverges")
    return (p["x"] - 0.9) ** 2 + (p["y"] - 0.4) ** 2


space = {"x": uniform(0, 2), "y": uniform(0, 2)}
study = Study(space, seed=0).run(simulation, n_trials=40, max_failures=None)
print(study.status().n_failed, "failed:", next(trial.reason for trial in study.trials if trial.state == "failed"))

# %%
# Three quarters of the square fail, and one trial in five: the search soon keeps to where it works, up to the border.

frame = study.frame()
failed = frame["state"] == "failed"
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.add_patch(plt.Circle((0, 0), 1.2**0.5, color="tab:green", alpha=0.12, label="where it works"))
ax.plot(frame["param_x"][failed], frame["param_y"][failed], "x", color="tab:red", label="failed")
points = ax.scatter(frame["param_x"][~failed], frame["param_y"][~failed], c=frame["number"][~failed], s=24, label="succeeded")
for _, row in frame[failed].iterrows():
    ax.annotate(f"{row['number']:.0f}", (row["param_x"], row["param_y"]), fontsize=7, xytext=(3, 3), textcoords="offset points")
ax.set(xlabel="x", ylabel="y", xlim=(-0.1, 2.1), ylim=(-0.1, 2.1), title="Failed trials with their numbers")
ax.legend(loc="upper right", fontsize=8)
figure.colorbar(points, label="number of the trial")
plt.show()
