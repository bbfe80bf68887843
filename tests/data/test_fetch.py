import hashlib
import json
import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bilex.data import fetch, get_collection
from bilex.data.checks import read_checksums
from bilex.data.download import Session
from bilex.errors import DataError
from bilex.table import EmbeddingTable

VEC = "/fasttext/vectors-wiki/wiki.en.vec"
CC = "/fasttext/vectors-crawl/cc.en.300.vec.gz"
TXT = "/arrival/dictionaries/en-es.0-5000.txt"
WORDS = b"the el\nhouse casa\n"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def get(site, waits, folder):
    """Fetch one file, from this server."""

    def run(name="en", collection="muse", whole=False, max_words=None, **more):
        items = get_collection(collection).items([name], whole=whole, max_words=max_words)[:1]
        return fetch(items, **({"folder": folder, "mirror": site.url, "session": waits.session} | more))[0]

    return run


def test_a_name_is_no_list_of_files():
    with pytest.raises(DataError, match="found 'muse'; needed files of a collection: get_collection"):
        fetch("muse")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def visible(folder):
    return sorted(path.name for path in (folder / "muse").iterdir() if not path.name.startswith("."))


def head(vec, words):
    return b"%d 3\n" % words + b"".join(vec.splitlines(keepends=True)[1 : words + 1])


def test_a_dictionary(site, get, folder):
    site.files[TXT] = WORDS
    found = get("en-es")
    assert found.path == folder / "muse" / "en-es.0-5000.txt"
    assert found.path.read_bytes() == WORDS
    assert found.new
    assert visible(folder) == ["en-es.0-5000.txt"]
    told = json.loads(json.dumps(found.to_json()))
    assert told["sha256"] == sha256(WORDS)
    assert (told["bytes"], told["status"], told["licence"]) == (len(WORDS), "fetched", "CC BY-NC 4.0")
    assert told["url"] == site.url + TXT


def test_what_is_there_is_not_fetched_again(site, get):
    site.files[TXT] = WORDS
    first, second = get("en-es"), get("en-es")
    assert not second.new
    assert second.record == first.record
    assert len(site.requests) == 1


def test_a_whole_table(site, get, vec, folder):
    site.files[VEC] = vec
    assert get(whole=True).path.read_bytes() == vec
    assert visible(folder) == ["wiki.en.vec"]


def test_the_first_words_of_a_table(site, get, vec, folder):
    site.files[VEC] = vec
    found = get(max_words=10)
    assert found.path.read_bytes() == head(vec, 10)
    assert found.record.words == 10
    assert len(EmbeddingTable.read(found.path)) == 10
    assert EmbeddingTable.read(found.path).report.summary() == []
    assert visible(folder) == ["wiki.en.vec"]


def test_a_table_with_fewer_words_than_asked_for(site, get, vec):
    site.files[VEC] = vec
    found = get()
    assert found.path.read_bytes() == vec
    assert found.record.words == 200
    assert not get(whole=True).new  # it is all there is


def test_more_words_later(site, get, vec):
    site.files[VEC] = vec
    get(max_words=10)
    assert not get(max_words=5).new
    assert get(max_words=20).path.read_bytes() == head(vec, 20)
    assert get(whole=True).path.read_bytes() == vec
    assert not get(max_words=10).new
    assert get(max_words=10, force=True).path.read_bytes() == head(vec, 10)


def test_a_gzipped_table(site, get, zipped, vec):
    site.files[CC] = zipped
    found = get(collection="fasttext-cc", whole=True)
    assert found.path.name == "cc.en.300.vec.gz"
    assert found.path.read_bytes() == zipped
    assert EmbeddingTable.read(found.path).words == [f"w{i}" for i in range(200)]


@pytest.mark.parametrize("stop", [1, 2, 30, 400, None])
def test_the_first_words_of_a_gzipped_table(site, act, get, zipped, vec, stop):
    site.files[CC] = zipped
    site.acts += [act(stop=stop)]
    found = get(collection="fasttext-cc", max_words=10)
    assert found.path.name == "cc.en.300.vec"
    assert found.path.read_bytes() == head(vec, 10)


def test_damaged_gzip_data_are_not_kept(site, get, zipped, folder):
    site.files[CC] = zipped[:40] + bytes(20) + zipped[60:]
    for how in ({"max_words": 10}, {"whole": True}):
        with pytest.raises(DataError, match=r"cc\.en\.300\.vec\.gz: (the compressed data are damaged|it is cut short)"):
            get(collection="fasttext-cc", **how)
    assert [path.name for path in (folder / "fasttext-cc").iterdir()] == [".fetched"]


