"""
Several workers
===============

``n_jobs`` keeps as many trials under way at once: a worker that is free gets the next one immediately, whatever the others do.
``executor`` takes an executor, a Dask client, or the name of a backend of joblib.
"""

import time

import matplotlib.pyplot as plt
from scipy.stats import uniform

from spotsvm import Study


def slow(p):
    began = time.time()
    time.sleep(0.1 + 0.3 * p["x"])  # seconds that depend on the parameters
    return {"value": (p["x"] - 0.3) ** 2, "began": began, "ended": time.time()}


study = Study({"x": uniform(0, 1)}, "random", seed=0)
study.run(slow, n_trials=20, n_jobs=2, executor="threading")

# %%
# The trials over time, each on the first line that was free: two are under way until the last ones.

frame = study.frame().sort_values("extra_began")
start = frame["extra_began"].min()
free = [0.0, 0.0]
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for _, trial in frame.iterrows():
    begin, end = trial["extra_began"] - start, trial["extra_ended"] - start
    line = min(range(2), key=lambda k: free[k])
    free[line] = end
    ax.barh(line, end - begin, left=begin, color=f"C{line}", edgecolor="white")
    ax.text((begin + end) / 2, line, f"{trial['number']:.0f}", ha="center", va="center", fontsize=8, color="white")
ax.set_yticks([0, 1], ["worker 1", "worker 2"])
ax.set(xlabel="seconds since the start", title="Which trial was evaluated when")
plt.show()
