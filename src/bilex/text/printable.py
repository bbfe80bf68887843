"""Text for a terminal: characters that would command it are shown instead.

Words of a table are other people's data. A control character in one of them can set the title of a window, colour or
hide what follows; a bidirectional override turns the order of letters round.
"""

from __future__ import annotations

import re

_UNSAFE_FORMAT = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""DEL and C1, line separators and bidirectional embeddings, isolates, lone surrogates."""
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_UNSAFE_FORMAT}]")
_UNSAFE_IN_JSON = re.compile(f"[{_UNSAFE_FORMAT}]")


def printable(text: str, keep: str = "") -> str:
    r"""Text with such characters as `\x1b` or `\u202e`; those in `keep`, such as line ends of our own, stay."""
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def printable_json(text: str) -> str:
    r"""JSON with such characters as `\u202e`, which is the same value; JSON has no others of C0 than its own layout."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