def test_a_part_of_the_whole_serves_the_first_words_and_the_other_way_round(site, act, get, vec, waits):
    impatient = replace(waits.session, tries=1)
    site.files[VEC] = vec
    site.acts += [act(stop=900)]
    with pytest.raises(DataError, match="900 bytes are kept"):
        get(whole=True, session=impatient)
    assert get(max_words=10).path.read_bytes() == head(vec, 10)
    assert len(site.requests) == 1
    site.acts += [act(stop=900)]
    with pytest.raises(DataError, match="900 bytes are kept"):
        get(max_words=150, session=impatient)
    assert get(whole=True).path.read_bytes() == vec
    assert site.ranges() == [None, None, "bytes=900-"]


def test_a_length_that_is_too_short_is_found_out_by_the_header(site, act, get, vec, folder):
    site.files[VEC] = vec
    site.acts += [act(longer=-100)]
    with pytest.raises(DataError, match=r"wiki\.en\.vec: it is cut short: the header says 200 words, there are 19"):
        get(whole=True)
    assert visible(folder) == []


def test_a_hash_that_was_given_is_the_word_that_counts(site, get, vec):
    site.files[VEC] = vec[:-100]
    assert get(whole=True, checksums={"wiki.en.vec": sha256(vec[:-100])}).new


def test_an_empty_file(site, get):
    site.files[TXT] = b""
    with pytest.raises(DataError, match="it is empty"):
        get("en-es")


def test_a_wrong_code(site, get, folder):
    with pytest.raises(DataError, match=r"not there \(HTTP 404.*\); muse: it has dictionaries to and from en of af ar"):
        get("en-xx")
    assert visible(folder) == []


def test_a_hash_that_was_given(site, get, folder):
    site.files[TXT] = WORDS
    with pytest.raises(DataError, match=rf"its sha256 is {sha256(WORDS)}, needed {'0' * 64}; the download was removed"):
        get("en-es", checksums={"en-es.0-5000.txt": "0" * 64})
    assert visible(folder) == []
    right = {"en-es.0-5000.txt": sha256(WORDS)}
    assert get("en-es", checksums=right).new
    assert not get("en-es", checksums=right).new
    with pytest.raises(DataError, match="fetch it again with `force=True`"):
        get("en-es", checksums={"en-es.0-5000.txt": "0" * 64})


def test_the_hash_of_a_cut_table_is_that_of_the_cut(site, get, vec):
    site.files[VEC] = vec
    with pytest.raises(DataError, match="its sha256, cut to 10 words, is"):
        get(max_words=10, checksums={"wiki.en.vec": sha256(vec)})
    assert get(max_words=10, checksums={"wiki.en.vec": sha256(head(vec, 10))}).new


def test_a_change_since_the_first_fetch_is_refused_until_accepted(site, get, folder):
    site.files[TXT] = WORDS
    first = get("en-es")
    site.files[TXT] = WORDS + b"new nuevo\n"
    with pytest.raises(DataError, match=rf"has changed since {first.record.fetched_at[:10]}.*`accept_changed=True`"):
        get("en-es", force=True)
    assert first.path.read_bytes() == WORDS  # the old one stays
    first.path.unlink()
    with pytest.raises(DataError, match="has changed"):
        get("en-es")
    assert visible(folder) == []
    assert get("en-es", accept_changed=True).path.read_bytes() == site.files[TXT]
    assert not get("en-es", verify=True).new


def test_a_hash_that_was_given_accepts_a_change(site, get):
    site.files[TXT] = WORDS
    get("en-es")
    site.files[TXT] = WORDS * 2
    assert get("en-es", force=True, checksums={"en-es.0-5000.txt": sha256(WORDS * 2)}).new


def test_the_first_fetch_is_remembered(site, get):
    site.files[TXT] = WORDS
    first = get("en-es")
    assert get("en-es", force=True).record == first.record


def test_a_file_that_was_changed_here(site, get):
    site.files[TXT] = WORDS
    path = get("en-es").path
    path.write_bytes(WORDS.replace(b"casa", b"CASA"))
    assert not get("en-es").new  # the same size: only --verify looks inside
    with pytest.raises(DataError, match=r"its sha256 is .*`force=True`"):
        get("en-es", verify=True)
    path.write_bytes(WORDS[:5])
    with pytest.raises(DataError, match=r"it has changed since it was fetched.*`force=True`"):
        get("en-es")
    assert get("en-es", force=True).path.read_bytes() == WORDS


def test_a_file_that_somebody_put_there_is_left_as_it_is(site, get, folder):
    (folder / "muse").mkdir(parents=True)
    (folder / "muse" / "wiki.en.vec").write_bytes(b"my own")
    found = get()
    assert (found.new, found.record, found.path.read_bytes()) == (False, None, b"my own")
    assert found.to_json()["sha256"] is None
    assert site.requests == []


