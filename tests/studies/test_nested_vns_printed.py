import pytest

from studies.nested_vns_printed import CONFIRMED, RBF_SETS, TABLE_3, TABLES_4_AND_5, Printed, rank_bounds


def test_table_3_is_whole():
    assert len(TABLE_3) == 26
    assert len(CONFIRMED) == 12
    assert TABLE_3["breast_cancer", "VNS"] == (28.57, 1.75, 5.83)
    assert max(TABLE_3[name, "VNS"].error - TABLE_3[name, "KL"].error for name in RBF_SETS) == pytest.approx(0.67)


@pytest.mark.parametrize("case", TABLES_4_AND_5)
def test_printed_errors_and_ranks_agree(case):
    printed = TABLES_4_AND_5[case]
    assert rank_bounds(printed, printed.error) == (printed.rank, printed.rank)


@pytest.mark.parametrize(
    ("error", "bounds"),
    [(0.5, (1, 1)), (1.0, (1, 1)), (1.1, (2, 4)), (1.5, (4, 4)), (1.8, (4, 7)), (2.5, (7, 12)), (4.0, (7, 12)), (5.0, (13, 13))],
)
def test_a_rank_is_what_the_printed_errors_leave_open(error, bounds):
    assert rank_bounds(Printed(best=1.0, median=2.0, worst=4.0, error=1.5, rank=4), error) == bounds
