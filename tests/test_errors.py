import pickle
import re

import pytest

from bilex.errors import BilexError, LexiconError, MissingExtraError, error_text, escape_nonprintable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("école 中文 a\u00a0b", "école 中文 a\\xa0b"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
        ("\u202ex\u2028", "\\u202ex\\u2028"),
        ("\ud800\udcff", "\\ud800\\udcff"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_a_message_is_one_line_that_can_be_printed(text, expected):
    assert escape_nonprintable(text) == str(BilexError(text)) == str(LexiconError(text)) == expected
    assert expected.encode().decode().isprintable()


def test_a_long_message_has_its_beginning_and_its_end():
    """As one that quotes a line of megabytes."""
    assert len(str(BilexError("x" * 4000))) == 4000
    said = str(LexiconError(f"d.txt:1: found {'x' * 10**6!r}; remove the line"))
    assert said.startswith("d.txt:1: found 'xxx")
    assert re.search(r"xx \.\.\. \(99\d,\d\d\d characters left out\) \.\.\. xx", said)
    assert said.endswith("xxx'; remove the line")
    assert len(said) < 4100


def test_errors_go_from_process_to_process():
    assert str(pickle.loads(pickle.dumps(LexiconError("so")))) == "so"
    assert "pip install 'bilex[tune]'" in str(MissingExtraError("optuna", "tune", "a search"))


def test_reasons():
    assert error_text(OSError(2, "No such file", "a")) == "No such file"
    assert error_text(ValueError("so")) == "so"
