"""
Several workers
===============

``n_jobs`` keeps as many trials under way at once: a worker that is free gets
the next one immediately, whatever the others do. ``executor`` takes an
executor, a Dask client, or the name of a backend of joblib.
"""

import time

import matplotlib.pyplot as plt
from scipy.stats import uniform

from spotsvm import Study


def slow(p):
    began = time.time()
    time.sleep(0.1 + 0.3 * p["x"])  # seconds that depend on the parameters
    value = (p["x"] - 0.3) ** 2
    return {"value": value, "began": began, "ended": time.time()}


# %%
# Twenty trials with one worker and with two, and the seconds that they take.

frames, seconds = {}, {}
for n_jobs in (1, 2):
    study = Study({"x": uniform(0, 1)}, "random", seed=0)
    began = time.perf_counter()
    study.run(slow, n_trials=20, n_jobs=n_jobs, executor="threading")
    seconds[n_jobs] = time.perf_counter() - began
    frames[n_jobs] = study.frame().sort_values("extra_began")
    print(f"n_jobs={n_jobs}: {seconds[n_jobs]:.1f} s")

# %%
# The trials of the run with two workers over time, with their numbers, each on
# the first line that was free: two are under way until the last ones.

frame = frames[2]
start = frame["extra_began"].min()
free = [0.0, 0.0]
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for _, trial in frame.iterrows():
    begin, end = trial["extra_began"] - start, trial["extra_ended"] - start
    line = min(range(2), key=lambda k: free[k])
    free[line] = end
    ax.barh(line, end - begin, left=begin, color=f"C{line}", ec="white")
    place = (begin + end) / 2, line
    text = {"ha": "center", "va": "center", "fontsize": 8, "color": "white"}
    ax.text(*place, f"{trial['number']:.0f}", **text)
ax.set_yticks([0, 1], ["worker 1", "worker 2"])
ax.set(xlabel="seconds since the start")
plt.show()

# %%
# A random search has the same trials with one worker and with two, and each
# trial starts before the one before the last ends: no worker waits for others.

values = [frame.sort_values("number")["value"] for frame in frames.values()]
assert (values[0].to_numpy() == values[1].to_numpy()).all()
overlapping = frame["extra_began"][1:].values < frame["extra_ended"][:-1].max()
assert overlapping.all()
