"""Detect the format of a file from its first bytes, never from its name."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.layout import parse_header
from bilex.io.lines import BOM, NUMBER
from bilex.io.stream import Stream, read_errors_as_table_errors

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 1 << 20
FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
CONVERT_FIRST = {
    b"BZh": "bzip2 data; unpack it first: bunzip2",
    b"\xfd7zXZ": "xz data; unpack it first: unxz",
    b"\x28\xb5\x2f\xfd": "zstandard data; unpack it first: unzstd",
    b"\xff\xfe": "UTF-16 text; convert it first: iconv -f utf-16 -t utf-8",
    b"\xfe\xff": "UTF-16 text; convert it first: iconv -f utf-16 -t utf-8",
}
PICKLE_ADVICE = (
    "this is a Python pickle (as gensim's .kv and .model files), and bilex never opens pickles: they can run any code; "
    "convert a file you trust in Python: "
    "EmbeddingTable.from_gensim(KeyedVectors.load({path!r})).write('table.safetensors')"
)


def detect(path: Path) -> str:
    """The format: text, word2vec, fasttext, npz, npy or safetensors. TableError with advice for any other file."""
    with Stream(path) as stream:
        head = stream.read(HEAD_BYTES)
        compressed = stream.compressed
    name = detect_head(path, head)
    if compressed and name not in ("text", "word2vec"):
        raise TableError(f"{path}: {name} data inside gzip; unpack it first: gunzip")
    return name


def detect_head(path: Path, head: bytes) -> str:
    """The format of a file, from its first bytes."""
    refuse_unreadable(path, head)
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PK\x03\x04"):
        return detect_zip(path)
    if head.startswith(FASTTEXT_MAGIC):
        return "fasttext"
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return "safetensors"
    if is_word2vec(head):
        return "word2vec"
    if b"\0" in head[:4096]:
        raise TableError(
            f"{path}: binary data of an unknown format (begins with {head[:8].hex(' ')}); "
            "needed text, word2vec or fastText .bin, .npz, .npy or .safetensors"
        )
    return "text"


def refuse_unreadable(path: Path, head: bytes) -> None:
    """Refuse known formats that bilex does not read."""
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        raise TableError(f"{path}: {PICKLE_ADVICE.format(path=str(path))}")
    for magic, advice in CONVERT_FIRST.items():
        if head.startswith(magic):
            raise TableError(f"{path}: {advice} {path.name}")


def detect_zip(path: Path) -> str:
    """The format npz, or a TableError with advice for any other archive."""
    try:
        with read_errors_as_table_errors(path), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        raise TableError(f"{path}: the archive is damaged or cut short; download or write it again") from None
    if any(name.endswith(".pkl") for name in names):
        raise TableError(f"{path}: {PICKLE_ADVICE.format(path=str(path))}")
    if not any(name.endswith(".npy") for name in names):
        inside = ", ".join(names[:3])
        raise TableError(
            f"{path}: a zip archive of {inside}; unpack it first: unzip {path.name}, then name the file inside"
        )
    return "npz"


def is_word2vec(head: bytes) -> bool:
    """Whether there is a header, and the lines after it do not end in numbers as in a text table."""
    first, newline, rest = head.removeprefix(BOM).partition(b"\n")
    if not newline or parse_header(first) is None or not rest:
        return False
    lines = rest.split(b"\n", 100)[:100]
    endings = [line.rstrip(b" \t\r").replace(b"\t", b" ").rpartition(b" ")[2] for line in lines if line.strip()]
    return sum(NUMBER.fullmatch(ending) is not None for ending in endings) * 2 < len(endings)
