r"""Standard input and output. They are UTF-8, as all files of bilex, whatever the locale says.

Only a terminal keeps its own encoding. Characters that it cannot show are escaped, as `\u4f60`, and so are control
characters.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.errors import BilexError
from bilex.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STDOUT = Path("-")
"""The path that means standard output."""
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Python decodes invalid bytes to these (surrogateescape)."""


def configure_streams() -> None:
    """Set the encodings of the standard streams. To be called once, before anything is read or written."""
    sys.stdin, sys.stdout, sys.stderr = (
        _open(stream, mode) for stream, mode in ((sys.stdin, "r"), (sys.stdout, "w"), (sys.stderr, "w"))
    )
    _reconfigure(sys.stderr, "backslashreplace")
    _reconfigure(sys.stdin, "surrogateescape", encoding=None if sys.stdin.isatty() else "utf-8-sig")
    if sys.stdout.isatty():
        no_locale = codecs.lookup(sys.stdout.encoding).name == "ascii"
        _reconfigure(sys.stdout, "backslashreplace", encoding="utf-8" if no_locale else None)
    else:
        _reconfigure(sys.stdout, "backslashreplace", encoding="utf-8", newline="\n")


def write(pieces: Iterable[str]) -> None:
    """Write results: unchanged to a file or pipe, escaped to a terminal."""
    is_terminal = sys.stdout.isatty()
    for piece in pieces:
        sys.stdout.write(printable(piece, keep="\t\n") if is_terminal else piece)


def lines() -> Iterator[str]:
    """The lines of standard input, without byte order mark and line ends."""
    for number, line in enumerate(sys.stdin, 1):
        if _SURROGATES.search(line):
            raise BilexError(f"standard input, line {number}: this is not UTF-8; convert it (iconv -t UTF-8)")
        yield line.rstrip("\r\n")


def _open(stream: Any, mode: str) -> Any:
    """The stream, or the null device if the caller has closed it."""
    return Path(os.devnull).open(mode, encoding="utf-8") if stream is None else stream


def _reconfigure(stream: Any, errors: str, **how: Any) -> None:
    if isinstance(stream, io.TextIOWrapper):  # notebooks and tests replace it by something else
        stream.reconfigure(errors=errors, **how)
