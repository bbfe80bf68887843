"""Let each file end with exactly one newline; exit with 1 if one was changed. A hook of pre-commit.

python tools/end_of_file.py FILE ...
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Repair the files, and name those that were changed."""
    changed = [name for name in sys.argv[1:] if repair(Path(name))]
    for name in changed:
        print(f"{name}: the end is repaired")
    sys.exit(bool(changed))


def repair(path: Path) -> bool:
    """Whether the file was changed; an empty one stays empty."""
    old = path.read_bytes()
    new = old.rstrip(b"\r\n") + b"\n" if old.strip(b"\r\n") else b""
    if new != old:
        path.write_bytes(new)
    return new != old


if __name__ == "__main__":
    main()
