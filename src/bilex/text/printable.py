"""Text for a terminal: control characters are escaped.

Words of a table are untrusted data. A control character in a word can change the title of a window, or colour or hide
the text that follows. A bidirectional override reverses the order of letters.
"""

from __future__ import annotations

import re

_UNSAFE_FORMAT = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""DEL and C1, line separators and bidirectional embeddings, isolates, lone surrogates."""
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_UNSAFE_FORMAT}]")
_UNSAFE_IN_JSON = re.compile(f"[{_UNSAFE_FORMAT}]")


def printable(text: str, keep: str = "") -> str:
    r"""The text with unsafe characters escaped, as `\x1b` or `\u202e`. Characters in `keep`, such as `\n`, stay."""
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def printable_json(text: str) -> str:
    r"""JSON text with unsafe characters escaped, as `\u202e`. The value is the same.

    JSON has no C0 control characters except those of its own layout.
    """
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
