import io
import sys

import pytest

from bilex.errors import BilexError
from bilex.io.standard import configure_streams, lines, write

WORDS = "école\t日本\n"


class Stream(io.TextIOWrapper):
    """A stream of that encoding, which may be a terminal."""

    def __init__(self, encoding, content=b"", *, terminal=False, **how):
        super().__init__(io.BytesIO(content), encoding=encoding, **how)
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    @property
    def content(self):
        self.flush()
        return self.buffer.getvalue()


@pytest.fixture
def streams(monkeypatch):
    """Take these for standard input and output, and set them up."""

    def streams(stdin=None, stdout=None):
        monkeypatch.setattr("sys.stdin", stdin or Stream("utf-8"))
        monkeypatch.setattr("sys.stdout", stdout or Stream("utf-8"))
        configure_streams()

    return streams


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8", "utf-16"])
def test_a_pipe_takes_utf_8(streams, encoding):
    out = Stream(encoding, newline="\r\n")
    streams(stdout=out)
    write([WORDS, "a\x1b\u202e"])
    assert out.content == f"{WORDS}a\x1b\u202e".encode()


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("cp1252", "école\t\\u65e5\\u672c\n".encode("cp1252")),
        ("koi8-r", b"\\xe9cole\t\\u65e5\\u672c\n"),
        ("utf-8", WORDS.encode()),
        ("ascii", WORDS.encode()),  # no locale is set: what Python itself does
    ],
)
def test_a_terminal_has_an_encoding_of_its_own(streams, encoding, shown):
    out = Stream(encoding, terminal=True)
    streams(stdout=out)
    write([WORDS])
    assert out.content == shown


def test_a_terminal_gets_nothing_that_commands_it(streams):
    out = Stream("utf-8", terminal=True)
    streams(stdout=out)
    write(["a\x1b[31m\t\x9b1m\r\n", "\u202e\ud800\n"])
    assert out.content == b"a\\x1b[31m\t\\x9b1m\\r\n\\u202e\\ud800\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_is_read_is_utf_8_with_or_without_a_byte_order_mark(streams, encoding, mark):
    streams(stdin=Stream(encoding, mark + WORDS.encode() + b"a\r\n\nb"))
    assert list(lines()) == [WORDS.strip("\n"), "a", "", "b"]


def test_what_is_read_is_nothing_else(streams):
    streams(stdin=Stream("latin-1", b"a\nb\n\xff\xfes\x00\n"))
    found = lines()
    assert [next(found), next(found)] == ["a", "b"]
    with pytest.raises(BilexError, match="standard input, line 3: this is not UTF-8"):
        next(found)


def test_streams_that_are_closed_or_no_files(monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{name}", None)
    configure_streams()
    assert sys.stdin.read() == ""
    write([WORDS])
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr("sys.stdin", io.StringIO("a"))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    configure_streams()
    write([WORDS])
    assert sys.stdout.getvalue() == WORDS
