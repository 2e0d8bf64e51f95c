"""The record of a study: one SQLite file, written trial by trial, checked, and salvaged.

It may import trials, space and common.
"""
