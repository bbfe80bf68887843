"""Damage for files whose form does not matter, or is lines of text, JSON, or TOML. All randomness is handed in."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

NUMBERS = [
    "0",
    "-1",
    "1",
    "nan",
    "-inf",
    "inf",
    "1e39",
    "1e308",
    "1e-46",
    "2147483648",
    "9223372036854775808",
    "9" * 400,
]
PIECES = [
    *(b"\0", b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b'"', b"#", b"=", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"\xe2\x80\xae", b"\x1b]0;x\x07", b"\xc2\xa0", b"NaN", b"Infinity", b"1 3", b"x" * 70_000, b"\n" * 300),
]
WORDS = [
    "",
    " ",
    "a b",
    "\u202ex",
    "\x1b[31m",
    "\ud800",
    "a\nb",
    "a\tb",
    "\0",
    "=1+1",
    "x" * 5000,
    "nan",
    "ı",
    "#",
    "None",
]
BITS = [0, 1, 2**7, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 3, 2**31, 2**63, 10**400, 0.5, 1e308, math.nan, math.inf, -math.inf),
    *([], {}, [[]], [0], {"a": 1}, [None], "linear", "towers", "/etc/passwd", "../x", ".", "utf-16"),
    *WORDS,
]
DEEP = "deep nesting goes here"
MAX_INPUT_BYTES = 12 << 20
"""Maximum size of an input. A larger one would test its size rather than its damage."""
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def mutate_bytes(data: bytes, rng: Random) -> bytes:
    """One to three pieces of damage that know nothing of what the bytes mean."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(_BYTES)(data, rng)
    return data


def mutate_lines(data: bytes, rng: Random) -> bytes:
    """The same for lines of fields."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(_LINES)(data, rng)
    return data


def mutate_json(data: bytes, rng: Random) -> bytes:
    """The text of another value than the JSON that it is."""
    value = json.loads(data)
    for _ in range(rng.randint(1, 2)):
        value = _changed(value, rng)
    text = json.dumps(value, indent=rng.choice([None, 2]))
    depth = rng.choice([50, 3000, 100_000])
    opening, closing = rng.choice([("[", "]"), ('{"a":', "}")])
    return text.replace(f'"{DEEP}"', opening * depth + "1" + closing * depth).encode()


def mutate_json_lines(data: bytes, rng: Random) -> bytes:
    """One line of several is another JSON value."""
    lines = data.splitlines()
    if not lines:
        return mutate_bytes(data, rng)
    at = rng.randrange(len(lines))
    lines[at] = mutate_json(lines[at], rng).replace(b"\n", b"")
    return b"\n".join(lines) + b"\n"


def some(data: bytes, rng: Random, *special: Callable[[bytes, Random], bytes]) -> bytes:
    """Mostly damage of the special kinds, sometimes to the bytes."""
    mutate = mutate_bytes if rng.random() < 0.25 else rng.choice(special)
    try:
        return mutate(data, rng)[:MAX_INPUT_BYTES]
    except Exception:  # it is damaged already, so much that it has no form any more
        return mutate_bytes(data, rng)


def _changed(value: Any, rng: Random) -> Any:
    """The value with something in it deleted, doubled, renamed or of another type."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        match rng.randrange(8):
            case 0:
                return {name: inner for name, inner in value.items() if name != key}
            case 1:
                return {rng.choice(WORDS) if name == key else name: inner for name, inner in value.items()}
            case 2:
                return {**value, key: value[rng.choice(list(value))]}
            case _:
                return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        match rng.randrange(5):
            case 0:
                return [*value[:at], *value[at + 1 :]]
            case 1:
                return [*value, value[at]]
            case _:
                return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.4:
        return rng.choice([value + 1, value - 1, -value, float(value), str(value), value * 2, value + 2**32])
    return DEEP if rng.random() < 0.05 else rng.choice(VALUES)


def _range(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(2 ** rng.uniform(0, 7)))


def _flip(data: bytes, rng: Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _overwrite(data: bytes, rng: Random) -> bytes:
    size = rng.choice([1, 2, 4, 8])
    at = rng.randrange(len(data) + 1)
    number = (rng.choice(BITS) % (1 << 8 * size)).to_bytes(size, rng.choice(["little", "big"]))
    return data[:at] + number + data[at + size :]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _delete(data: bytes, rng: Random) -> bytes:
    start, end = _range(data, rng)
    return data[:start] + data[end:]


def _double(data: bytes, rng: Random) -> bytes:
    start, end = _range(data, rng)
    return data[:end] + data[start:end] * rng.choice([1, 1, 2, 50]) + data[end:]


def _insert(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(PIECES) + data[at:]


def _renumber(data: bytes, rng: Random) -> bytes:
    """Another number where one is written out."""
    found = list(NUMBER.finditer(data))
    if not found:
        return _flip(data, rng)
    number = rng.choice(found)
    return data[: number.start()] + rng.choice(NUMBERS).encode() + data[number.end() :]


def _of_lines(change: Callable[[list[bytes], int, Random], list[bytes]]) -> Callable[[bytes, Random], bytes]:
    def mutate(data: bytes, rng: Random) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(change(lines, rng.randrange(len(lines)), rng))

    return mutate


def _swap_lines(lines: list[bytes], at: int, rng: Random) -> list[bytes]:
    other = rng.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def _change_field(lines: list[bytes], at: int, rng: Random) -> list[bytes]:
    separator = rng.choice([b" ", b"\t", b","])
    fields = lines[at].split(separator)
    new = rng.choice(NUMBERS + WORDS).encode("utf-8", "surrogatepass")
    fields[rng.randrange(len(fields))] = new
    return [*lines[:at], separator.join(fields), *lines[at + 1 :]]


_LINES = [
    _of_lines(lambda lines, at, _: [*lines[:at], *lines[at + 1 :]]),
    _of_lines(lambda lines, at, rng: [*lines[: at + 1], *lines[at:][: rng.choice([1, 5])], *lines[at + 1 :]]),
    _of_lines(lambda lines, at, _: [*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]]),
    _of_lines(lambda lines, at, rng: [*lines[:at], rng.choice(PIECES), *lines[at:]]),
    _of_lines(lambda lines, at, rng: [*lines[:at], lines[at] * rng.choice([2, 1000]), *lines[at + 1 :]]),
    _of_lines(_swap_lines),
    _of_lines(_change_field),
    _of_lines(_change_field),
    _renumber,
    _renumber,
    lambda data, rng: data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n"])),
    lambda data, rng: data.replace(rng.choice([b" ", b"\t"]), rng.choice([b"\t", b" ", b",", b"  ", b"\xc2\xa0"])),
    lambda data, rng: rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"# x\n", b"3 4\n"]) + data,
    lambda data, rng: data.decode("utf-8", "replace").encode(rng.choice(["utf-16", "latin-1", "cp1251"]), "replace"),
]
_BYTES = [_flip, _flip, _overwrite, _overwrite, _cut, _delete, _double, _insert, _insert, _renumber]
