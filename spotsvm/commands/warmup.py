"""The command `spotsvm warmup`."""

from __future__ import annotations

import click


@click.command()
def warmup() -> None:
    """Compile the solvers, which their first use does otherwise; it takes some seconds, once for an installation."""
    from spotsvm.warm_up import warm_up

    click.echo(f"compiled, or found compiled, in {warm_up():.1f} s")
