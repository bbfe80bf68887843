"""Files end with one newline."""

import pytest

from end_of_file import repair


@pytest.mark.parametrize(
    ("written", "repaired"),
    [(b"a", b"a\n"), (b"a\n\n\n", b"a\n"), (b"a\r\n", b"a\n"), (b"\n", b""), (b"a\n", b"a\n"), (b"", b"")],
)
def test_a_file_ends_with_one_newline(tmp_path, written, repaired):
    path = tmp_path / "file"
    path.write_bytes(written)
    assert repair(path) is (written != repaired)
    assert path.read_bytes() == repaired
