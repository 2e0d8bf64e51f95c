"""The commands of `spotsvm`, one a file.

It may import tuning and all below it; the studies are found by their entry points.
"""
