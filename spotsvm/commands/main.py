"""The command `spotsvm`: its subcommands, and its error messages of one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import click

from spotsvm.commands.records import export, report
from spotsvm.commands.session import exits_when_interrupted, remember_command, verbose_option
from spotsvm.commands.status import status
from spotsvm.commands.study import study
from spotsvm.commands.tune import demo, tune
from spotsvm.commands.warmup import warmup


class _OneLineError(click.ClickException):
    exit_code = 2

    def show(self, file: Any = None) -> None:
        from spotsvm.common.text import printable_line  # on use: --help needs none of the library

        click.echo(f"spotsvm: error: {printable_line(self.message)}", err=True)


@contextmanager
def _one_line_usage_errors() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # since click 8.2
            raise
        path = "spotsvm" if error.ctx is None else error.ctx.command_path
        raise _OneLineError(f"{error.format_message()} See {path} --help") from error


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Report the library's own errors in one line, with exit code 2."""
    try:
        yield
    except Exception as error:
        from spotsvm.surrogates.errors import SpotSVMError  # on use: --help needs none of the library

        if isinstance(error, SpotSVMError):
            raise _OneLineError(str(error)) from error
        raise


class _Commands(click.Group):
    """A group that reports errors, in its arguments or raised by its commands, in one line."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **kwargs: Any) -> click.Context:
        given = list(args)
        with _one_line_usage_errors():
            context = super().make_context(info_name, args, *more, **kwargs)
        remember_command(context, given)
        return context

    def invoke(self, ctx: click.Context) -> Any:
        from spotsvm.common.text import has_working_directory  # on use: --help needs none of the library

        if not has_working_directory():  # relative paths, worker processes and some imports would fail, each in its own way
            raise _OneLineError("the working directory has been removed; change to an existing directory")
        with exits_when_interrupted(), _one_line_errors(), _one_line_usage_errors():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("spotsvm"), prog_name="spotsvm")
@verbose_option
def main() -> None:
    """Tune support vector machines with few evaluations, and estimate how much of the score is luck."""


for _command in (demo, export, report, status, study, tune, warmup):
    main.add_command(verbose_option(_command))
