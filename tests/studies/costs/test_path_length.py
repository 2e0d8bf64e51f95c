from spotsvm.studies.costs.path_length import entered, paths, table


def test_what_a_call_enters_is_counted_once_a_file():
    from spotsvm.common.text import printable, shown_value

    assert entered(lambda: [printable("a"), shown_value(3), sorted([2, 1], key=lambda x: x)]) == {"spotsvm.common.text"}


def test_the_lower_packages_count_in_the_total_only():
    found = {"call": (frozenset({"spotsvm.space.space", "spotsvm.trials.trial", "spotsvm.solvers.pareto"}), 2)}
    assert table(found).loc["call"].tolist() == [3, 2, 2]


def test_each_call_passes_through_few_files():
    found = table(paths())
    assert (found["spotsvm"] > 5).all()
    assert (found["spotsvm"] <= found["goal"]).all()
