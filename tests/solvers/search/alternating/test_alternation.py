import numpy as np
import pytest

from spotsvm.solvers.search.alternating import Alternation, ModelGenetics, Phase, SubsetGenetics


def subsets(n=30, k=4):
    return Phase(SubsetGenetics(np.arange(n) % 2, k), 20)


def models(values=(0.01, 0.1, 1.0, 10.0, 100.0)):
    return Phase(ModelGenetics([values]), 20)


def fitness(rows, model):
    """The best rows are the last ones, the best model depends on the rows."""
    return np.array([rows.sum() / 100 - abs(np.log(model[0] / (1 + rows.mean())))])


def recorded(*arguments, seed=0, **options):
    records = []
    alternation = Alternation(*arguments, watch=records.append, **options)
    return alternation, alternation.run(np.random.default_rng(seed)), records


def test_the_phases_alternate_and_the_best_pair_is_never_lost():
    """The fixed partner of a phase is the best of the one before; the seed decides."""
    _, pair, records = recorded(subsets(), models(), fitness, names=("rows", "model"))
    last = {record.phase: record for record in records}
    kinds = [last[phase].kind for phase in range(len(last))]
    assert kinds == (["rows"] + ["model", "rows"] * len(kinds))[: len(kinds)]
    best = [record.best for record in records]
    assert best == sorted(best)
    for record in records:
        assert fitness(*record.pair)[0] == record.best
        if record.phase:
            fixed = 0 if record.phase % 2 else 1
            assert np.array_equal(record.pair[fixed], last[record.phase - 1].pair[fixed])
    np.testing.assert_array_equal(pair[0], records[-1].pair[0])
    assert best == [record.best for record in recorded(subsets(), models(), fitness)[2]]
    assert best != [record.best for record in recorded(subsets(), models(), fitness, seed=4)[2]]


@pytest.mark.parametrize(("options", "phases"), [({}, 2), ({"patience": lambda: 5}, 5)])
def test_no_phase_improves(options, phases):
    alternation, _, records = recorded(subsets(), models(), lambda rows, model: np.array([0.5]), **options)
    assert alternation.stopped_by == "no improvement"
    assert [(r.phase, r.generation) for r in records] == [(0, 0)] + [(p, g) for p in range(1, phases + 1) for g in range(3)]


def test_the_budget_and_the_first_model_which_is_a_random_one():
    left = iter([True] * 7 + [False] * 100)
    alternation, _, records = recorded(subsets(), models(), fitness, may_go_on=left.__next__)
    assert alternation.stopped_by == "budget"
    assert len(records) < 10
    starts = [recorded(subsets(), models(), fitness, seed=seed, may_go_on=lambda: False)[2] for seed in range(40)]
    assert {len(records) for records in starts} == {1}
    assert len({records[0].pair[1] for records in starts}) == 5
