import numpy as np
import pytest

from spotsvm.studies.equal_time.estimates.choices import GRID
from spotsvm.studies.equal_time.estimates.divisions import (
    Division,
    FreshPartitions,
    by_ocba,
    by_racing,
    predicted_by_kriging,
)
from spotsvm.studies.equal_time.estimates.policies import Policy
from spotsvm.studies.equal_time.estimates.tables import Table, at

DIVIDE = {"ocba": by_ocba, "racing": by_racing}


def partitions_of(means, noise=1.0, seed=0):
    return np.asarray(means)[:, None] + noise * np.random.default_rng(seed).standard_normal((len(means), 8))


@pytest.mark.parametrize("divide", DIVIDE.values())
@pytest.mark.parametrize("seed", range(5))
def test_those_near_the_best_get_the_partitions(divide, seed):
    counts = divide(partitions_of([10.0, 10.3, 20.0, 30.0, 40.0], seed=seed), 25)
    assert counts.sum() <= 25
    assert counts.min() >= 3
    assert counts[2:].max() <= 4
    assert counts[:2].max() >= counts[2:].max()


@pytest.mark.parametrize("divide", DIVIDE.values())
def test_what_is_saved_is_spent_where_it_is_close(divide):
    counts = np.mean([divide(partitions_of([10.0, 10.1, 20.0, 30.0, 40.0], seed=k), 25) for k in range(20)], axis=0)
    assert counts[:2].min() > counts[2:].max() + 1


def test_a_race_among_equals_goes_on_while_all_can_be_paid_for():
    values = np.tile(partitions_of([1.0]), (4, 1))
    assert by_racing(values, 4 * 6).tolist() == [6] * 4
    assert by_racing(values, 4 * 6 + 3).tolist() == [6] * 4
    assert by_racing(values, 99).tolist() == [8] * 4
    assert by_ocba(values, 99).tolist() == [8] * 4


@pytest.mark.parametrize("way", DIVIDE)
def test_a_division_counts_its_time(way):
    rng = np.random.default_rng(3)
    new = rng.uniform(10, 40, 310)
    table = Table(partitions_of(new, 2.0), partitions_of(new), np.ones((310, 8)), np.full((310, 2), 0.1), new)
    policy, gammas = Policy(8, 2, 6), list(range(2, 18, 2))
    contenders = policy.look(table, gammas).contenders
    counts = DIVIDE[way]((table.errors + 0.5 * table.losses)[[0, *contenders]], 6 * (1 + len(contenders)))
    chosen, time = Division(policy, way).spend(table, gammas)
    known = 8 * 6 + 1
    beside = sum((s - 1) % 11 % 2 for s in contenders)  # an odd C is not on a coarse path
    assert time == pytest.approx(0.1 * (known + 1.2 * beside + counts[0] - 1 + 1.2 * (counts[1:] - 1).sum()))
    assert set(chosen) <= {0, *contenders}
    assert new[chosen].mean() < np.quantile(new[contenders], 0.7)


def test_kriging_with_a_nugget_sees_through_the_noise():
    rng = np.random.default_rng(5)
    gammas, costs = np.divmod(GRID - 1, 11)
    truth = 0.1 * (gammas - 8) ** 2 + 0.2 * (costs - 4) ** 2
    guessed = predicted_by_kriging(np.tile(GRID, 2), np.tile(truth, 2) + 3.0 * rng.standard_normal(418))
    assert np.array_equal(guessed[:209], guessed[209:])
    assert np.abs(guessed[:209] - truth).mean() < 1.0


def test_fresh_partitions_find_the_best_of_a_smooth_surface():
    gammas, costs = np.divmod(np.arange(309), 11)
    new = np.append(25.0, 10 + 0.1 * (gammas - 8) ** 2 + 0.3 * (costs - 4) ** 2)
    table = Table(partitions_of(new), np.zeros((310, 8)), np.ones((310, 8)), np.full((310, 2), 0.1), new)
    policy = FreshPartitions(8, 3)
    chosen, time = policy.spend(table, list(range(2, 18, 2)))
    assert time == pytest.approx(0.1 * 3 * (8 * 6 + 1))
    assert len(chosen) == 1
    assert chosen[0] in at([6, 8, 10], [2, 4, 6])
    assert str(policy) == "8 gamma x 6 C, 3 times, each on a fresh partition, predicted by Kriging with a nugget"
