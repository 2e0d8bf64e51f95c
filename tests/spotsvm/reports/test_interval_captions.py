"""The caption of a picture of scores says which points have no interval."""

from math import nan

import pytest

from spotsvm.reports.verdict import interval_picture

A, B, NONE, OTHER = ("a", 0.5, 0.4, 0.6), ("b", 0.7, 0.6, 0.8), ("on the folds", 0.9, nan, nan), ("held-out rows", 1.0, nan, nan)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([A, B], "Scores. A line is a 95 % interval."),
        ([NONE, A], "Scores. A line is a 95 % interval; the point without a line (on the folds) has none."),
        ([NONE, A, OTHER], "interval; points without a line (on the folds, held-out rows) have none."),
        ([NONE], "Scores."),
    ],
)
def test_the_caption_fits_the_lines(rows, words):
    picture = interval_picture(rows, "accuracy", "Scores.")
    assert picture.caption.endswith(words)
    (lines,) = picture.figure.axes[0].collections
    assert len(lines.get_segments()) == sum(low == low for _, _, low, _ in rows)
