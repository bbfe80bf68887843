"""The data folder: where fetched files lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "BILEX_DATA"


def data_folder() -> Path:
    """$BILEX_DATA, or the folder `bilex` among the user's caches."""
    if given := os.environ.get(VARIABLE):
        return Path(given).expanduser()
    return _caches() / "bilex"


def _caches() -> Path:
    """Where the system keeps what a program can get again."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
