from spotsvm.studies.costs.path_length import entered, paths, table


def test_what_a_call_enters_is_counted_once_a_file():
    from spotsvm.common.text import printable, shown_value

    files = entered(lambda: [printable("a"), shown_value(3), sorted([2, 1], key=lambda x: x)])
    assert files == {"spotsvm/common/text.py"}


def test_files_that_go_to_one_place_count_as_one():
    found = {"call": (frozenset({"spotsvm/a.py", "spotsvm/b.py", "solvers/c.py"}), 2)}
    assert table(found).loc["call"].tolist() == [3, 2, 2]
    assert table(found, {"spotsvm/b.py": "spotsvm/a.py"}).loc["call"].tolist() == [2, 1, 2]


def test_each_call_is_measured():
    found = table(paths())
    assert (found["spotsvm"] > 5).all()
    assert (found["spotsvm"] < found["total"]).all()
