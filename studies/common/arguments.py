"""Arguments of a study as texts of the command line, such as `--budgets 5,10`, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from spotsvm.errors import ArgumentError

#: arguments that options of the command itself give
OWN_OPTIONS = ("quick", "n_jobs", "path")


def read_arguments(study: type, words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a study from words: `--name value` or `--name=value`; lists are separated by commas.

    ArgumentError if the study has no such argument, or if the value has another form than the default.
    """
    known = {one.name: one for one in fields(study) if one.init and one.name not in OWN_OPTIONS}
    given: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, text = word.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or name not in known:
            valid = ", ".join(_option(each) for each in known) or "none"
            raise ArgumentError(f"{word!r} is no argument of the study {_name(study)}; its arguments: {valid}")
        if name in given:
            raise ArgumentError(f"{option} is there twice; give all its values at once, separated by commas")
        if not equals:
            if not rest:
                raise ArgumentError(f"{option} has no value; give one, such as {option} {text_of(_default(known[name])) or '1'}")
            text = rest.pop(0)
        given[name] = _read(option, text, _default(known[name]))
    return given


def argument_words(arguments: Mapping[str, Any]) -> list[str] | None:
    """Return the words that `read_arguments` reads, or None if a value has no text."""
    words: list[str] = []
    for name, value in arguments.items():
        if (text := text_of(value)) is None:
            return None
        words += [_option(name), text]
    return words


def text_of(value: Any) -> str | None:
    """Return the text of a value, or None if it has none."""
    if isinstance(value, Mapping):
        pairs = [(key, text_of(one)) for key, one in value.items()]
        plain = all(isinstance(key, str) and isinstance(value[key], str) for key, _ in pairs)
        return ",".join(key if key == text else f"{key}={text}" for key, text in pairs) if plain else None
    if isinstance(value, list | tuple):
        texts = [text_of(one) for one in value]
        if any(isinstance(one, list | tuple | Mapping) for one in value) or None in texts or not texts:
            return None
        # one seed in a list is not a number of seeds
        return ",".join(map(str, texts)) + ("," if len(texts) == 1 else "")
    if isinstance(value, bool | int | float):
        return str(value)
    return value if isinstance(value, str) and value and not set(value) & set(",=") else None


def _name(study: type) -> str:
    return str(getattr(study, "name", study.__name__))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _default(argument: Field[Any]) -> Any:
    if "full" in argument.metadata:
        return argument.metadata["full"]
    return argument.default_factory() if callable(argument.default_factory) else argument.default


def _read(option: str, text: str, default: Any) -> Any:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, Mapping) or (parts and all("=" in part for part in parts)):
        pairs = [part.partition("=")[::2] for part in parts]
        if any(not value for _, value in pairs) or any(
            not isinstance(value, str) for value in getattr(default, "values", list)()
        ):
            raise ArgumentError(f"{option} {text}: this cannot be read; use NAME=VALUE,NAME=VALUE, or set the argument in Python")
        return dict(pairs)
    if isinstance(default, list | tuple) or "," in text:
        return tuple(_one(part) for part in parts)
    value = _one(text.strip())
    if default is not None and not isinstance(default, str) and isinstance(value, str):
        raise ArgumentError(f"{option} {text}: this is not a value as {default!r} is")
    return value


def _one(text: str) -> Any:
    words = {"True": True, "true": True, "False": False, "false": False}
    if text in words:
        return words[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
