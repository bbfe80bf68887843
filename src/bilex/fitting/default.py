"""Which method an alignment is made with where none is named: the best that the data allow, or a fast one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bilex.errors import AlignmentError, SettingsError
from bilex.methods.base import Method, get_method
from bilex.methods.rapo.rapo_semi import RapoSemi

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FAST = "procrustes"
SUPERVISED, SMALL, UNSUPERVISED = "rapo", "rapo_semi", "rapo_unsupervised"


class Chosen(NamedTuple):
    """A method, and why it is this one."""

    method: Method
    why: str


def choose(
    source_words: int | None,
    *,
    only_spelling: bool = False,
    fast: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Chosen:
    """The method, with settings as `get_method` takes them.

    source_words: of the dictionary, as far as they have a translation and both have vectors; none if there is no
    dictionary. only_spelling: words spelt alike are all that it has.
    """
    if fast and source_words is None:
        raise AlignmentError(
            f"`fast=True` is {FAST}, which learns from a dictionary, and none was given: pass one as `train`, or take "
            "words that are spelt alike in both languages: `spelling='identical'`, or `spelling='numerals'`; without "
            "any of these leave out `fast`"
        )
    if fast:
        name, why = FAST, "`fast` was given"
    elif source_words is None:
        name, why = UNSUPERVISED, "there is no dictionary"
    elif only_spelling:
        name, why = SMALL, "words spelt alike are the only dictionary"
    elif RapoSemi().is_small(source_words):
        name, why = SMALL, f"the dictionary has {source_words:,} source words with vectors, fewer than {RapoSemi.few:,}"
    else:
        name, why = SUPERVISED, f"the dictionary has {source_words:,} source words with vectors"
    return Chosen(get_method(name, settings), why)


def check_settings(settings: Mapping[str, Any], *, fast: bool, dictionary: bool, others: Iterable[str] = ()) -> None:
    """Refuse settings that no method has which may be chosen, before the data are read.

    others: names that may have been meant by one that is unknown.
    """
    names = (FAST,) if fast else (SUPERVISED, SMALL) if dictionary else (UNSUPERVISED,)
    refusals = [refusal for name in names if (refusal := _refusal(name, settings, others))]
    if len(refusals) == len(names):
        raise refusals[0]


def _refusal(name: str, settings: Mapping[str, Any], others: Iterable[str]) -> SettingsError | None:
    try:
        get_method(name, settings, others=others)
    except SettingsError as error:
        return error
    return None
