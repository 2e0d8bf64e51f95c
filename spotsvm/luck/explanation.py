"""Which columns matter, and whether more rows would help, by models that have not seen the judged rows."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from spotsvm.luck.intervals import Interval

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What refits on folds say of a fitted model; `TunedSVC.explain`, `TunedSVR.explain` and `SpotSearchCV.explain` return it.

    Attributes
    ----------
    importance : DataFrame
        A row for each column, the strongest first: "column"; "importance", by how much the score falls if the values of the
        column are permuted among the rows of a test fold; "low" and "high", the ends of the 95 % interval over the folds, nan if
        all folds agree. Empty for sparse rows.
    dependence : DataFrame
        Partial dependence of the four strongest columns: "column", "value", "answer" (what is predicted), "fold", and "mean", the
        mean prediction for the rows of a test fold if all had this value.
    learning_curve : DataFrame
        A row for each number of training rows: "rows", "score" on the test folds, and "low" and "high".
    gain : float
        By how much the score has risen from half of the training rows to all.
    gain_interval : tuple of float
        Its 95 % interval.
    scoring : str
        The name of the score; larger is better.
    n_rows, n_folds : int
        Number of rows, of which each fold tests some, and number of folds.
    sampled : bool
        Whether these are some of more rows.
    notes : tuple of str
        What was left out, and why.
    seconds : float
        The time it took.

    See Also
    --------
    TunedSVR.explain : Where it comes from.
    spotsvm.plots.plot_importance : The importance as a picture.

    Notes
    -----
    Importance follows Breiman 2001 and is that of a column given all others: of two columns with the same values each may look
    unimportant. Intervals are corrected for the rows that folds share (:eq:`nadeau-bengio`).

    References
    ----------
    Breiman 2001, "Random Forests", Machine Learning 45(1), 5-32.
    Friedman 2001, "Greedy Function Approximation: A Gradient Boosting Machine", Annals of Statistics 29(5), 1189-1232.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = TunedSVR(budget=2, random_state=0).fit(X[:200], y[:200]).explain()
    >>> found.importance.columns.tolist(), found.learning_curve["rows"].tolist()
    (['column', 'importance', 'low', 'high'], [20, 40, 80, 160])
    """

    importance: pd.DataFrame
    dependence: pd.DataFrame
    learning_curve: pd.DataFrame
    gain: float
    gain_interval: Interval
    scoring: str
    n_rows: int
    n_folds: int
    sampled: bool
    notes: tuple[str, ...]
    seconds: float

    @property
    def sentence(self) -> str:
        """Whether more rows would help, in a sentence."""
        if len(self.learning_curve) < 2:
            return "There are too few rows to fit models to shares of them."
        rows, (low, high) = self.learning_curve["rows"].to_list(), self.gain_interval
        said = f"from {rows[-2]} to {rows[-1]} training rows the score has changed by {self.gain:+.3g}"
        if not low == low:
            return f"No interval is known: {said}, the same in all folds."
        said += f" (95 % interval {low:+.3g} to {high:+.3g})"
        if low > 0:
            return f"More rows are likely to help: {said}."
        if high < 0:
            return f"More rows have not helped: {said}."
        return f"Whether more rows would help is open: {said}, which could be chance."


@dataclass(frozen=True)
class NotExplained:
    """Why a page has no explanation: it would take longer than the limit, both in seconds."""

    seconds: float
    limit: float
