"""Prediction of the level of a stormwater tank (Koch et al. 2011), on simulated rain."""
