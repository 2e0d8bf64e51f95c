"""The command that compiles everything."""

from click.testing import CliRunner

from spotsvm.commands.main import main


def test_warmup_says_how_long_it_took():
    result = CliRunner().invoke(main, ["warmup"])
    assert result.exit_code == 0
    assert result.output.startswith("solvers compiled, or already compiled, in ")
