"""The command `spotsvm`: its subcommands, and its error messages of one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from spotsvm.commands.session import exits_when_interrupted, remember_command, verbose_option, warns_in_one_line
from spotsvm.commands.standard_output import standard_output
from spotsvm.common.checkout import library_version

#: the commands, the module that has each, which is imported when it is used, and what it does in half a line
COMMANDS = {
    "demo": ("tune", "Tune an SVM on data of scikit-learn."),
    "export": ("records", "Write the trials of a record as CSV."),
    "predict": ("predict", "Predict the rows of a table with a tuned SVM."),
    "report": ("records", "Write the report of a record as HTML."),
    "status": ("status", "Show the progress of studies."),
    "study": ("study", "Run one of the library's own studies."),
    "tune": ("tune", "Tune an SVM on a table (CSV)."),
    "warmup": ("warmup", "Compile solvers in advance, once."),
}


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
        from spotsvm.errors import SpotSVMError  # on use: --help needs none of the library

        if isinstance(error, SpotSVMError):
            raise _OneLineError(str(error)) from error
        raise


class _Commands(click.Group):
    """A group that imports a command when it is used, and reports errors, in arguments or raised by commands, in one line."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line; a standard output that cannot be written to is reported in one line as well."""
        with standard_output():
            return super().main(*args, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*COMMANDS, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = import_module(f"spotsvm.commands.{COMMANDS[cmd_name][0]}")
            self.add_command(verbose_option(getattr(module, cmd_name)))
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from spotsvm.common.text import did_you_mean  # on use: --help needs none of the library

            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS) or '.'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(COMMANDS.items())])

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
        with exits_when_interrupted(), warns_in_one_line(), _one_line_errors(), _one_line_usage_errors():
            result = super().invoke(ctx)
            sys.stdout.flush()  # a reader that has gone away, such as head, is met here at the latest; click then ends quietly
            return result


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library_version(), prog_name="spotsvm")
@verbose_option
def main() -> None:
    """Tune support vector machines with few evaluations, and estimate what score to expect on new data."""
