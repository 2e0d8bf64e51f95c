"""Coverage-guided fuzzing of the readers of records and CSV files: `python tests/fuzz/atheris_readers.py record --runs 10000`.

It needs atheris (pip install atheris), and ends at once, with code 0 and a line, where that is missing. An input that raises
anything but an error of the library, or takes more than `--seconds`, ends it with a traceback, and is kept in a file.
"""

import argparse
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

READERS = ("record", "table", "series", "kernel")
MODULES = (
    "study.recorded",
    "study.record.salvage",
    "tuning.tables.table",
    "tuning.tables.series",
    "estimators.evolved.expression_kernel",
)


def main() -> None:
    """Read the command line, and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--runs", type=int, default=10_000, help="inputs in all")
    parser.add_argument("--seconds", type=int, default=10, help="after which an input counts as hung")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("atheris is not installed; nothing was done")
        return
    with atheris.instrument_imports(include=["spotsvm", "spotsvm.solvers.kernels.expressions"]):
        for module in MODULES:
            import_module(f"spotsvm.{module}")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        _write_seeds(given.reader, Path(folder), corpus)
        limits = ["-rss_limit_mb=4096", "-max_len=65536"]
        options = [f"-runs={given.runs}", f"-timeout={given.seconds}", f"-seed={given.seed}", *limits]
        atheris.Setup([sys.argv[0], *options, str(corpus)], _test(given.reader, Path(folder)))
        atheris.Fuzz()


def _write_seeds(reader: str, folder: Path, corpus: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.hostile_records import make_records
    from tests.fuzz.hostile_tables import series_csv

    if reader == "record":
        for k, file in enumerate(make_records(folder)):
            (corpus / str(k)).write_bytes(file.read_bytes())
    elif reader == "kernel":
        from spotsvm import ExpressionKernel
        from spotsvm.kernels import Expression

        (corpus / "0").write_text(ExpressionKernel(Expression("gaussian", value=0.5)).to_json())
    else:
        (corpus / "0").write_text(series_csv())


def _test(reader: str, folder: Path):
    from spotsvm import ExpressionKernel
    from spotsvm.errors import SpotSVMError
    from spotsvm.study.record.salvage import salvage
    from spotsvm.study.recorded import RecordedStudy, record_tables
    from spotsvm.tables import read_series, read_table

    file = folder / ("input.db" if reader == "record" else "input.csv")
    reads = {
        "record": [record_tables, RecordedStudy, lambda path: salvage(path).frame()],
        "table": [lambda path: read_table(path, "level")],
        "series": [lambda path: read_series(path, "level", "time")],
        "kernel": [ExpressionKernel.load],
    }[reader]

    def test(data: bytes) -> None:
        for old in folder.glob("input.*"):
            old.unlink()
        file.write_bytes(data)
        for read in reads:
            with suppress(SpotSVMError):
                read(file)

    return test


if __name__ == "__main__":
    main()
