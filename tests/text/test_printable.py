import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.text.printable import printable, printable_json

SHOWN = {
    "\x00": r"\x00",
    "\t": r"\t",
    "\n": r"\n",
    "\r": r"\r",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "\x7f": r"\x7f",
    "\x85": r"\x85",
    "\x9b31m": r"\x9b31m",
    "\u2028": r"\u2028",
    "\u2029": r"\u2029",
    "a\u202eb\u202c": r"a\u202eb\u202c",
    "\u202a\u202b\u202d": r"\u202a\u202b\u202d",
    "\u2066\u2067\u2068\u2069": r"\u2066\u2067\u2068\u2069",
    "\ud800": r"\ud800",
    "caf\udce9": r"caf\udce9",
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.items(), ids=ascii)
def test_what_would_command_a_terminal_is_shown(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    "word", ["école", "日本", "می\u200cخواهم", "क्\u200dष", "שלום", "a\u00a0b", "\\x1b", "👩\u200d💻"]
)
def test_all_else_stays(word):
    assert printable(word) == word
    assert printable_json(word) == word


def test_what_is_kept():
    assert printable("a\tb\nc\x1b\r", keep="\t\n") == "a\tb\nc\\x1b\\r"


@given(st.text(st.sampled_from('aé"\\\n\x1b\x7f\x9b\u2028\u202e\u2066\ud800')), st.sampled_from([None, 2]))
def test_json_is_the_same_value(word, indent):
    text = printable_json(json.dumps({word: [word]}, ensure_ascii=False, indent=indent))
    assert json.loads(text) == {word: [word]}
    assert printable(text, keep="\n") == text
    text.encode()
