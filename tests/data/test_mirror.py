from pathlib import Path

import pytest

from bilex.data.mirror import mirror_address
from bilex.errors import DataError

URL = "https://host.example/fasttext/vectors-wiki/wiki.en.vec"
BELOW = "fasttext/vectors-wiki/wiki.en.vec"


@pytest.fixture(autouse=True)
def none_set(monkeypatch):
    monkeypatch.delenv("BILEX_MIRROR", raising=False)


def test_no_mirror():
    assert mirror_address(URL) == URL


@pytest.mark.parametrize(
    ("mirror", "address"),
    [
        ("http://m.example", f"http://m.example/{BELOW}"),
        ("https://m.example:8080/a/b/", f"https://m.example:8080/a/b/{BELOW}"),
        ("file:///data/a%20b", Path("/data/a b") / BELOW),
        ("file://localhost/data", Path("/data") / BELOW),
        ("/data", Path("/data") / BELOW),
        ("data", Path("data") / BELOW),
        ("~/data", Path("~/data").expanduser() / BELOW),
    ],
)
def test_the_same_path_below_a_mirror(mirror, address, monkeypatch):
    assert mirror_address(URL, mirror) == address
    monkeypatch.setenv("BILEX_MIRROR", mirror)
    assert mirror_address(URL) == address
    assert mirror_address(URL, "/other") == Path("/other") / BELOW


@pytest.mark.parametrize("mirror", ["ftp://m.example", "data://x", "s3://bucket", "javascript://x", "://x"])
def test_other_schemes(mirror):
    with pytest.raises(DataError, match=r"needed http://, https://, file:// or a folder"):
        mirror_address(URL, mirror)


@pytest.mark.parametrize(
    "mirror", ["https://user:secret@m.example", "https://m.example?key=secret", "https://m.example#secret"]
)
def test_no_secrets_and_none_shown(mirror):
    with pytest.raises(DataError, match="without user name") as refused:
        mirror_address(URL, mirror)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("mirror", ["https://", "https:///a", "file://host/data"])
def test_hosts(mirror):
    with pytest.raises(DataError, match="needed https://HOST/PATH, or file:///PATH without a host"):
        mirror_address(URL, mirror)
