"""
Stop, and go on
===============

With ``path=`` each trial is on disk before the next one starts. After a crash
the same call goes on, and the trials are the ones that an undisturbed run
makes.
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
print(
    "the same trials as without the interruption:",
    resumed["value"].equals(undisturbed["value"]),
)

# %%
# The circles are the trials of the undisturbed run, and the dots those of the
# interrupted one. Each dot lies in its circle.

x, y = undisturbed["number"], undisturbed["value"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, y, "o", ms=9, mfc="none", color="0.5", label="undisturbed run")
first = resumed["number"] < before.n_finished
for rows, label in [(first, "before the interruption"), (~first, "after it")]:
    ax.plot(resumed["number"][rows], resumed["value"][rows], ".", label=label)
ax.set(xlabel="number of the trial", ylabel="value", yscale="symlog")
ax.axvline(before.n_finished - 0.5, color="tab:red", ls=":")
figure.legend(loc="outside lower center", ncols=2)
plt.show()
folder.cleanup()

# %%
# All finished trials were on disk, and the resumed run ends with the trials of
# the undisturbed one, to the last bit. The trial that was interrupted is
# evaluated again.

assert before.n_finished == 19
assert resumed["value"].equals(undisturbed["value"])
assert calls == 20 + 21 + 40
