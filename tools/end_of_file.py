"""Make each file end with exactly one newline. Exits with 1 if a file was changed. A pre-commit hook.

python tools/end_of_file.py FILE ...
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Fix the files, and print the names of the changed ones."""
    changed = [name for name in sys.argv[1:] if repair(Path(name))]
    for name in changed:
        print(f"{name}: the end is repaired")
    sys.exit(bool(changed))


def repair(path: Path) -> bool:
    """Fix one file, and return whether it was changed. An empty file stays empty."""
    old = path.read_bytes()
    new = old.rstrip(b"\r\n") + b"\n" if old.strip(b"\r\n") else b""
    if new != old:
        path.write_bytes(new)
    return new != old


if __name__ == "__main__":
    main()
