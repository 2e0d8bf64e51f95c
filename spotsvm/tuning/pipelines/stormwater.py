"""The pipeline that predicts a tank's level, or a stream's flow, from past rain, and its search spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from scipy.stats import loguniform, randint, uniform
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm.errors import ArgumentError
from spotsvm.preprocessing.far_targets import TargetScaler
from spotsvm.preprocessing.time_series.delay_embedding import DelayEmbedding
from spotsvm.preprocessing.time_series.history_pipeline import HistoryPipeline
from spotsvm.preprocessing.time_series.leaky_rain import LeakyRain

#: settings in the middle of the paper's region, from which tuning starts
_DECAYS, _WINDOWS, _DIMENSIONS = (0.1, 0.3), (50, 120), 10
_MAX_ITER = 1_000_000

REGIONS = ("wide", "koch2011")


def stormwater_pipeline(
    rain_columns: str | int | Sequence[str | int] | None = None,
    *,
    horizon: int = 0,
    delay: int = 1,
    region: Literal["wide", "koch2011"] = "wide",
    history: Any = None,
    missing: Literal["raise", "zero", "nan"] = "raise",
) -> tuple[Pipeline, dict[str, Any]]:
    """Return a pipeline of two embedded leaky sums of rain and a support vector regression, and its search space.

    Parameters
    ----------
    rain_columns : str, int, sequence of these or None, default=None
        The columns of X that are rain; None for all.
    horizon : int, default=0
        Number of steps to predict ahead, which is the age of the newest rain used. 0 or more.
    delay : int, default=1
        Steps between the values of an embedding, 1 or more.
    region : {"wide", "koch2011"}, default="wide"
        The search space. "koch2011" is that of Table 4. Its decays are at most 0.3: the effect of a reading almost vanishes
        after five steps. In "wide" the decays go up to 0.999, for water that runs off slowly, with windows of 10 to 500 and
        wider, logarithmic ranges of gamma and C. "wide" contains "koch2011" and takes about twice as long. For the hourly flow
        of a stream and for simulated tanks its error was a half to a quarter with as many evaluations.
    history : DataFrame or None, default=None
        Further rows of rain by time stamp, as the past of the rows of X. Pass the whole series if training and test rows do not
        follow each other.
    missing : {"raise", "zero", "nan"}, default="raise"
        Treatment of missing rain: an error; 0; or NaN, which the SVR refuses in the affected rows.

    Returns
    -------
    pipeline : Pipeline
        Not fitted. No rain is assumed before the first known row.
    space : dict
        Nine parameters, by their names in the pipeline: D1, D2, lambda1, lambda2, W1, W2, gamma, epsilon and C of the paper.

    Raises
    ------
    ArgumentError
        If the region is unknown; a ValueError.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", Table 4.

    Examples
    --------
    >>> pipeline, space = stormwater_pipeline("rain_mm", horizon=3)
    >>> sorted(name for name in space if "rain1" in name)
    ['features__rain1__embed__dimensions', 'features__rain1__leaky__decays', 'features__rain1__leaky__windows']

    The pipeline is an estimator, with or without a search:

    >>> import numpy as np
    >>> rain = np.random.default_rng(0).exponential(size=(200, 1))
    >>> level = np.convolve(rain[:, 0], 0.8 ** np.arange(20))[:200]
    >>> pipeline, space = stormwater_pipeline()
    >>> pipeline.fit(rain, level).predict(rain).shape
    (200,)
    """
    if region not in REGIONS:
        raise ArgumentError(f"region={region!r}; use {' or '.join(map(repr, REGIONS))}")
    columns = [rain_columns] if isinstance(rain_columns, str | int) else rain_columns
    if history is not None and columns is not None:
        history = history[list(columns)]
    branches = [
        (
            f"rain{k}",
            HistoryPipeline(
                [
                    ("leaky", LeakyRain(decays=decay, windows=window, missing=missing, start="zero")),
                    ("embed", DelayEmbedding(_DIMENSIONS, delay, horizon, missing=missing, start="zero")),
                ],
                history=history,
            ),
        )
        for k, (decay, window) in enumerate(zip(_DECAYS, _WINDOWS, strict=True), start=1)
    ]
    machine = TransformedTargetRegressor(SVR(max_iter=_MAX_ITER), transformer=TargetScaler())
    steps: list[tuple[str, Any]] = [("features", FeatureUnion(branches)), ("scale", StandardScaler()), ("svr", machine)]
    if columns is not None:
        # rows find their past by the index, which must be kept
        rain = ColumnTransformer([("rain", "passthrough", list(columns))], verbose_feature_names_out=False)
        steps.insert(0, ("rain", rain.set_output(transform="pandas")))
    return Pipeline(steps), _space(region)


def _space(region: str) -> dict[str, Any]:
    """Return the distributions of the nine parameters."""
    wide = region == "wide"
    of_branch = {
        "embed__dimensions": randint(2, 61),
        "leaky__decays": uniform(1e-5, (0.999 if wide else 0.3) - 1e-5),
        "leaky__windows": randint(10, 501) if wide else randint(50, 121),
    }
    space = {f"features__rain{k}__{name}": distribution for k in (1, 2) for name, distribution in of_branch.items()}
    of_machine = {
        "gamma": loguniform(1e-4, 0.3) if wide else uniform(0.005, 0.295),
        "epsilon": loguniform(0.005, 0.3) if wide else uniform(0.005, 0.295),
        "C": loguniform(0.1, 100.0) if wide else uniform(1.0, 9.0),
    }
    return space | {f"svr__regressor__{name}": distribution for name, distribution in of_machine.items()}
