"""Lemmas and parts of speech of words, from a file, or lemmas from simplemma."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bilex.errors import ExplorerError, MissingExtraError
from bilex.storage.disk import describe_os_error, require_regular_file

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY = "simplemma:"
MAX_LENGTH = 100
"""Characters of a lemma or a part of speech."""
MAX_PARTS = 50
"""Different parts of speech at most; a file with more has something else in its third column."""


class Tag(NamedTuple):
    """The lemma and the part of speech of a word; empty where they are not known."""

    lemma: str = ""
    part: str = ""


class Tags:
    """Lemma and part of speech by word. A word that is not listed may have a lemma by rule."""

    def __init__(self, listed: dict[str, Tag], lemmatize: Callable[[str], str] | None = None) -> None:
        self._listed, self._lemmatize = listed, lemmatize
        self.parts = sorted({tag.part for tag in listed.values()} - {""})

    def of(self, word: str) -> Tag:
        """The lemma and the part of speech of a word. A lemma that is the word itself is left out."""
        tag = self._listed.get(word)
        if tag is None:
            tag = Tag() if self._lemmatize is None else Tag(self._lemmatize(word))
        return tag._replace(lemma="") if tag.lemma == word else tag


def read_tags(given: str) -> Tags:
    """The tags of a file, or of the library if the text is `simplemma:` with the code of a language."""
    if given.startswith(LIBRARY):
        return Tags({}, _lemmatizer(given.removeprefix(LIBRARY)))
    return Tags(_read(Path(given)))


def _read(path: Path) -> dict[str, Tag]:
    """Lines of word, lemma and part of speech with tabs between them; the first line about a word counts."""
    listed: dict[str, Tag] = {}
    try:
        require_regular_file(path)
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                fields = [field.strip() for field in line.rstrip("\r\n").split("\t")]
                if fields == [""]:
                    continue
                if not 2 <= len(fields) <= 3 or not fields[0] or max(map(len, fields)) > MAX_LENGTH:
                    raise ExplorerError(
                        f"{path}, line {number}: found {line.strip()[:60]!r}; needed a word, its lemma and, if you "
                        f"like, its part of speech, with tabs between them, of at most {MAX_LENGTH} characters each"
                    )
                listed.setdefault(fields[0], Tag(*fields[1:]))
    except OSError as error:
        raise ExplorerError(f"{path}: {describe_os_error(error)}") from None
    except UnicodeDecodeError as error:
        raise ExplorerError(f"{path}: this is not UTF-8 ({error.reason}); convert it to UTF-8") from None
    if len({tag.part for tag in listed.values()}) > MAX_PARTS:
        raise ExplorerError(f"{path}: found more than {MAX_PARTS} different parts of speech in the third column")
    return listed


def _lemmatizer(language: str) -> Callable[[str], str]:
    try:
        import simplemma
    except ImportError:
        raise MissingExtraError("simplemma", "lemmas", f"the tags {LIBRARY}{language}") from None
    try:
        simplemma.lemmatize("a", lang=language)
    except ValueError:
        raise ExplorerError(
            f"{LIBRARY}{language}: simplemma does not have this language; name its two-letter code, such as en"
        ) from None
    return lambda word: str(simplemma.lemmatize(word, lang=language))
