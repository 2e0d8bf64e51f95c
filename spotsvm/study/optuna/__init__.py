"""Optuna: `SpotSampler` searches its studies as `Study` does, `from_optuna` and `to_optuna` take studies across.

It may import study and what is below. It needs Optuna, which spotsvm does not: `pip install "spotsvm[optuna]"`.
"""

try:
    import optuna  # noqa: F401
except ImportError as error:
    raise ImportError('spotsvm.study.optuna needs Optuna, which is not installed: pip install "spotsvm[optuna]"') from error

from spotsvm.study.optuna.exchange import from_optuna, to_optuna
from spotsvm.study.optuna.sampler import SpotSampler

__all__ = ["SpotSampler", "from_optuna", "to_optuna"]
