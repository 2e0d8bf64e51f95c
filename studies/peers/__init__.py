"""Searches compared with each other and with optimizers of other libraries; with pending trials; with reinterpolation."""
