"""
A tank that remembers rain
==========================

The level of a tank depends on the rain of many hours. :class:`~spotsvm.LeakyRain` sums it with weights that fade, and how fast
they fade is tuned with the machine.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import loguniform, uniform
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import LeakyRain, SpotSearchCV

rng = np.random.default_rng(0)
hours = pd.date_range("2011-03-31", periods=900, freq="h")
rain = rng.exponential(size=900) * (rng.random(900) < 0.1)
stored = np.convolve(rain, 0.93 ** np.arange(100))[:900]  # 7 % of what is stored leaves the tank each hour
level = np.minimum(stored, 6.0) + 0.2 * rng.normal(size=900)  # and it overflows at 6
X = pd.DataFrame({"rain": rain}, index=hours)
X, X_new, level, level_new = X[:600], X[600:], level[:600], level[600:]

# %%
# The decay of the sum, C and gamma are searched together. ``TimeSeriesSplit`` tests on what is later only, and the first rows
# that it tests look back into the training rows by their time stamps.

machine = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
pipeline = make_pipeline(LeakyRain(decays=0.5, windows=60), StandardScaler(), machine)
space = {
    "leakyrain__decays": uniform(0.5, 0.49),
    "transformedtargetregressor__regressor__C": loguniform(2**-3, 2**7),
    "transformedtargetregressor__regressor__gamma": loguniform(2**-7, 2**3),
}
search = SpotSearchCV(
    pipeline, space, n_iter=25, cv=TimeSeriesSplit(3), scoring="neg_root_mean_squared_error", random_state=0
).fit(X, level)
print(f"decay found: {search.best_params_['leakyrain__decays']:.3f}; of the simulated tank: 0.93")

# %%
# The later third of the series, which no search has seen.

predicted = search.predict(X_new)
rmse = np.sqrt(np.mean((predicted - level_new) ** 2))
figure, (above, below) = plt.subplots(2, figsize=(8, 4.5), sharex=True, height_ratios=[1, 3], layout="constrained")
above.bar(X_new.index, X_new["rain"], width=0.04, color="tab:blue")
above.set_ylabel("rain")
below.plot(X_new.index, level_new, color="0.6", label="level")
below.plot(X_new.index, predicted, color="tab:orange", label=f"predicted: error {rmse:.2f}; the noise is 0.20")
below.set_ylabel("level of the tank")
below.legend()
figure.autofmt_xdate()
plt.show()
