import pytest

from bilex.explorer.typed import translations

TABLE = {"a, b", "10,000", "x;y", ",", "vers"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vers", ["vers"]),
        ("vers, chez", ["vers", "chez"]),
        ("vers,chez;  à ; ", ["vers", "chez", "à"]),
        ("mot nouveau", ["mot nouveau"]),
        ("新，旧；好、坏", ["新", "旧", "好", "坏"]),
        ("\u3000新\u3000，\u3000旧", ["新", "旧"]),
        ("vers, vers", ["vers"]),
        ("a, b", ["a, b"]),
        ("a, b; c", ["a, b", "c"]),
        ("c, a, b, d", ["c", "a, b", "d"]),
        ("a,b", ["a", "b"]),
        ("x;y", ["x;y"]),
        (",", [","]),
        ("10,000, dix mille", ["10,000", "dix mille"]),
        ("3,5; 3.5", ["3,5", "3.5"]),
        ("1,a", ["1", "a"]),
        (" ; ", []),
        ("", []),
    ],
)
def test_translations(text, words):
    assert translations(text, TABLE) == tuple(words)
