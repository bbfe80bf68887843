"""Which Windows code page a text is in, by the accented letters of the languages that are written with it.

A text has words of two languages A and B. Of a reading with the accented letters x₁ … x_c, it is

    L = max over A, B of Σᵢ log(½ P(xᵢ | A) + ½ P(xᵢ | B))

P falls with the rank of a letter in its language (1/rank), and is small for letters that the language does not have.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

LETTERS = {
    "cp1252": {
        "Catalan": "óàèéíòçúïü", "Danish": "øåæé", "Dutch": "ëéïöèü", "Estonian": "äõüöšž", "Faroese": "áðíøúóæý",
        "Finnish": "äöåšž", "French": "éèàêçôîâûùïëœ", "German": "üäößé", "Icelandic": "áðíöóþéúæý", "Irish": "áíéóú",
        "Italian": "àèòùìé", "Norwegian": "åøæéôò", "Portuguese": "ãçáéíóêâõúàô", "Spanish": "óíáéñúü",
        "Swedish": "äöåé",
    },
    "cp1250": {
        "Croatian": "čšžćđ", "Czech": "íáéýěčřžšůúňóťď", "Hungarian": "áéóöíőüúű", "Polish": "łóążęśćńź",
        "Romanian": "ăţîşâ", "Slovak": "áíčéýžšúľťňôďóäĺŕ", "Slovenian": "čšž",
    },
    "cp1254": {"Turkish": "ıüşğçöİâî"},
    "cp1257": {"Estonian": "äõüöšž", "Latvian": "āīēšņūļģžčķ", "Lithuanian": "ėšžųįčąęū"},
}  # fmt: skip
"""Accented letters of languages, the most frequent first."""
SIGNS = "\t\n\r\u00a0€‚„…‰‹‘’“”•–—›™¡«»°·¿©®§½¼¾¹²³ªº×÷±µ¶£¥´¨¸"
"""Signs that stand in texts of all of them, though hardly within a word."""
UNKNOWN = 1e-4
"""P of a letter that no language has."""
MARGIN = math.log(50)
"""A reading that is so much more likely than Windows-1252 is taken instead of it."""
_SIGN_IN_WORD = re.compile("[^\\W\\d_][ªº¹²³¼½¾£¥§©®×÷¿¡±¶´¨¸][^\\W\\d_]|(?<![0-9])[¹²³]|(?<!\\w)[ªº](?=[^\\W\\d_])")
"""A sign in the place of a letter: so look letters of another code page."""
_RUN = re.compile("[^\\W\\x00-\\x7f]{3}")
"""Three accented letters in a row. Words in Cyrillic or Greek look so in these code pages."""
_ACCENTED_WORD = re.compile("\\w*[^\\W\\x00-\\x7f]\\w*")
MAX_RUNS, MAX_CAPITALS = 0.5, 0.1
"""Shares of accented words at most: a Czech word may have such a run."""


class Reading(NamedTuple):
    """A text in an encoding, and the log-likelihood of its letters."""

    encoding: str
    text: str
    likelihood: float


def code_page(content: bytes) -> str | None:
    """The code page of a text, or None if it looks like none of these. In doubt it is Windows-1252."""
    readings = {reading.encoding: reading for encoding in LETTERS if (reading := _reading(content, encoding))}
    if not readings:
        return None
    western, best = readings.get("cp1252"), max(readings.values(), key=lambda reading: reading.likelihood)
    return "cp1252" if western and western.likelihood > best.likelihood - MARGIN else best.encoding


def _reading(content: bytes, encoding: str) -> Reading | None:
    """The text, if it looks like one of the languages of the encoding."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    counts = Counter(re.findall("[^\\x00-\\x7f]", text))
    letters = {sign: count for sign, count in counts.items() if sign.isalpha() and sign not in "ªº"}
    foreign = [sign for sign in counts if sign not in letters and sign not in SIGNS]
    if foreign or _SIGN_IN_WORD.search(text) or _looks_damaged(text):
        return None
    return Reading(encoding, text, _likelihood(letters, encoding))


def _looks_damaged(text: str) -> bool:
    """Whether the accented words have runs of such letters, or capitals in the middle, as texts of another script."""
    words = _ACCENTED_WORD.findall(text)
    runs = sum(_RUN.search(word) is not None for word in words)
    capitals = sum(any(map(_is_accented_capital, word[1:])) and not word.isupper() for word in words)
    return runs > MAX_RUNS * len(words) or capitals > MAX_CAPITALS * len(words)


def _is_accented_capital(letter: str) -> bool:
    return letter.isupper() and not letter.isascii()


def _likelihood(counts: Mapping[str, int], encoding: str) -> float:
    lower = Counter[str]()
    for letter, count in counts.items():
        lower[letter if letter == "İ" else letter.lower()] += count
    tables = [_probabilities(letters) for letters in LETTERS[encoding].values()]
    return max(
        sum(count * math.log((a.get(x, UNKNOWN) + b.get(x, UNKNOWN)) / 2) for x, count in lower.items())
        for a, b in combinations_with_replacement(tables, 2)
    )


@cache
def _probabilities(letters: str) -> dict[str, float]:
    """P(letter) ∝ 1 / rank."""
    total = sum(1 / rank for rank in range(1, len(letters) + 1))
    return {letter: 1 / rank / total for rank, letter in enumerate(letters, 1)}
