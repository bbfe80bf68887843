"""What any result has to be: finite numbers, text that a terminal can be given, JSON that a program can read."""

from __future__ import annotations

import json
import math
import unicodedata
from typing import Any

import numpy as np


class WrongError(AssertionError):
    """A result that no user should get."""


def check_finite(value: Any, where: str = "result") -> None:
    """Every number in a value of plain types, tuples and arrays is finite."""
    match value:
        case float() if not math.isfinite(value):
            raise WrongError(f"{where} is {value}")
        case np.ndarray() if not np.isfinite(value).all():
            raise WrongError(f"{where} has numbers that are not finite")
        case dict():
            for key, inner in value.items():
                check_finite(inner, f"{where}.{key}" if isinstance(key, str) and key.isidentifier() else where)
        case list() | tuple():
            for inner in value:
                check_finite(inner, where)


def check_json(text: str) -> Any:
    """The value of a JSON text without NaN and Infinity."""

    def refuse(name: str) -> None:
        raise WrongError(f"the JSON holds {name}")

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise WrongError(f"this is no JSON ({error}): {text[:80]!r}") from None


MAX_MESSAGE_LENGTH = 50_000
"""Maximum length of a message in characters. Escapes make messages long."""


def check_text(text: str) -> None:
    """One line that can be printed."""
    if not text.strip():
        raise WrongError("a message without words")
    if len(text) > MAX_MESSAGE_LENGTH:
        raise WrongError(f"a message that is too long: {len(text):,} characters")
    if found := {character for character in text if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")}:
        raise WrongError(f"a message holds {', '.join(map(ascii, sorted(found)))}: {text[:300]!a}")
