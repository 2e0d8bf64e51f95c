"""Options of the command line: in sections of the help, and with a hint where a value is misspelt."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

Decorator = Callable[[Any], Any]


class Choice(click.Choice[str]):
    """A choice that hints at the value that a misspelt one may stand for."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the error message for an unknown value."""
        from spotsvm.common.text import did_you_mean  # on use: --help needs none of the library

        return f"{super().get_invalid_choice_message(value, ctx).rstrip('.')}{did_you_mean(str(value), self.choices) or '.'}"


def section(title: str, *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, in this order, in a section of its help."""

    def add(option: Decorator, command: Any) -> Any:
        command = option(command)
        command.__click_params__[-1].section = title
        return command

    return lambda command: reduce(lambda inner, option: add(option, inner), reversed(options), command)


class SectionedCommand(click.Command):
    """A command whose help has its options in sections, in the order in which they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", ""), []).append(record)
        for title, records in sorted(sections.items(), key=lambda item: not item[0]):  # those without a title last
            with formatter.section(title or "Other options"):
                formatter.write_dl(records)
