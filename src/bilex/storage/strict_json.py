"""Strict JSON that every parser accepts. NaN and Infinity are not valid JSON: they are written and read as null.

All JSON of bilex is written and read here.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from bilex.storage.disk import require_regular_file

if TYPE_CHECKING:
    from pathlib import Path

MAX_DEPTH = 100
"""Maximum depth of nesting. Files of bilex have fewer than ten levels."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def to_json(value: Any, *, indent: int | None = None) -> str:
    """The JSON text of plain values. Lone surrogates, as in file names that are not UTF-8, are escaped."""
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(replace_nonfinite(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text; bytes must be UTF-8. ValueError if it is not JSON, or nested too deeply."""
    try:
        return _normalize(json.loads(text if isinstance(text, str) else text.decode()))
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 ({error.reason} at byte {error.start:,})") from None


def read_json(path: Path) -> Any:
    """The value in a file. OSError if it cannot be read, ValueError as in `from_json`. Never blocks on a pipe."""
    require_regular_file(path)
    return from_json(path.read_bytes())


def check_type(value: Any, expected: Any) -> None:
    """ValueError unless a value of plain types matches a type annotation. The message says where it differs."""
    import msgspec

    try:
        msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def replace_nonfinite(value: Any) -> Any:
    """The same value with None for every NaN and infinity."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: replace_nonfinite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [replace_nonfinite(inner) for inner in value]
    return value


def _normalize(value: Any, depth: int = 0) -> Any:
    """The value with None for every NaN and infinity. RecursionError if it is nested too deeply."""
    if depth > MAX_DEPTH:
        raise RecursionError
    match value:
        case float():
            return replace_nonfinite(value)
        case dict():
            return {key: _normalize(inner, depth + 1) for key, inner in value.items()}
        case list():
            return [_normalize(inner, depth + 1) for inner in value]
    return value
