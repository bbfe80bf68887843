"""What to cite for a run, and the licences of its data, as far as they are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex import __version__
from bilex.storage.files import file_name

if TYPE_CHECKING:
    from bilex.data.catalog import Kind
    from bilex.methods.base import Method

UNKNOWN = "not known to bilex; see the source of the file"
KINDS: dict[str, Kind] = {
    "source": "vectors",
    "target": "vectors",
    "train": "dictionaries",
    "dev": "dictionaries",
    "test": "dictionaries",
}


def citations(method: type[Method] | None) -> list[str]:
    """The software, then the paper of the method."""
    software = f"bilex contributors. bilex: bilingual lexicon induction (version {__version__}). Apache License 2.0."
    return [software] if method is None else [software, f"{method.name}: {method.paper}"]


def licences(files: dict[str, str | None]) -> list[tuple[str, str, str, str]]:
    """For each input file of a run: the part, the file name, its licence, and what to cite."""
    return [(part, file_name(file), *_licence(part, Path(file))) for part, file in files.items() if file is not None]


def input_files(inputs: dict[str, Any]) -> dict[str, str | None]:
    """The files of a run by part; `inputs` are those of its alignment.json."""
    return {part: (inputs.get(part) or {}).get("file") for part in ("source", "target", "train", "dev")}


def _licence(part: str, file: Path) -> tuple[str, str]:
    """Licence and citation of a file; known for the sample data and for files of `bilex data fetch`."""
    from bilex.data.catalog import all_collections

    if file.parent.parts[-3:] == ("bilex", "sample", "data"):
        return "see NOTICE.md in bilex/sample", "see NOTICE.md in bilex/sample"
    known = all_collections().get(file.parent.name)
    source = None if known is None else known.sources().get(KINDS[part])
    if source is None or not (file.parent / ".fetched" / f"{file.name}.json").is_file():
        return UNKNOWN, UNKNOWN
    return source.licence, source.cite
