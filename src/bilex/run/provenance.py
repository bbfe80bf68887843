"""The inputs of unfinished work in a folder: written at the start, and compared before it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.errors import AlignmentError, error_text
from bilex.page.display import format_list
from bilex.storage.disk import describe_os_error
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import check_type, from_json, read_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = "inputs.json"


def begin(folder: Path, description: dict[str, Any]) -> None:
    """Write the inputs to the folder, which is created if necessary."""
    text = to_json(description, indent=2)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / INPUTS) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise AlignmentError(
            f"{folder}: cannot be written: {describe_os_error(error, 'choose another folder')}"
        ) from error


def read(path: Path, *, again: str) -> dict[str, Any]:
    """The inputs that `begin` has written.  again: the command to repeat if they are damaged, such as "align"."""
    from bilex.run.form import Inputs

    try:
        found: dict[str, Any] = read_json(path)
        check_type(found, Inputs)
    except (OSError, ValueError) as error:
        raise AlignmentError(
            f"{path}: cannot be read: {error_text(error)}; remove {path.parent} and {again} again"
        ) from error
    return found


def check_same(here: dict[str, Any], there: dict[str, Any], path: Path) -> None:
    """Refuse to resume work with other inputs. Both are results of `Inputs.describe()`."""
    if not (different := _different(here, there)):
        return
    made = f"with another {', '.join(different)}"
    if names := _changed_names(*({"method": each["method"], **each["settings"]} for each in (here, there))):
        listed = format_list(sorted(names), len(names))
        made = f"by another version of bilex, whose {here['method']} has other settings ({listed})"
    raise AlignmentError(f"{path} was made {made}; choose another folder, or remove it first")


def is_same(here: dict[str, Any], there: dict[str, Any]) -> bool:
    """Whether two descriptions have the same inputs."""
    return not _different(here, there)


def _different(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """The parameters that differ, as messages name them."""
    here, there = (from_json(to_json(description)) for description in (here, there))
    for known in (there, here):  # the contents of a file matter, not its path
        for part in ("source", "target", "train", "dev", "corrections"):
            (known.get(part) or {}).pop("file", None)
    return [f"`{key}`" for key in here if here[key] != there.get(key)]


def _changed_names(here: dict[str, Any], there: dict[str, Any]) -> set[str]:
    """The settings that only one of two versions of a method has; none of different methods."""
    if here.get("method") != there.get("method"):
        return set()
    inner = [(here[key], there[key]) for key in here.keys() & there.keys()]
    pairs = [(own, other) for own, other in inner if isinstance(own, dict) and isinstance(other, dict)]
    return (here.keys() ^ there.keys()).union(*(_changed_names(*pair) for pair in pairs))
