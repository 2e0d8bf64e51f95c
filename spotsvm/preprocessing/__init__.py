"""Transformers of time series and of wide tables, to be tuned together with the machine behind them."""
