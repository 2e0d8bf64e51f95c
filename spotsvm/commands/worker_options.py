"""The options of `tune` and `demo` for parallel workers and their limits."""

from __future__ import annotations

from collections.abc import Callable

import click


def worker_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for parallel workers and their limits."""
    for option in reversed(
        [
            click.option(
                "--workers",
                type=click.IntRange(1),
                default=1,
                show_default=True,
                help="Folds scored in parallel, or with --trial-timeout or --memory-limit candidates; the results stay the same.",
            ),
            click.option(
                "--dask",
                metavar="ADDRESS",
                help="Score candidates on the Dask cluster with its scheduler at ADDRESS, such as tcp://host:8786. Its "
                "workers need spotsvm.",
            ),
            click.option(
                "--batch-size",
                type=click.IntRange(1),
                help="Number of candidates suggested together; the results then do not depend on where they are scored.",
            ),
            click.option(
                "--trial-timeout",
                type=click.FloatRange(0, min_open=True),
                metavar="SECONDS",
                help="Time limit of a candidate; its worker process is then killed, and the search continues.",
            ),
            click.option("--memory-limit", metavar="SIZE", help="Memory limit of a candidate, such as 2GB or 512MiB."),
            click.option(
                "--retries",
                type=click.IntRange(0),
                default=1,
                show_default=True,
                help="How often a candidate is scored again if its worker died.",
            ),
        ]
    ):
        command = option(command)
    return command
