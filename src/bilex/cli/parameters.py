"""What the library names in Python, named as on the command line.

A message of the library names a parameter in backquotes, as Python has it: `max_words`, or with the value to give,
`replace=True`. Python shows it as it is; all that the command line shows goes through `as_options`.
"""

from __future__ import annotations

import re

OPTIONS = {
    "accept_changed": "--accept-changed",
    "align": "bilex align",
    "checksums": "--checksums",
    "cluster": "--cluster",
    "corrections": "--corrections",
    "dev": "--dev",
    "encoding": "--encoding",
    "fast": "--fast",
    "fold_case": "--fold-case",
    "folder": "--folder",
    "force": "--force",
    "host": "--host",
    "max_words": "--max-words",
    "method": "--method",
    "mirror": "--mirror",
    "n": "-n",
    "plots=False": "--no-plots",
    "port": "--port",
    "replace": "--force",
    "rng_seed": "--rng-seed",
    "search": "--search",
    "settings": "--set",
    "sides": "--sides",
    "source": "SOURCE",
    "space": "search space",
    "spelling": "--identical or --numerals",
    "spelling='identical'": "--identical",
    "spelling='numerals'": "--numerals",
    "target": "TARGET",
    "threads": "--threads",
    "train": "--train",
}
"""What a parameter is on the command line, or a parameter with one value."""
MENTION = re.compile(r"(?<![^\s(])`(?P<mention>(?P<name>[a-z]\w*)(?:=(?P<value>[^`]+))?)`(?!['\"\w])")
"""A parameter in backquotes that is a word of the sentence, and no part of a path or of what is quoted."""


def as_options(text: str) -> str:
    """The text with options for parameters; what has no option can be done in Python."""
    return MENTION.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    mention, name, value = found.group("mention", "name", "value")
    if mention in OPTIONS:
        return OPTIONS[mention]
    if name not in OPTIONS:
        return f"{found[0]} in Python"
    given = "" if value in (None, "True") else " " + value.strip("'\"")
    return OPTIONS[name] + given
