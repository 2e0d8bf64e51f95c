"""Hostile files for every reader: each is read, or refused with an error of the library, within its time."""

import contextlib
import signal
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from installed_command import main

from spotsvm import ExpressionKernel
from spotsvm.errors import SpotSVMError
from spotsvm.studies.common.data import data_from, read_binary
from spotsvm.studies.common.jobs import JobFile
from spotsvm.studies.stormwater.series import read_series as read_study_series
from spotsvm.study.record.salvage import salvage
from spotsvm.study.recorded import RecordedStudy, record_tables
from spotsvm.tables import read_series as read_tuning_series
from spotsvm.tables import read_table
from tests.fuzz.hostile_records import change_bytes, change_content, make_records, resumed, write_hostile_study
from tests.fuzz.hostile_tables import changed_csv, csv_files, series_csv
from tests.fuzz.hostile_values import changed_json

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]  # of pandas and numpy on numbers as large as 1e308
SECONDS = 10
JOB = '{"key": {"set": "a", "seed": 0}, "rows": [{"error": 0.5}, {"error": NaN}]}'
KERNEL = (
    '{"format": "spotsvm kernel expression", "version": 1, "expression": {"block": "multiply", "arguments": [{"block": "c1"}, '
    '{"block": "gaussian", "value": 0.5}]}, "constants": {"c1": 2.0}}'
)
TABLE = "".join(f"{line.partition(',')[2]}\n" for line in series_csv().splitlines())
BINARY = "x0,x1,y,part\n" + "".join(f"{k},{k % 5},{'ab'[k % 2]},{'train' if k < 20 else 'test'}\n" for k in range(40))
#: to make a failing file smaller takes minutes
fast = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
whole = settings(fast, max_examples=max(fast.max_examples // 2, 1))
few = settings(fast, max_examples=max(fast.max_examples // 5, 1))


@contextlib.contextmanager
def taken_well():
    """What is raised inside is an error of the library, and comes in time."""

    def late(*arguments):
        raise TimeoutError(f"it took more than {SECONDS} s")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)
    try:
        with contextlib.suppress(SpotSVMError):
            yield
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return make_records(tmp_path_factory.mktemp("records"))


def changed_record(data, records, folder, changes):
    """Write one of the records with changes; gives its number and path."""
    number = data.draw(st.integers(0, len(records) - 1))
    data.draw(st.sampled_from(changes))(data, records[number], folder / "study.db")
    return number, folder / "study.db"


def results(path):
    study = RecordedStudy(path)
    study.frame()
    study.folds()
    if study.objectives.several:
        study.pareto()
    elif study.n_finished:
        assert study.best_trial


def command(*arguments):
    """Run the command: it ends well, or with code 2 and one line that can be printed."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exit_code == 2:
        line = result.stderr.removesuffix("\n")
        assert line.isprintable(), line
        assert len(line) <= 3000
    elif result.exception is not None:
        raise result.exception


def export(path):
    command("export", path, "--csv", "-", "--folds", path.with_name("folds.csv"))


def report(path):
    command("report", path, "--out", path.with_name("r.html"), "--tables", path.with_name("t"))


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ([change_bytes], record_tables),
        ([change_bytes], results),
        ([change_content], record_tables),
        ([change_content], results),
        ([change_bytes, change_content], lambda path: salvage(path).frame()),
        ([change_bytes, change_content], export),
        ([change_bytes, change_content], lambda path: command("status", path)),
    ],
)
@whole
@given(data=st.data())
def test_changed_records(records, changes, read, data):
    with tempfile.TemporaryDirectory() as folder:
        _, path = changed_record(data, records, Path(folder), changes)
        with taken_well():
            read(path)


@few
@given(data=st.data())
def test_changed_records_are_resumed_or_refused(records, data):
    with tempfile.TemporaryDirectory() as folder:
        number, path = changed_record(data, records, Path(folder), [change_bytes, change_content])
        with taken_well(), resumed(number, path) as study:
            study.tell(study.ask(), [0.5, 0.5] if study.objectives.several else 0.5)


@few
@given(data=st.data())
def test_reports_of_changed_records_and_of_hostile_texts(records, data):
    with tempfile.TemporaryDirectory() as folder:
        if data.draw(st.booleans()):
            path = Path(folder) / "study.db"
            write_hostile_study(data, path)
            with taken_well():
                export(path)
        else:
            _, path = changed_record(data, records, Path(folder), [change_content])
        with taken_well():
            report(path)


def read_changed(data, base, read):
    with tempfile.TemporaryDirectory() as folder:
        name, content = data.draw(csv_files(base))
        path = Path(folder) / name
        path.write_bytes(content)
        with taken_well():
            read(path)


@pytest.mark.parametrize(
    ("base", "read"),
    [
        (TABLE, lambda path: read_table(path, "level")),
        (series_csv(), lambda path: read_tuning_series(path, "level", "time")),
    ],
)
@whole
@given(data=st.data())
def test_changed_tables(base, read, data):
    read_changed(data, base, read)


# a study's series has at least 900 rows, of which pandas may have to guess each time stamp
@few
@given(data=st.data())
def test_changed_series_of_a_study(data):
    read_changed(data, series_csv(900), read_study_series)


@whole
@given(changed_json(JOB), changed_csv(BINARY))
def test_changed_files_of_the_studies(job, rows):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "jobs.json").write_text('{"study": "toy"}\n' + job.replace("\n", " ") + "\n", "utf-8", "surrogatepass")
        (Path(folder) / "one.csv").write_bytes(rows)
        with taken_well():
            JobFile(Path(folder) / "jobs.json", "toy").add({"seed": 2}, [{"error": 0.1}])
        with taken_well(), data_from(Path(folder)):
            read_binary("one")


@whole
@given(changed_json(KERNEL))
def test_changed_kernel_formulae(text):
    with taken_well():
        ExpressionKernel.from_json(text)
