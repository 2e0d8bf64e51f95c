"""The base class of the library's errors, and the errors of the surrogates."""


class SpotSVMError(Exception):
    """Root of every error that the library raises on purpose.

    See Also
    --------
    ArgumentError : An argument that is invalid.
    """


class SurrogateError(SpotSVMError, ValueError):
    """A surrogate, a design or an acquisition function was given something it cannot work with."""


class NotPositiveDefiniteError(SpotSVMError, ArithmeticError):
    """A correlation matrix could not be factored, even with the largest jitter allowed."""
