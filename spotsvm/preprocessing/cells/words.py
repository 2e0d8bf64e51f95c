"""Words in cells: those that mean a missing value or a truth value, and texts in a form that equal values share."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

#: words that mean a missing value in a column of numbers or dates, as `folded` has them
MISSING = frozenset(
    "- -- --- . .. ... … – — ? ?? * / na n/a n.a. n.a n/a. <na> #n/a #na nan -nan nat none null nil (null) (none) unknown "
    "missing unbekannt k.a. k.a undefined empty blank void n/d n.d. nd not_available".split()
    + ["", "not available", "not applicable", "no data", "no value", "missing value", "not known"]
    + ["0000-00-00", "0000-00-00 00:00:00"]
    + "#value! #div/0! #ref! #name? #num! #null! 1.#ind -1.#ind 1.#qnan -1.#qnan".split()
)
#: how NaN and NaT are written, which the user gave as missing values
WRITTEN_NAN = frozenset({"nan", "-nan", "nat", "<na>"})
#: texts that are longer, with blanks around them, or begin so, mean no missing value
_LONGEST, _NO_WORD = 30, frozenset("23456789")
#: words for a missing value in a file, which pandas reads as such in every column
_OF_FILES = frozenset("? #N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null".split())
#: words for true and false, as `folded` has them
TRUTH = dict.fromkeys("true t yes y on 1 ja wahr oui vrai si sí sim".split(), True) | dict.fromkeys(
    "false f no n off 0 nein falsch non faux não".split(), False
)

_SIGNS = str.maketrans(
    dict.fromkeys("\u00a0\u1680\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
    | dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
    | {"\u2019": "'", "\uff0e": ".", "\uff0c": ",", "\u066b": ".", "\u066c": ",", "\uff05": "%", "\uff0b": "+"}
)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[t ]00:00(?::00(?:\.0+)?)?")


def clean(text: str) -> str:
    """Return a text without blanks at its ends, with plain blanks, signs and digits."""
    if text.isascii():
        return text.strip()
    text = text.translate(_SIGNS)
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text).strip()


def folded(text: str) -> str:
    """Return a clean text in lower case."""
    return clean(text).casefold()


def form(text: str) -> str:
    """Return the form that equal values share: numbers without needless digits, days without midnight, words in lower case.

    Letters have one spelling in Unicode, and words one blank between them.
    """
    word = folded(text)
    if _NUMBER.fullmatch(word):
        return number_text(float(word.replace(",", ".")))
    if day := _MIDNIGHT.fullmatch(word):
        return day[1]
    return " ".join((word if word.isascii() else unicodedata.normalize("NFKC", word)).split())


def number_text(value: Any) -> str:
    """Return a number as text; whole numbers have no decimal point."""
    if isinstance(value, Integral):
        return str(int(value))
    number = value if isinstance(value, float | np.floating) else float(value)
    return str(int(number)) if math.isfinite(number) and float(number).is_integer() else str(number)


def is_missing(text: str, more: Collection[str] = ()) -> bool:
    """Return whether a text means a missing value in a column of numbers or dates."""
    known = text[:1] not in _NO_WORD and len(text) <= _LONGEST and folded(text) in MISSING
    return known or (bool(more) and form(text) in more)


def without_words_of_files(column: pd.Series) -> pd.Series:
    """Return a column of a file in which a word such as NA is a missing value, as pandas reads it: for targets and groups."""
    if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
        return column.mask(column.isin(_OF_FILES), np.nan)
    return column