def test_a_folder_to_read_only(site, get, folder):
    site.files[TXT] = WORDS
    get("en-es")
    (folder / "muse" / ".fetched").chmod(0o500)
    try:
        assert not get("en-es").new
        assert not (folder / "muse" / ".fetched" / "en-es.0-5000.txt.lock").exists()
    finally:
        (folder / "muse" / ".fetched").chmod(0o700)


def test_a_folder_as_mirror(get, vec, tmp_path):
    path = tmp_path / "mirror" / VEC[1:]
    path.parent.mkdir(parents=True)
    path.write_bytes(vec)
    for mirror in (str(tmp_path / "mirror"), (tmp_path / "mirror").as_uri()):
        assert get(max_words=10, mirror=mirror, force=True).path.read_bytes() == head(vec, 10)
    with pytest.raises(DataError, match="no such file in the mirror; muse: it has dictionaries"):
        get("es", mirror=str(tmp_path / "mirror"))


def test_several_at_once_get_the_file_once(site, act, get, vec, waits):
    started, going_on = threading.Event(), threading.Event()

    def progress(*_):
        started.set()
        going_on.wait(20)

    def tell(message):
        waits.told.append(message)
        going_on.set()

    def work(session):
        found.append(get(whole=True, session=session))

    found = []
    site.files[VEC] = vec
    first = threading.Thread(target=work, args=(Session(progress=progress),))
    second = threading.Thread(target=work, args=(Session(tell=tell, wait=lambda _: going_on.wait(0.01)),))
    first.start()
    assert started.wait(20)
    second.start()
    first.join()
    second.join()
    assert sorted(file.new for file in found) == [False, True], "either may be the first to come back"
    assert found[0].path.read_bytes() == vec
    assert len(site.requests) == 1
    assert f"process {os.getpid()} on " in waits.told[0]
    assert "is fetching it; waiting for that" in waits.told[0]


def test_checksums_as_sha256sum_prints_them(tmp_path):
    path = tmp_path / "sums"
    path.write_text(f"{'aA' * 32}  muse/wiki.en.vec\n{'0' * 64} *b.txt\n")
    assert read_checksums(path) == {"wiki.en.vec": "aa" * 32, "b.txt": "0" * 64}
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert read_checksums(path) == {"wiki.en.vec": "aa" * 32, "b.txt": "0" * 64}
    path.write_text("md5  x\n")
    with pytest.raises(DataError, match=r"sums:1: found 'md5  x'; needed a sha256, two spaces and a file name"):
        read_checksums(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_checksums(tmp_path / "absent")


VERSIONS = [b"40 2\n" + b"".join(b"%c%d %d 0.5\n" % (letter, i, i) for i in range(40)) for letter in b"ab"]


@st.composite
def misbehaviour(draw):
    """Anything that a server may do to one request, but for a length that is too short."""
    mostly = st.sampled_from([True, True, True, False])
    return {
        "status": draw(st.sampled_from([200, 200, 200, 503])),
        "body": draw(st.sampled_from([None, *VERSIONS])),
        "stop": draw(st.integers(0, 600)),
        "ranges": draw(mostly),
        "if_range": draw(st.booleans()),
        "validators": draw(mostly),
        "longer": draw(st.sampled_from([0, 0, 0, 7])),
    }


def unlike(**more):
    """Nothing else than this is wrong."""
    usual = {"status": 200, "body": None, "stop": 600, "ranges": True, "if_range": False, "validators": True}
    return {**usual, "longer": 0, **more}


@hypothesis_settings(max_examples=300)
@example([unlike(stop=406), unlike(body=VERSIONS[1], validators=False)], None, 1)
@given(st.lists(misbehaviour(), min_size=1, max_size=8), st.sampled_from([None, 20, 100]), st.integers(1, 3))
def test_the_file_is_one_that_was_served_or_none(running_site, act, acts, max_words, calls):
    """Over several calls of little patience, whatever the server does."""
    running_site.forget()
    running_site.files[VEC] = VERSIONS[0]
    running_site.acts += [act(**more) for more in acts]
    items = get_collection("muse").items(["en"], whole=max_words is None, max_words=max_words)
    good = {body if max_words is None else head_of(body, max_words) for body in VERSIONS}
    session = Session(timeout=60, tries=2, wait=lambda _: None)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "*")
        path = Path(folder) / "muse" / "wiki.en.vec"
        for _ in range(calls):
            try:
                fetch(items, folder=Path(folder), mirror=running_site.url, session=session)
            except DataError:
                assert not path.exists()
            else:
                assert path.read_bytes() in good
                assert visible(Path(folder)) == ["wiki.en.vec"]


def head_of(body, words):
    lines = body.splitlines(keepends=True)[1 : words + 1]
    return b"%d 2\n" % len(lines) + b"".join(lines)
