"""Old names of options, which work for one version with a word on standard error."""

from __future__ import annotations

import click

#: options by their old names
_OPTIONS = {"--budget": "--trials"}


class RenamedOptions(click.Command):
    """A command that takes old names of options as well; its help does not show them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, each old name as the new one."""
        end = args.index("--") if "--" in args else len(args)
        for place, argument in enumerate(args[:end]):
            name, equals, value = argument.partition("=")
            if name in _OPTIONS:
                click.echo(f"spotsvm: {name} will be gone in the next version; use {_OPTIONS[name]}", err=True)
                args[place] = f"{_OPTIONS[name]}{equals}{value}"
        return super().parse_args(ctx, args)
