"""A lexicon as TMX 1.4b, the exchange format of translation memories."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from bilex import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bilex.entry import Entry

INVALID_IN_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
"""Characters that XML 1.0 does not allow, not even escaped."""


def fits_tmx(entry: Entry) -> bool:
    """Whether both words can be written."""
    return not INVALID_IN_XML.search(entry.source + entry.target)


def tmx_lines(entries: Iterable[Entry], languages: tuple[str, str]) -> Iterator[str]:
    """The lines of the file: one unit per pair, its properties rank and origin, and score and confidence if known.

    languages: BCP 47 codes of source and target, such as en and pt-BR; und if unknown.
    """
    source, target = map(quoteattr, languages)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
    yield (
        f'<header creationtool="bilex" creationtoolversion={quoteattr(__version__)} segtype="phrase" o-tmf="bilex" '
        f'adminlang="en" srclang={source} datatype="plaintext"/>\n<body>\n'
    )
    for entry in entries:
        score = "" if math.isnan(entry.score) else f'<prop type="x-score">{entry.score:.6f}</prop>'
        known = not math.isnan(entry.confidence)
        confidence = f'<prop type="x-confidence">{entry.confidence:.4f}</prop>' if known else ""
        yield (
            f'<tu>{score}<prop type="x-rank">{entry.rank}</prop><prop type="x-origin">{entry.origin}</prop>{confidence}'
            f"<tuv xml:lang={source}><seg>{escape(entry.source)}</seg></tuv>"
            f"<tuv xml:lang={target}><seg>{escape(entry.target)}</seg></tuv></tu>\n"
        )
    yield "</body>\n</tmx>\n"
