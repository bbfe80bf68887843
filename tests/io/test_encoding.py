from pathlib import Path

import pytest

from bilex.errors import LexiconError
from bilex.io.encoding import decode, detect, telling_word

FRENCH = "Noël;Christmas\nœuf;egg\n« élève »;pupil\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (FRENCH.encode(), None),
        (FRENCH.encode("utf-8-sig"), None),
        (b"plain", None),
        (b"", None),
        (FRENCH.encode("utf-16"), "utf-16"),
        (FRENCH.encode("utf-16-le"), "utf-16-le"),
        (FRENCH.encode("utf-16-be"), "utf-16-be"),
        (FRENCH.encode("utf-32"), "utf-32"),
        (FRENCH.encode("cp1252"), "cp1252"),
        ("Straße;größer – “so”".encode("cp1252"), "cp1252"),
        ("дом;house".encode("cp1251"), None),
        ("σπίτι;house".encode("cp1253"), None),
        ("łódź;boat".encode("cp1250"), "cp1250"),
        ("بيت;house".encode("cp1256"), None),
        (b"caf\xe9\x81", None),
        (b"a\0b\0\0\0c", None),
    ],
)
def test_what_is_found(content, encoding):
    assert detect(content) == encoding


def test_decoding_as_found_and_as_named():
    path = Path("words.csv")
    assert decode(path, FRENCH.encode("cp1252"), "auto") == (FRENCH, "cp1252")
    assert decode(path, FRENCH.encode(), "auto") == (FRENCH, "utf-8")
    assert decode(path, "дом".encode("koi8-r"), "koi8-r") == ("дом", "koi8-r")


def test_what_cannot_be_told_is_shown_in_several_encodings():
    with pytest.raises(LexiconError) as error:
        decode(Path("words.csv"), "a;b\nдом;house\n".encode("cp1251"), "auto")
    assert str(error.value).startswith(
        "words.csv:2: found the byte 0xe4, which is not utf-8; convert the file to UTF-8, or name its encoding with "
        "`encoding`: the first such line is cp1252 'äîì;house', cp1250 'äîě;house', cp1251 'дом;house'"
    )


def test_a_named_encoding_is_held_to():
    with pytest.raises(LexiconError, match=r"words.csv:1: found the byte 0xeb, which is not utf-8; convert"):
        decode(Path("words.csv"), FRENCH.encode("cp1252"), "utf-8")


@pytest.mark.parametrize(
    ("text", "encoding", "told"),
    [
        ("a;l'été, b", "cp1252", "'été'"),
        ("abc", "cp1252", None),
        ("été;crème glacée", "cp1252", "'crème', which would be 'crčme' in cp1250"),
        ("žába;řeka", "cp1250", "'řeka', which would be 'øeka' in cp1252"),
        ("crème", "utf-16", "'crème'"),
    ],
)
def test_the_word_that_shows_the_encoding(text, encoding, told):
    assert telling_word(text, encoding) == told


def test_the_word_of_a_long_text():
    assert telling_word("a" * 300_000 + "é" + "b" * 300_000, "cp1252") == f"'{'a' * 20}é{'b' * 19}'"
