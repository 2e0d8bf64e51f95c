"""Tables with many rows: parameters are tuned on a sample, and models are fitted to a larger one."""

from __future__ import annotations

from dataclasses import dataclass

from spotsvm.cross_validation.row_sample import (
    FITTED_ROWS,
    HELD_ROWS,
    MANY_ROWS,
    SEARCH_SHARE,
    SEARCHED_ROWS,
    DrawnRows,
    drawn_rows,
)
from spotsvm.tuning.tables.split import TEST_SHARE
from spotsvm.tuning.tables.table import Table


@dataclass(frozen=True)
class Limits:
    """The numbers of rows above which `spotsvm tune --model svm` works with samples.

    Parameters
    ----------
    whole : int
        Largest number of training rows for which all are used to tune the parameters.
    sampled : int
        Size of the sample to tune on if there are more rows. Each class has at least as many rows in it as there are folds.
    fitted : int
        Largest number of rows that the final model is fitted to.
    many : int
        Largest number of rows of a table from which a quarter is held out.
    tested : int
        Number of rows to hold out of a larger table.
    share : float
        Share of the timeout for searches on a sample.

    Examples
    --------
    >>> from spotsvm.tables import Limits
    >>> Limits().test_share(1_000), Limits().test_share(100_000)
    (0.25, 0.05)
    """

    whole: int = MANY_ROWS
    sampled: int = SEARCHED_ROWS
    fitted: int = FITTED_ROWS
    many: int = 20_000
    tested: int = HELD_ROWS
    share: float = SEARCH_SHARE

    def test_share(self, n: int) -> float:
        """Return the share of the rows to hold out.

        Returns
        -------
        float
            The share, between 0 and 1.
        """
        return TEST_SHARE if n <= self.many else min(TEST_SHARE, self.tested / n)

    def drawn(self, train: Table, cv: int) -> DrawnRows:
        """Return the training rows to tune on and to fit to, as `SpotSearchCV` with `rows=(sampled, fitted)` draws them.

        Returns
        -------
        DrawnRows
            Their positions.
        """
        return _drawn(train, (self.sampled, self.fitted) if len(train.y) > self.whole else None, cv)

    def to_tune(self, train: Table, cv: int) -> Table:
        """Return the rows to tune on.

        Returns
        -------
        Table
            These rows of the table.
        """
        rows = self.drawn(train, cv).searched
        return train if rows is None else train.part(rows)

    def to_fit(self, train: Table, cv: int) -> Table:
        """Return the rows to fit one model to.

        Returns
        -------
        Table
            These rows of the table.
        """
        return sample(train, self.fitted, cv)

    @property
    def code(self) -> str:
        """Python code that makes it.

        See Also
        --------
        to_tune : The rows that it gives.
        """
        return f"Limits({', '.join(f'{name}={value!r}' for name, value in vars(self).items() if value != getattr(Limits, name))})"


def sample(table: Table, size: int, least: int) -> Table:
    """Return a sample of a table, of whole groups if it has groups: classes keep their shares, but have at least `least` rows."""
    rows = _drawn(table, size, least).searched
    return table if rows is None else table.part(rows)


def _drawn(table: Table, rows: int | tuple[int, int] | None, least: int) -> DrawnRows:
    return drawn_rows(rows, len(table.y), table.y if table.task == "classification" else None, table.groups, least)
