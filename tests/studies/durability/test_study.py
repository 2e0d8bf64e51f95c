import pandas as pd
import pytest

from spotsvm.studies.durability.cases import Case, CaseSkippedError, by_case, measured, skipped_text, without_skipped
from spotsvm.studies.durability.study import PARTS, DurabilityStudy


def rows(part, cases):
    """Make the measurements of a part from the measures of each case."""
    return by_case(pd.concat([measured(part, Case(str(k), lambda m=m: m)) for k, m in enumerate(cases)], ignore_index=True))


KILLED = {
    "search": "random", "kind": "sequential", "kills": 2.0, "inside": 1.0, "moments": "statement 3, 0.1 s", "told": 14.0,
    "lost": 0.0, "unread": 0.0, "told_twice": 0.0, "repeated": 1.0, "left": 0.0, "wrong": "", "runs": 1.0,
}  # fmt: skip


def test_skipped_cases_say_why():
    def skipped():
        raise CaseSkippedError("nothing is there")

    cases = by_case(pd.concat([measured("a", Case("b", skipped)), measured("a", Case("c", lambda: {"x": 1.0}))]))
    assert skipped_text(cases) == "Left out (1 of 2): nothing is there."
    assert without_skipped(cases).case.tolist() == ["c"]
    assert skipped_text(rows("a", [{"x": 1.0}])) == ""

    def skipped():
        raise CaseSkippedError("this system has no fork")

    study = DurabilityStudy(quick=True, parts=("kills",))
    study._frame = measured("kills", Case("b", skipped))
    assert study.conclusion() == "Left out (1 of 1): this system has no fork.\n\n0 of 0 goals are met."
    assert (len(study.table()), study.further_tables(), study.figure().axes) == (0, {}, [])


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, []),
        ({"lost": 1.0}, ["told trials lost by kills"]),
        ({"wrong": "trials, row 3"}, ["of 2 killed runs, those that end as undisturbed"]),
        ({"unread": 1.0}, ["records that a reader could not read after a kill"]),
        ({"told_twice": 1.0}, ["trials told twice"]),
    ],
)
def test_kills_are_judged(change, missed):
    cases = rows("kills", [KILLED, KILLED | {"search": "lhs"} | change, KILLED | {"kind": "asynchronous"}])
    part = PARTS["kills"]
    assert [finding.what for finding in part.findings(cases) if finding.met is False] == missed
    assert part.table(cases).kills.tolist() == [2, 2, 2]
    assert ("Wrong: 1" in part.sentence(cases)) == bool(set(change) - {"unread"})


def test_the_cluster_and_throughput_are_judged():
    run = {"search": "kriging", "how": "asynchronous", "workers": 256.0, "trials": 1000.0, "ask_milliseconds": 40.0}
    cases = rows("cluster", [run | {"mean_seconds": 1.0, "busy": 0.3}, run | {"mean_seconds": 60.0, "busy": 0.96}])
    (finding,) = PARTS["cluster"].findings(cases)
    assert (finding.figure, finding.met) == (0.96, True)
    assert "30.0 % at 1 s, 96.0 % at 60 s" in PARTS["cluster"].sentence(cases)
    run = {"objective": "sleeping", "where": "killable workers", "one": 40.0, "runs": 7.0}
    cases = rows("throughput", [
        run | {"search": "random", "two": 70.0, "ratio": 1.75},
        run | {"search": "kriging", "one": 16.0, "two": 20.0, "ratio": 1.25},
    ])  # fmt: skip
    assert [finding.met for finding in PARTS["throughput"].findings(cases)] == [False, None]
    assert "Kriging takes 42 ms" in PARTS["throughput"].sentence(cases)
    assert "24 trials a second" in PARTS["throughput"].sentence(cases)


def test_size_is_judged_at_the_largest_record():
    run = {"tell_milliseconds": 3.0, "megabytes": 9.0, "resume_seconds": 11.0, "read_seconds": 1.0, "ask_seconds": 0.5}
    cases = rows("size", [
        run | {"search": search, "trials": n, "ask_seconds": seconds}
        for search, n, seconds in (("random", 1e3, 9.0), ("kriging", 1e3, 9.0), ("random", 1e4, 0.1), ("kriging", 1e4, 2.0))
    ])  # fmt: skip
    met = {finding.what: finding.met for finding in PARTS["size"].findings(cases)}
    assert list(met.values()) == [True, True, True, False, False]
    assert not met["seconds to suggest with 10000 trials in a record, kriging"]


def test_a_study_goes_on_from_its_file(tmp_path):
    path = tmp_path / "runs.csv"
    study = DurabilityStudy(quick=True, parts=("cluster",), path=path)
    frame = study.frame()
    text = path.read_text()
    again = DurabilityStudy(quick=True, parts=("cluster",), path=path)
    assert again.frame().equals(frame)
    assert path.read_text() == text
    shares = again.cases("cluster").set_index("how").busy
    assert shares["batches"] < shares["asynchronous"] <= 1.0
    assert [panel.get_title() for panel in again.figure().axes] == ["busy share of virtual workers"]
    assert {file.name for file in again.write(tmp_path)} >= {"durability.md", "durability.html", "durability.png"}
    assert "goals are met" in again.conclusion()
    assert "A simulated cluster" in again.to_markdown()
