import numpy as np
import pytest

from spotsvm.common.checks import check_choice, check_count, check_flag, check_positive
from spotsvm.errors import ArgumentError


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_choice("kind", "x", ("a", "b")), "kind='x'; use 'a' or 'b'"),
        (lambda: check_choice("kind", None, ("a", "b", "c")), "kind=None; use 'a', 'b' or 'c'"),
        (lambda: check_choice("kind", np.array(["a", "b"]), ("a", "b")), r"kind=array\(.*; use 'a' or 'b'"),
        (lambda: check_flag("bias", 1), "bias=1; use True or False"),
        (lambda: check_count("n", 0), "n=0; use a whole number, 1 or more$"),
        (lambda: check_count("n", True), "n=True; use a whole number, 1 or more$"),
        (lambda: check_count("n", 2.0, 0, before="'auto' or "), "n=2.0; use 'auto' or a whole number, 0 or more$"),
        (lambda: check_count("n", 65, 3, 64), "n=65; use a whole number, from 3 to 64$"),
        (lambda: check_count("n", "1", after=", or None"), "n='1'; use a whole number, 1 or more, or None$"),
        (lambda: check_positive("tol", 0.0), "tol=0.0; use a positive, finite number$"),
        (lambda: check_positive("tol", np.inf, " of megabytes"), "tol=inf; use a positive, finite number of megabytes$"),
        (lambda: check_positive("tol", "1"), "tol='1'; use a positive, finite number$"),
    ],
)
def test_what_is_refused(check, message):
    with pytest.raises(ArgumentError, match=message):
        check()


def test_what_is_accepted():
    check_choice("kind", np.str_("a"), ("a", "b"))
    assert check_flag("bias", np.True_) is True
    assert [type(check_count("n", n)) for n in (1, np.int8(7))] == [int, int]
    assert check_positive("tol", np.float32(0.5)) == 0.5
