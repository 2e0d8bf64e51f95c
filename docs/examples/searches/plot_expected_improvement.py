"""
Where to look next under noise
==============================

Under noise a model with a nugget is uncertain even at points that it has seen,
and expected improvement may ask for the same point forever. Forrester,
Sobester and Keane (2008) reinterpolate: a second model goes through the
predictions of the first.
"""

import matplotlib.pyplot as plt
import numpy as np

from spotsvm import Kriging
from spotsvm.acquisition import expected_improvement


def measure(x, rng):
    true = (6 * x - 2) ** 2 * np.sin(12 * x - 4)
    return true + 1.5 * rng.normal(size=np.shape(x))


def next_point(model, x):
    """Return the improvement that is expected over a grid, and its maximum."""
    mean, error = model.predict(grid[:, None], return_std=True)
    best = model.predict(x[:, None]).min()
    improvement = expected_improvement(mean, error, best=best)
    return improvement, grid[improvement.argmax()]


grid = np.linspace(0, 1, 501)

# %%
# Both models choose six points, one after the other, from the same ten values.

runs = {}
for name in ("with a nugget", "reinterpolated"):
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 10)
    y = measure(x, rng)
    for step in range(7):
        model = Kriging(random_state=0).fit(x[:, None], y)
        if name == "reinterpolated":
            model = model.reinterpolate()
        improvement, place = next_point(model, x)
        if step < 6:
            x, y = np.append(x, place), np.append(y, measure(place, rng))
    runs[name] = x, y, model, improvement
    print(f"{name}: {np.round(x[10:], 2)}")

# %%
# Above, the models after the six points, below the improvement that they
# expect of a next one. Both have points in the right valley. The first model
# expects most next to these points; the second one expects little there.

figure, panels = plt.subplots(
    *(2, 2),
    **{"figsize": (9, 5), "sharex": True, "sharey": "row"},
    height_ratios=[2, 1],
    layout="constrained",
)
for (above, below), (name, run) in zip(panels.T, runs.items(), strict=True):
    x, y, model, improvement = run
    mean, error = model.predict(grid[:, None], return_std=True)
    low, high = mean - 2 * error, mean + 2 * error
    band = above.fill_between(grid, low, high, color="tab:blue", alpha=0.15)
    band.set_label("two standard errors")
    above.plot(grid, mean, color="tab:blue", label="prediction")
    above.plot(x[:10], y[:10], "o", ms=4, color="0.5", label="given values")
    above.plot(x[10:], y[10:], "o", ms=4, color="tab:orange", label="chosen")
    above.set_title(name)
    below.fill_between(grid, improvement, color="tab:green", alpha=0.4)
    next_place = grid[improvement.argmax()]
    below.axvline(next_place, color="tab:red", ls="--", label="next point")
    below.set_xlabel("x")
panels[0, 0].set_ylabel("y")
panels[1, 0].set_ylabel("expected\nimprovement")
figure.legend(
    *above.get_legend_handles_labels(), loc="outside lower center", ncols=4
)
below.legend(fontsize=8)
plt.show()

# %%
# With the nugget, all six points lie close together, and the next one repeats
# one of them. With reinterpolation one of the six is spent on the other
# valley, and the next one is new.

chosen = {name: run[0][10:] for name, run in runs.items()}
assert np.ptp(chosen["with a nugget"]) < 0.1
assert np.ptp(chosen["reinterpolated"]) > 0.3
distance = {
    name: np.abs(x - grid[improvement.argmax()]).min()
    for name, (x, _, _, improvement) in runs.items()
}
assert distance["with a nugget"] < 0.01 < distance["reinterpolated"]
