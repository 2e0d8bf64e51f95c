from functools import partial

import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.comparison.runs import Task, recommended_number, record_name, run_search, takes_seed
from spotsvm.space.space import Space

SPACE = Space({"x": uniform(0, 1)})


class Counted:
    def __call__(self, params, seed=None):
        return {"value": params["x"], "seed": seed}


def test_who_takes_a_seed():
    assert takes_seed(Counted())
    assert takes_seed(lambda params, *, seed=0: 0.0)
    assert not takes_seed(lambda seed: 0.0)
    assert not takes_seed(lambda params, **named: 0.0)
    assert not takes_seed(lambda params, seeds: 0.0)
    assert takes_seed(partial(lambda weight, params, seed: 0.0, 2.0))
    assert not takes_seed(partial(lambda params, seed: 0.0, seed=3))
    assert not takes_seed(dict.get)
    assert not takes_seed(min)  # has no signature in every version of Python


def test_the_seed_is_the_trials():
    run = run_search(Task(Counted(), SPACE, 4), "r", "random", 7)
    assert [t.extra["seed"] for t in run.trials] == [t.seed for t in run.trials]
    study = Study(SPACE, "random", 7)
    assert [t.seed for t in run.trials] == [study.ask().seed for _ in range(4)]


def test_nothing_is_recommended_where_nothing_has_succeeded():
    def broken(params):
        raise ValueError("no")

    run = run_search(Task(broken, SPACE, 3), "r", "random", 0)
    assert run.recommended is None
    assert [t.state for t in run.trials] == ["failed"] * 3
    assert recommended_number((), Task(broken, SPACE, 3), 0) is None


@pytest.mark.parametrize("pair", [("a/b", "a_b"), ("A", "a"), ("a b", "a/b"), ("x", "y")])
def test_no_two_labels_share_a_file(pair):
    names = [record_name(label, 0) for label in pair]
    assert len({name.lower() for name in names}) == 2
    assert not any(set(name) & set('/\\:*?"<>| ') for name in names)


@pytest.mark.parametrize(
    "label",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        "C:\\x",
        "CON",
        "nul",
        "a\x00b",
        "a/b",
        "x" * 1000,
        "\ud800",
        "a\nb",
        "~",
        "$HOME",
        " ",
    ],
)
def test_the_name_of_a_record_never_leaves_its_folder(tmp_path, label):
    file = tmp_path / record_name(label, 3)
    assert file.resolve().parent == tmp_path.resolve()
    file.write_bytes(b"")
    assert file.name not in {record_name(f"{label}'", 3), record_name(label, 4)}
    assert file.name.split("_seed")[0].lower() not in {"con", "nul", "aux", "prn"} or "_" in file.name
