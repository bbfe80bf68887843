"""Translate the parameter names in messages of the library into options of the command line.

A message of the library names a parameter in backquotes: `max_words`, or with a value, `replace=True`. In Python the
message is shown as it is. Every message on the command line goes through `as_options`.
"""

from __future__ import annotations

import re

OPTIONS = {
    "accept_changed": "--accept-changed",
    "align": "bilex align",
    "cells": "--cells",
    "checksums": "--checksums",
    "cluster": "--cluster",
    "columns": "--columns",
    "corrections": "--corrections",
    "dev": "--dev",
    "encoding": "--encoding",
    "expected_precision": "--expected-precision",
    "fast": "--fast",
    "fold_case": "--fold-case",
    "folder": "--folder",
    "force": "--force",
    "host": "--host",
    "max_words": "--max-words",
    "method": "--method",
    "min_confidence": "--min-confidence",
    "mirror": "--mirror",
    "n": "-n",
    "plots=False": "--no-plots",
    "port": "--port",
    "replace": "--force",
    "rng_seed": "--rng-seed",
    "search": "--search",
    "separator": "--separator",
    "settings": "--set",
    "sheet": "--sheet",
    "sides": "--sides",
    "source": "SOURCE",
    "preset": "--preset",
    "space": "search space",
    "spelling": "--identical or --numerals",
    "spelling='identical'": "--identical",
    "spelling='numerals'": "--numerals",
    "target": "TARGET",
    "threads": "--threads",
    "train": "--train",
    "vectors_only": "--vectors-only",
}
"""The option for each parameter, or for a parameter with one value."""
MENTION = re.compile(r"(?<![^\s(])`(?P<mention>(?P<name>[a-z]\w*)(?:=(?P<value>[^`]+))?)`(?!['\"\w])")
"""A parameter in backquotes that is a word of the sentence, not part of a path or of a quotation."""


def as_options(text: str) -> str:
    """The text with parameters replaced by options. A parameter without an option is marked `in Python`."""
    return MENTION.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    mention, name, value = found.group("mention", "name", "value")
    if mention in OPTIONS:
        return OPTIONS[mention]
    if name not in OPTIONS:
        return f"{found[0]} in Python"
    given = "" if value in (None, "True") else " " + value.strip("'\"")
    return OPTIONS[name] + given
