import pickle

import pytest

from bilex.errors import BilexError, LexiconError, MissingExtraError, printable, reason


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
    assert printable(text) == str(BilexError(text)) == str(LexiconError(text)) == expected
    assert expected.encode().decode().isprintable()


def test_errors_go_from_process_to_process():
    assert str(pickle.loads(pickle.dumps(LexiconError("so")))) == "so"
    assert "pip install 'bilex[tune]'" in str(MissingExtraError("optuna", "tune", "a search"))


def test_reasons():
    assert reason(OSError(2, "No such file", "a")) == "No such file"
    assert reason(ValueError("so")) == "so"
