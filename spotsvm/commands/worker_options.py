"""The options of `tune` and `demo` that say where candidates are scored, and with what limits."""

from __future__ import annotations

from collections.abc import Callable

import click


def worker_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say where candidates are scored, and with what limits."""
    for option in reversed(
        [
            click.option(
                "--workers",
                type=click.IntRange(1),
                default=1,
                show_default=True,
                help="Folds at once; the results stay the same. With --trial-timeout or --memory-limit, candidates at once.",
            ),
            click.option(
                "--dask",
                metavar="ADDRESS",
                help="Score candidates on the Dask cluster whose scheduler is at ADDRESS, as tcp://host:8786; a free worker "
                "gets the next one at once. The workers need spotsvm.",
            ),
            click.option(
                "--batch-size",
                type=click.IntRange(1),
                help="Suggest so many candidates together: with it, where they are scored changes nothing about the results.",
            ),
            click.option(
                "--trial-timeout",
                type=click.FloatRange(0, min_open=True),
                metavar="SECONDS",
                help="Time that a candidate may take; its worker process is killed then, and the search goes on.",
            ),
            click.option("--memory-limit", metavar="SIZE", help="Memory that a candidate may take, as 2GB or 512MiB."),
            click.option(
                "--retries",
                type=click.IntRange(0),
                default=1,
                show_default=True,
                help="How often a candidate is scored again whose worker died.",
            ),
        ]
    ):
        command = option(command)
    return command
