"""The numbers that a machine with an evolved kernel is trained with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """The numbers that a kernel's machine is trained with.

    Attributes
    ----------
    C : float
        Cost of errors, positive.
    constants : tuple of float
        Values of the constants of the kernel's expression, in the order of their symbols.
    epsilon : float
        Half the width of a regression's tube; 0 in classification.
    """

    C: float
    constants: tuple[float, ...] = ()
    epsilon: float = 0.0
