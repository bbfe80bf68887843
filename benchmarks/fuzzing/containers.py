"""Damage for files that are made of arrays or tables: well-formed outside, wrong inside."""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
import struct
import zipfile
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.storage.array_file import METADATA_KEY
from fuzzing.mutators import WORDS, mutate_bytes, mutate_json, mutate_lines

if TYPE_CHECKING:
    from random import Random

DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
FLOATS = [float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e20, 1e19, 1e-45, 1e-30, 0.0, -0.0, 1.0]
INTEGERS = [0, -1, 1, 5, 10**6, 2**31, 2**62, -(2**62)]
Arrays = dict[str, tuple[str, list[int], bytes]]
"""Type, shape and bytes by name."""


def mutate_safetensors(data: bytes, rng: Random) -> bytes:
    """Another header, or other arrays with a header that fits them."""
    length = int.from_bytes(data[:8], "little")
    if rng.random() < 0.4:
        header = mutate_json(data[8 : 8 + length], rng)
        return len(header).to_bytes(8, "little") + header + data[8 + length :]
    metadata, arrays = _parse(data)
    for _ in range(rng.randint(1, 2)):
        if arrays:
            _change_array(arrays, rng)
    return _build(metadata, arrays)


def mutate_checkpoint(data: bytes, rng: Random) -> bytes:
    """The same; or the JSON texts in its notes are others."""
    if rng.random() < 0.5:
        return mutate_safetensors(data, rng)
    metadata, arrays = _parse(data)
    with suppress(ValueError, KeyError, AttributeError):
        notes = json.loads(metadata[METADATA_KEY])
        name = rng.choice(["values", "values", "records", "more"])
        notes[name] = mutate_json(notes.get(name, "{}").encode(), rng).decode()
        metadata[METADATA_KEY] = json.dumps(notes)
    return _build(metadata, arrays)


