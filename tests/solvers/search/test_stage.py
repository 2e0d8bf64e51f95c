import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.searches import Coordinate, Domain, Stage
from spotsvm.solvers.search.nested_search import check_stages

LINE, SQUARE = Domain.continuous(1), Domain.continuous(2)
DIAGONAL = Stage(LINE, 5, lambda u: np.repeat(u, 2), lambda u: u[:1], name="diagonal")
FREE = Stage(SQUARE, 5, name="free")


def test_embedding_and_back():
    assert DIAGONAL.embedded(np.array([0.3]), SQUARE).tolist() == [0.3, 0.3]
    assert DIAGONAL.contains(np.array([0.3, 0.3]), SQUARE).tolist() == [0.3]
    assert DIAGONAL.contains(np.array([0.3, 0.4]), SQUARE) is None
    assert FREE.contains(np.array([0.3, 0.4]), SQUARE).tolist() == [0.3, 0.4]
    log = Stage(LINE, 5, lambda u: np.array([u[0], 0.0]), lambda u: u[:1] if u[1] == 0 else np.array([np.nan]))
    assert log.contains(np.array([0.3, 0.5]), SQUARE) is None
    assert log.contains(np.array([0.3, 0.0]), SQUARE).tolist() == [0.3]
    assert repr(DIAGONAL) == "Stage(name='diagonal', dimension=1, n_trials=5)"


def test_rounding_is_forgiven_and_integers_are_put_to_their_cells():
    rescaled = Stage(LINE, 5, lambda u: np.repeat(0.1 + 0.7 * u / 3, 2), lambda u: (u[:1] - 0.1) / 0.7 * 3)
    check_stages([rescaled, FREE], SQUARE)
    grid = Domain((Coordinate(levels=4), Coordinate(levels=4)))
    stage = Stage(Domain((Coordinate(levels=4),)), 5, lambda u: np.repeat(u, 2), lambda u: u[:1])
    check_stages([stage, Stage(grid, 5)], grid)
    assert stage.contains(np.array([0.125, 0.125]), grid).tolist() == [0.125]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "stages is empty; a nested search needs at least one Stage"),
        ([Stage(LINE, 0, name="none"), FREE], "name='none', .* has n_trials=0, which is not a number of trials; use 1 or more"),
        ([DIAGONAL, Stage(SQUARE, 2.5)], "n_trials=2.5"),
        ([DIAGONAL], "name='diagonal', .* is the last stage, and its domain is not the one to search, of dimension 2"),
        ([Stage(LINE, 5), FREE], r"embed of Stage\(name='', .* must give a point of the richest cube, of dimension 2"),
        ([Stage(LINE, 5, lambda u: np.repeat(u, 2)), FREE], "restrict of .* must give a point of its cube, of dimension 1"),
        ([Stage(LINE, 5, lambda u: np.repeat(u, 2) + np.nan), FREE], "embed of .* gives"),
        (
            [Stage(LINE, 5, lambda u: np.repeat(u, 2), lambda u: 1 - u[:1]), FREE],
            "restrict of .* is not the inverse of its embed",
        ),
        (
            [DIAGONAL, Stage(LINE, 5, lambda u: np.array([u[0], 1 - u[0]]), lambda u: u[:1], name="other"), FREE],
            "name='other', .* does not contain Stage\\(name='diagonal'",
        ),
    ],
)
def test_what_is_no_nested_sequence_is_refused(stages, message):
    with pytest.raises(SolverError, match=message):
        check_stages(stages, SQUARE)
