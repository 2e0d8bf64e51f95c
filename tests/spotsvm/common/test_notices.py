"""Notices are told in one warning, which has them for programs, and not inside folds."""

import warnings

from spotsvm.common.notices import Notice, tell, untold
from spotsvm.errors import DataWarning

TWO = (Notice("constant", "column 'a' is left out", "a", 1.0), Notice("copies", "2 rows are copies"))


def _told(notices):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tell(notices)
    return caught


def test_all_notices_are_one_warning():
    (caught,) = _told(TWO)
    assert caught.category is DataWarning
    assert str(caught.message) == "column 'a' is left out; 2 rows are copies"
    assert caught.message.notices == TWO


def test_nothing_is_told_without_notices_nor_while_untold():
    with untold():
        assert _told(TWO) == []
    assert _told([]) == []
    assert len(_told(TWO)) == 1
