"""A lexicon as TBX-Basic (ISO 30042:2019, style DCA), which terminology programs exchange.

A source word is a concept entry with a section for each language. Its translations are terms of the target language in
order of rank. What is known of a translation, such as its score, is in a note, since TBX-Basic has no field for it.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from bilex import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bilex.entry import Entry

NAMESPACE = "urn:iso:std:iso:30042:ed-2"


def tbx_lines(entries: Iterable[Entry], languages: tuple[str, str]) -> Iterator[str]:
    """The lines of the file. Entries of a source word must follow one another.

    languages: BCP 47 codes of source and target, such as en and pt-BR; und if unknown.
    """
    source, target = map(quoteattr, languages)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<tbx type="TBX-Basic" style="dca" xml:lang={source} xmlns="{NAMESPACE}">\n'
    yield (
        f"<tbxHeader><fileDesc><titleStmt><title>Lexicon {escape('-'.join(languages))}</title></titleStmt>"
        f"<sourceDesc><p>Made with bilex {escape(__version__)}</p></sourceDesc></fileDesc></tbxHeader>\n<text><body>\n"
    )
    for number, (word, group) in enumerate(groupby(entries, key=lambda entry: entry.source), start=1):
        terms = "".join(map(_term, group))
        yield (
            f'<conceptEntry id="c{number}"><langSec xml:lang={source}><termSec><term>{escape(word)}</term></termSec>'
            f"</langSec><langSec xml:lang={target}>{terms}</langSec></conceptEntry>\n"
        )
    yield "</body></text>\n</tbx>\n"


def _term(entry: Entry) -> str:
    known = {"score": (entry.score, 6), "confidence": (entry.confidence, 4)}
    facts = [f"{name} {value:.{digits}f}" for name, (value, digits) in known.items() if not math.isnan(value)]
    note = ", ".join([entry.origin, f"rank {entry.rank}", *facts])
    return f"<termSec><term>{escape(entry.target)}</term><note>{note}</note></termSec>"
