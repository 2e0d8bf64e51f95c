from spotsvm.studies.costs.path_length import entered, paths, table


def test_calls_enter_few_files_and_each_counts_once():
    from spotsvm.common.text import printable, shown_value

    assert entered(lambda: [printable("a"), shown_value(3), sorted([2, 1], key=lambda x: x)]) == {"spotsvm.common.text"}
    found = {"call": (frozenset({"spotsvm.space.space", "spotsvm.trials.trial", "spotsvm.solvers.pareto"}), 2)}
    assert table(found).loc["call"].tolist() == [3, 2, 2]
    found = table(paths())
    assert (found["spotsvm"] > 5).all()
    assert (found["spotsvm"] <= found["goal"]).all()
