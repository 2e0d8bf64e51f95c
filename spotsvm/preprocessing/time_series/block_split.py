"""Splits of a time series into named blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from spotsvm.errors import ArgumentError, DataError

Rows = NDArray[np.intp]


@dataclass(eq=False, repr=False)
class BlockSplit(BaseCrossValidator):
    """Train on named blocks of the rows, and test on each of the other blocks.

    Parameters
    ----------
    blocks : dict of str to slice, or int
        Rows of each block: a slice of positions, as slice(0, 5000), or of an index of time stamps, as slice("1987-01",
        "1987-06"), whose end is included. An int K makes K parts of the rows, of equal size up to one row, named "set 1" to "set
        K".
    train : str or sequence of str
        The blocks to train on, together.
    test : str, sequence of str or None, default=None
        The blocks to test on, one split for each. None for every block that is not trained on.

    Raises
    ------
    ArgumentError, DataError
        In `get_n_splits` and `split`, if a block is not as above or a name is unknown; in `split`, if a block is empty, goes past
        the end of the rows or has some of the training rows. Both are ValueErrors.

    See Also
    --------
    HistoryPipeline : A pipeline that uses the rows before the training rows.
    DelayEmbedding : Past values as features.

    Examples
    --------
    >>> splitter = BlockSplit(blocks=4, train="set 2", test=["set 1", "set 4"])
    >>> [
    ...     (train.tolist(), test.tolist())
    ...     for train, test in splitter.split(np.zeros((8, 1)))
    ... ]
    [([2, 3], [0, 1]), ([2, 3], [6, 7])]
    """

    blocks: Any
    train: Any
    test: Any = None

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups
            Ignored.

        Returns
        -------
        int
            Number of splits.

        See Also
        --------
        split : Yields the splits that are counted.
        """
        return len(self._names()[1])

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Return the training and the test rows of each split.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows, in order of time; a frame where blocks are slices of time stamps.
        y, groups
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Positions of the rows, rising.

        Raises
        ------
        DataError
            If a block has rows in common with the training rows.

        See Also
        --------
        rows : The rows of a block.
        sklearn.model_selection.TimeSeriesSplit : Folds of which only the first rows are trained on.
        """
        train_names, test_names = self._names()
        train = np.unique(np.concatenate([self.rows(name, X) for name in train_names]))
        for name in test_names:
            test = self.rows(name, X)
            common = np.intersect1d(train, test)
            if len(common):
                raise DataError(
                    f"the block {name!r} has {len(common)} rows in common with the training rows, first row {common[0]}"
                )
            yield train.copy(), test

    def rows(self, name: str, X: Any) -> Rows:
        """Return the rows of a block.

        Parameters
        ----------
        name : str
            The block.
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of int
            Positions of the rows of the block.

        Raises
        ------
        ArgumentError
            If there is no block of this name, or it is not a range of X.

        See Also
        --------
        split : Trains on some blocks and tests on others.
        """
        if name not in self._block_names():
            raise ArgumentError(f"there is no block {name!r}; there are {', '.join(map(repr, self._block_names()))}")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if isinstance(self.blocks, Integral):
            if n < int(self.blocks):
                raise DataError(f"blocks={self.blocks} is more than the number of rows, {n}")
            return np.array_split(np.arange(n), int(self.blocks))[self._block_names().index(name)]
        block = self.blocks[name]
        if not isinstance(block, slice):
            raise ArgumentError(f"blocks[{name!r}]={block!r}; use a slice of positions or of time stamps")
        if all(end is None or isinstance(end, Integral) for end in (block.start, block.stop)):
            if max(block.stop or 0, block.start or 0) > n or min(block.stop or 0, block.start or 0) < -n:
                raise DataError(f"the block {name!r}, {block.start} to {block.stop}, goes past the end of the {n} rows")
            found = np.arange(n)[block]
        else:
            found = np.arange(n)[self._rows_in_time(name, block, X)]
        if not len(found):
            raise DataError(f"the block {name!r}, {block.start} to {block.stop}, has none of the {n} rows")
        return found

    @staticmethod
    def _rows_in_time(name: str, block: slice, X: Any) -> slice:
        index = getattr(X, "index", None)
        if index is None or callable(index):
            raise DataError(
                f"the block {name!r} is {block.start} to {block.stop}, but X has no index of time stamps; pass a DataFrame"
            )
        if not index.is_monotonic_increasing:
            raise DataError(f"the block {name!r} is a range of time, but X's rows are not in order of time; use X.sort_index()")
        try:
            return index.slice_indexer(block.start, block.stop, block.step)  # type: ignore[no-any-return]
        except (TypeError, ValueError, KeyError) as error:
            raise ArgumentError(
                f"blocks[{name!r}]: {block.start!r} to {block.stop!r} is no range of X's index: {error}"
            ) from error

    def _block_names(self) -> list[str]:
        blocks = self.blocks
        if isinstance(blocks, Integral) and not isinstance(blocks, bool) and int(blocks) >= 2:
            return [f"set {k}" for k in range(1, int(blocks) + 1)]
        if isinstance(blocks, Mapping) and blocks:
            return list(blocks)
        raise ArgumentError(f"blocks={blocks!r}; use a dict from names to slices, or a whole number of parts, 2 or more")

    def _names(self) -> tuple[list[str], list[str]]:
        """Return the names of the training and of the test blocks."""
        known = self._block_names()
        found: list[list[str]] = []
        for argument, names in (("train", self.train), ("test", self.test)):
            if names is None and argument == "test":
                chosen: Any = [name for name in known if name not in found[0]]
            else:
                chosen = [names] if isinstance(names, str) else names
            if not isinstance(chosen, list | tuple) or not chosen:
                raise ArgumentError(f"{argument}={names!r}; use one or several of the blocks {', '.join(map(repr, known))}")
            for name in chosen:
                if name not in known:
                    raise ArgumentError(
                        f"{argument}={names!r}: there is no block {name!r}; there are {', '.join(map(repr, known))}"
                    )
            found.append(list(chosen))
        return found[0], found[1]
