"""The options that `tune` and `demo` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click


def tuning_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that `tune` and `demo` share."""
    for option in reversed(
        [
            click.option(
                "--budget",
                type=click.IntRange(1),
                default=50,
                show_default=True,
                help="Number of candidates that each search evaluates.",
            ),
            click.option(
                "--search",
                default="kriging",
                show_default=True,
                help="kriging, koch2011, vns, carrizosa2014, cmaes, lbfgsb, random or lhs.",
            ),
            click.option(
                "--cv", type=click.IntRange(2), default=5, show_default=True, help="Number of folds of the cross-validation."
            ),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**32 - 1),
                default=0,
                show_default=True,
                help="Seed of the splits and the searches.",
            ),
            click.option(
                "--oversearching",
                type=click.Choice(["folds", "repeats", "nested", "none"]),
                default="folds",
                show_default=True,
                help="How to estimate how much of the tuned score is luck: from the fold scores, at no cost; by fresh "
                "repeats, at the cost of half a search; or by nested resampling, at the cost of five searches.",
            ),
            click.option(
                "--stop",
                is_flag=True,
                help="End a search once its largest expected improvement is far below the uncertainty of the score.",
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path),
                help="Folder for the trials, parameters and records; the same command resumes an interrupted run.",
            ),
        ]
    ):
        command = option(command)
    return command
