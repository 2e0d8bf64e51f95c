"""The command `spotsvm warmup`."""

from __future__ import annotations

import click


@click.command()
def warmup() -> None:
    """Compile the solvers in advance, once per installation; otherwise their first use takes some seconds longer."""
    from spotsvm.warm_up import warm_up

    click.echo(f"solvers compiled, or already compiled, in {warm_up():.1f} s")
