import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import uniform

from spotsvm import Study

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for name, search in (("run", "lhs"), ("random", "random")):
        Study(SPACE, search, 0, path=folder / f"{name}.db").run(lambda p: p["x"] + p["y"], n_trials=12).close()
    return folder


def invoke(*arguments):
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_a_report_is_that_of_the_study_and_the_record_stays_as_it_was(records, tmp_path):
    before = (records / "run.db").read_bytes()
    done = invoke(
        records / "run.db", "--out", tmp_path / "r.html", "--baseline", records / "random.db", "--tables", tmp_path / "t"
    )
    assert done.exit_code == 0, done.output
    assert f"wrote {tmp_path / 'r.html'}" in done.output
    study, beside = (
        Study(SPACE, search, 0, path=records / f"{name}.db") for name, search in (("run", "lhs"), ("random", "random"))
    )
    study.report(tmp_path / "again.html", beside)
    study.close()
    beside.close()
    assert (tmp_path / "r.html").read_bytes() == (tmp_path / "again.html").read_bytes()
    assert len(list((tmp_path / "t").glob("*.csv"))) >= 5
    assert (records / "run.db").read_bytes() == before


def test_a_report_is_made_while_the_study_runs(tmp_path):
    study = Study(SPACE, "random", 0, path=tmp_path / "run.db")
    seen = []

    def report(study, trial):
        done = invoke(tmp_path / "run.db", "--out", tmp_path / "r.html")
        assert done.exit_code == 0, done.output
        seen.append((tmp_path / "r.html").read_text(encoding="utf-8"))

    study.run(lambda p: p["x"], n_trials=3, callback=report)
    study.close()
    assert [f"{k} of 3 finished: {k} succeeded" in text for k, text in enumerate(seen, start=1)] == [True] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.db", "--out", "r.html"), "none.db: there is no such record"),
        (("run.db",), "Missing option '--out'"),
        (("run.db", "--out", "run.db"), "--out run.db is one of the records; use another file"),
        (("run.db", "--out", "random.db", "--baseline", "random.db"), "--out random.db is one of the records; use another file"),
        (("run.db", "--out", "r.html", "--baseline", "none.db"), "none.db: there is no such record"),
        (("run.db", "--out", "run.db/r.html"), "run.db/r.html: cannot write the report"),
        (("text.db", "--out", "r.html"), "text.db is damaged, or not a record of spotsvm"),
    ],
)
def test_bad_input_is_one_line(records, monkeypatch, arguments, message):
    monkeypatch.chdir(records)
    (records / "text.db").write_text("no record at all, but a text that is long enough")
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not (records / "r.html").exists()