def mutate_npy(data: bytes, rng: Random) -> bytes:
    """Another header, with a length that fits it, or other numbers."""
    if not data.startswith(b"\x93NUMPY\x01\x00"):
        return mutate_bytes(data, rng)
    length = struct.unpack("<H", data[8:10])[0]
    header, body = data[10 : 10 + length].strip(), data[10 + length :]
    if rng.random() < 0.5:
        floats = np.frombuffer(body[: len(body) // 4 * 4], "<f4").copy()
        if len(floats):
            floats[rng.randrange(len(floats))] = rng.choice(FLOATS)
        return data[: 10 + length] + floats.tobytes()
    fields = rng.choice(
        [
            (
                b"<f4",
                rng.choice([b"<f8", b"|O", b"<U9", b">f4", b"<f2", b"<c8", b"|V4", b"", b"<U999999999", b"<M8[ns]"]),
            ),
            (b"False", rng.choice([b"True", b"None", b"2", b"(", b"'x'"])),
            (b"(", rng.choice([b"(-1, ", b"(9999999999999, ", b"(1, ", b"((", b"", b"(1.5, ", b"(True, "])),
            (b"'shape'", rng.choice([b"'shap'", b"shape", b"'shape': (1,), 'shape'"])),
            (b"}", rng.choice([b"", b"}}", b", 'x': 1}", b"\\", b"\0", b"}\n}"])),
        ]
    )
    header = header.replace(*fields)
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + body


def mutate_npz(data: bytes, rng: Random) -> bytes:
    """Members damaged, renamed, left out, doubled or added."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    match rng.randrange(7):
        case 0:
            del members[name]
        case 1:
            members[rng.choice(["rows.npy", "words.npy", "vectors.npy", "x.pkl", "../x.npy", "rows", "x.txt"])] = (
                members.pop(name)
            )
        case 2:
            members["more.npy"] = mutate_bytes(members[name], rng)
        case 3:
            words = np.array([rng.choice(WORDS) for _ in range(12)])
            members["words.npy"] = _npy(words)
        case _:
            members[name] = mutate_npy(members[name], rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    whole = made.getvalue()
    return mutate_bytes(whole, rng) if rng.random() < 0.3 else whole


def mutate_workbook(data: bytes, rng: Random) -> bytes:
    """An .xlsx or .ods whose parts are damaged, left out or exchanged."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice([*parts, *[part for part in parts if "sheet" in part or "content" in part] * 3])
        match rng.randrange(8):
            case 0:
                parts[name] = b""
            case 1:
                parts[name] = parts[rng.choice(sorted(parts))]
            case 2:
                parts[name] = _REFERENCES.sub(lambda _: rng.choice(_CELLS), parts[name], count=rng.randint(1, 3))
            case 3:
                parts[name] = parts[name].replace(rng.choice(_XML), rng.choice(_XML), rng.randint(1, 5))
            case _:
                parts[name] = mutate_lines(parts[name], rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    whole = made.getvalue()
    return mutate_bytes(whole, rng) if rng.random() < 0.2 else whole


_REFERENCES = re.compile(rb'(?<==")[A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?(?=")|(?<==")\d+(?=")')
_CELLS = [
    *(b"XFD1048576", b"A1:XFD1048576", b"ZZZ9999999", b"A0", b"1048576", b"1000000000", b"-1", b"9" * 20, b"x"),
]
_XML = [
    *(b"<row", b"</row>", b"<c ", b"<v>", b"</v>", b"<t>", b"</si>", b't="s"', b't="b"', b't="e"', b't="inlineStr"'),
    *(b"table:table-row", b"table:table-cell", b"table:table", b"text:p", b"office:annotation", b"columns-repeated"),
    *(b'<!DOCTYPE x [<!ENTITY a "b">]>', b"&a;", b"&#0;", b"&lt;", b"\xff", b"", b"UTF-8", b"UTF-16", b"r:id"),
]


def mutate_sqlite(data: bytes, rng: Random) -> bytes:
    """A database with other rows, columns, tables or marks; or with damaged pages."""
    if rng.random() < 0.35:
        return mutate_bytes(data, rng)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as file, suppress(sqlite3.Error, OverflowError):
        file.deserialize(data)
        file.execute("PRAGMA ignore_check_constraints = ON")
        for _ in range(rng.randint(1, 3)):
            statement, values = rng.choice(_STATEMENTS), [_sql_value(rng) for _ in range(6)]
            with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                file.executescript(statement) if ";" in statement else file.execute(
                    statement, values[: statement.count("?")]
                )
        return file.serialize()
    return mutate_bytes(data, rng)


def gzipped(data: bytes) -> bytes:
    """Compressed, and the same every time."""
    return gzip.compress(data, compresslevel=1, mtime=0)


def mutate_word2vec(data: bytes, rng: Random) -> bytes:
    """Other numbers in the rows of a word2vec .bin."""
    at = rng.randrange(data.index(b"\n"), len(data) - 4)
    return data[:at] + struct.pack("<f", rng.choice(FLOATS)) + data[at + 4 :]


_LOOSE = "CREATE TABLE decisions (id, made, source, suggestion, verdict, target, note, undone)"
_STATEMENTS = [
    "INSERT INTO decisions (source, suggestion, verdict, target, note, undone) VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT INTO decisions (source, suggestion, verdict, target, note) VALUES (?, ?, 'accepted', ?, ?)",
    "UPDATE decisions SET source = ? WHERE id = 1",
    "UPDATE decisions SET target = ?, suggestion = ?",
    "UPDATE decisions SET verdict = ?, note = ?",
    "UPDATE decisions SET undone = ?",
    f"DROP TABLE decisions; {_LOOSE}; INSERT INTO decisions VALUES (1, 1, x'00ff', x'00', 'accepted', x'ff', 1, 0)",
    f"DROP TABLE decisions; {_LOOSE}; INSERT INTO decisions VALUES ('x', 1, 1.5, NULL, NULL, 7, NULL, NULL)",
    "DROP TABLE decisions; CREATE TABLE other (x)",
    "DROP TABLE decisions; CREATE VIEW decisions AS SELECT 1 AS id, 'a' AS source, 'b' AS suggestion; ",
    "ALTER TABLE decisions RENAME COLUMN note TO notes",
    "ALTER TABLE decisions RENAME TO decided",
    "PRAGMA user_version = 9",
    "PRAGMA application_id = 7",
]


def _sql_value(rng: Random) -> Any:
    return rng.choice([None, 0, 1, -1, 2**62, 1.5, 1e308, b"", b"\xff\0", "s1", "t1", "vers, chez", "accepted", *WORDS])


def _parse(data: bytes) -> tuple[dict[str, str], Arrays]:
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, told in header.items():
        begin, end = told["data_offsets"]
        arrays[name] = (told["dtype"], told["shape"], data[start + begin : start + end])
    return metadata, arrays


def _build(metadata: dict[str, str], arrays: Arrays) -> bytes:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    position = 0
    for name, (dtype, shape, content) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [position, position + len(content)]}
        position += len(content)
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    return len(encoded).to_bytes(8, "little") + encoded + b"".join(content for _, _, content in arrays.values())


def _change_array(arrays: Arrays, rng: Random) -> None:
    """Another number, type, shape or name of one array, or none of that name."""
    name = rng.choice(sorted(arrays))
    dtype, shape, content = arrays[name]
    values = np.frombuffer(content, DTYPES.get(dtype, "u1"))
    match rng.randrange(10):
        case 0:
            del arrays[name]
        case 1:
            arrays[rng.choice([*sorted(arrays), *WORDS[:4], "mapping.source_matrix"])] = arrays.pop(name)
        case 2:
            other = rng.choice(list(DTYPES))
            with np.errstate(all="ignore"):
                arrays[name] = (other, shape, values.astype(DTYPES[other]).tobytes())
        case 3:
            arrays[name] = (dtype, rng.choice([[*shape, 1], [1, *shape], [len(values)], shape[::-1]]), content)
        case 4 if shape:
            rows = values.reshape(shape)[: rng.randrange(shape[0] + 1)]
            arrays[name] = (dtype, list(rows.shape), rows.tobytes())
        case 5 if shape:
            rows = values.reshape(shape)
            rows = np.concatenate([rows, rows[: rng.randint(1, 3)]])
            arrays[name] = (dtype, list(rows.shape), rows.tobytes())
        case _ if len(values):
            _change_values(arrays, name, rng)


def _change_values(arrays: Arrays, name: str, rng: Random) -> None:
    dtype, shape, content = arrays[name]
    values = np.frombuffer(content, DTYPES.get(dtype, "u1")).copy()
    with np.errstate(all="ignore"):
        if dtype.startswith("F"):
            new = np.array(rng.choice(FLOATS)).astype(values.dtype)
        else:
            new = np.array(rng.choice(INTEGERS)).astype(values.dtype)
        match rng.randrange(4):
            case 0:
                values[:] = new
            case 1 if dtype.startswith("F"):
                values *= new
            case _:
                values[rng.randrange(len(values))] = new
    arrays[name] = (dtype, shape, values.tobytes())


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()
