"""Transformers of time series and of wide tables, to be tuned together with the model behind them.

It may import common and its own `time_series`, and no study, space or estimator.
"""
