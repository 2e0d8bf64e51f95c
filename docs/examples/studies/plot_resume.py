"""
Stop, and go on
===============

With ``path=`` each trial is on disk before the next one starts. After a crash the same call goes on, and the trials are the
ones that an undisturbed run makes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from scipy.stats import uniform

from spotsvm import Study, load_study

folder = tempfile.TemporaryDirectory()
record = Path(folder.name) / "run.db"
space = {"x": uniform(-5, 15), "y": uniform(0, 15)}
calls = 0


def objective(p):
    global calls
    calls += 1
    if calls == 20:
        raise KeyboardInterrupt  # as Ctrl-C does
    return (p["y"] - 0.13 * p["x"] ** 2 + 1.6 * p["x"] - 6) ** 2 + p["x"]


# %%
# The first run is interrupted in its twentieth trial.

try:
    with Study(space, seed=0, path=record) as study:
        study.run(objective, n_trials=40)
except KeyboardInterrupt:
    before = load_study(record)
    print(before.n_finished, "trials are on disk")

# %%
# The same lines again.

with Study(space, seed=0, path=record) as study:
    study.run(objective, n_trials=40)
    resumed = study.frame()
undisturbed = Study(space, seed=0).run(objective, n_trials=40).frame()
print("the same trials as without the interruption:", resumed["value"].equals(undisturbed["value"]))

# %%
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(undisturbed["number"], undisturbed["value"], "o", ms=9, mfc="none", color="0.5", label="undisturbed run")
first = resumed["number"] < before.n_finished
ax.plot(resumed["number"][first], resumed["value"][first], ".", color="tab:blue", label="before the interruption")
ax.plot(resumed["number"][~first], resumed["value"][~first], ".", color="tab:orange", label="after it")
ax.axvline(before.n_finished - 0.5, color="tab:red", ls=":")
ax.set(xlabel="number of the trial", ylabel="value", yscale="symlog")
ax.legend()
plt.show()
folder.cleanup()
