"""The default method: the best one for the data, or with `fast` a fast one."""

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
    """A method, and the reason for the choice."""

    method: Method
    why: str


def choose(
    source_words: int | None,
    *,
    only_spelling: bool = False,
    fast: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Chosen:
    """Choose the default method.

    source_words: source words of the dictionary that have a vector and a translation with a vector; None: there is no
    dictionary. only_spelling: the dictionary has only words spelt alike. settings: as for `get_method`.
    """
    if fast and source_words is None:
        raise AlignmentError(
            f"`fast=True` is {FAST}, which needs a dictionary, and none was given: pass one as `train`, or use words "
            "that are spelt alike in both languages: `spelling='identical'`, or `spelling='numerals'`; without any of "
            "these leave out `fast`"
        )
    if fast:
        name, why = FAST, "`fast` was given"
    elif source_words is None:
        name, why = UNSUPERVISED, "there is no dictionary"
    elif only_spelling:
        name, why = SMALL, "words spelt alike are the only dictionary"
    elif RapoSemi().is_small(source_words):
        name, why = (
            SMALL,
            f"the dictionary has {source_words:,} source words with vectors, fewer than {RapoSemi.enlarge_below:,}",
        )
    else:
        name, why = SUPERVISED, f"the dictionary has {source_words:,} source words with vectors"
    return Chosen(get_method(name, settings), why)


def check_settings(settings: Mapping[str, Any], *, fast: bool, dictionary: bool, others: Iterable[str] = ()) -> None:
    """Before the data are read, refuse settings that none of the possible default methods has.

    others: further names to suggest for an unknown setting.
    """
    names = (FAST,) if fast else (SUPERVISED, SMALL) if dictionary else (UNSUPERVISED,)
    errors = [error for name in names if (error := _settings_error(name, settings, others))]
    if len(errors) == len(names):
        raise errors[0]


def _settings_error(name: str, settings: Mapping[str, Any], others: Iterable[str]) -> SettingsError | None:
    try:
        get_method(name, settings, others=others)
    except SettingsError as error:
        return error
    return None
