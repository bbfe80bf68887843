import shutil
from dataclasses import replace
from email.utils import formatdate

import pytest

from bilex.data.download import PartialDownload, Session, _open, _write, download
from bilex.data.remote import NotFoundError, Version, open_file
from bilex.data.web import _Redirects
from bilex.errors import DataError

PATH = "/a/en.vec"
OLD = formatdate(1_000_000_000, usegmt=True)


@pytest.fixture
def get(site, waits, tmp_path):
    """Download PATH, and give what is in the part then."""

    def run(max_words=None, session=waits.session):
        part = PartialDownload(tmp_path / "en.vec.part", site.url + PATH)
        download(site.url + PATH, part, max_words=max_words, session=session)
        return part.path.read_bytes()

    return run


def test_a_file_as_it_is(site, get, vec, waits):
    site.files[PATH] = vec
    assert get() == vec
    assert not waits
    assert len(site.requests) == 1
    assert site.requests[0][1]["Accept-Encoding"] == "identity"


def test_a_dropped_connection_goes_on_where_it_broke(site, act, get, vec, waits):
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(stop=500)]
    assert get() == vec
    assert site.ranges() == [None, "bytes=700-", "bytes=1200-"]
    assert waits == [1, 1]  # each try brought something: patience begins anew
    assert "the connection ended after 700 of" in waits.told[0]


def test_waits_grow_while_nothing_comes(site, act, get, vec, waits):
    site.files[PATH] = vec
    site.acts += [act(status=503), act(status=500), act(status=502)]
    assert get() == vec
    assert waits == [1, 2, 4]


def test_the_server_may_say_how_long_to_wait(site, act, get, vec, waits):
    site.files[PATH] = vec
    site.acts += [
        act(status=429, headers={"Retry-After": "7"}),
        act(status=503, headers={"Retry-After": "100000"}),
        act(status=503, headers={"Retry-After": "Wed, 21 Oct 2065 07:28:00 GMT"}),
    ]
    assert get() == vec
    assert waits == [7, 60, 4]


def test_patience_ends(site, act, get, vec, waits):
    site.files[PATH] = vec
    site.acts += [act(status=503)] * 5
    with pytest.raises(DataError, match=r"HTTP 503 .*, 5 times; 0 bytes are kept.* `mirror`"):
        get()
    assert waits == [1, 2, 4, 8]


def test_a_server_without_ranges_that_always_drops_is_given_up(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(ranges=False, stop=700)] * 50
    with pytest.raises(DataError, match="5 times"):
        get()
    assert len(site.requests) == 5


def test_a_server_that_ignores_ranges_sends_all_again(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(ranges=False)]
    assert get() == vec


@pytest.mark.parametrize("if_range", [True, False], ids=["if_range", "no_if_range"])
@pytest.mark.parametrize("change", [b"x%b", b"%b" + b"longer" * 1000, None], ids=["begin", "end", "same_size"])
def test_a_file_that_changes_between_tries_is_never_mixed(site, act, get, vec, if_range, change):
    new = vec.replace(b"w", b"v") if change is None else change % vec
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(body=new, if_range=if_range)]
    assert get() == new


def test_a_file_that_shrinks(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(body=vec[:300], if_range=False)]
    assert get() == vec[:300]


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}, {"Last-Modified": "now"}], ids=str)
def test_without_a_sure_sign_that_it_is_the_same_a_download_begins_anew(site, act, get, vec, headers):
    headers = {name: formatdate(usegmt=True) if value == "now" else value for name, value in headers.items()}
    site.files[PATH] = vec
    site.acts += [act(stop=700, validators=False, headers=headers)]
    assert get() == vec
    assert site.ranges() == [None, None]


def test_an_old_date_is_a_sure_sign(site, act, get, vec):
    site.files[PATH] = vec
    dated = act(validators=False, if_range=False, headers={"Last-Modified": OLD})
    site.acts += [replace(dated, stop=700), dated]
    assert get() == vec
    assert site.ranges() == [None, "bytes=700-"]
    assert site.requests[1][1]["If-Range"] == OLD


def test_a_rest_that_does_not_say_what_it_is_of_is_not_taken(site, act, get, vec):
    """It may be of another file: not every server heeds If-Range."""
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(validators=False)]
    assert get() == vec
    assert site.ranges() == [None, "bytes=700-", None]


def test_a_rest_that_begins_elsewhere_is_not_taken(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(stop=700), act(headers={"Content-Range": f"bytes 600-{len(vec) - 1}/{len(vec)}"})]
    assert get() == vec
    assert site.ranges() == [None, "bytes=700-", None]


def test_a_length_that_is_too_long_is_found_out(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(longer=10)] * 50
    with pytest.raises(DataError, match=rf"ended after {len(vec):,} of {len(vec) + 10:,} bytes"):
        get()


def test_silence_is_not_waited_for(site, act, get, vec, waits, monkeypatch):
    site.files[PATH] = vec
    site.acts += [act(stop=700, stall=True)]

    def in_time(*args):  # only the first answer has to be quick: on a busy machine any other may take longer
        return _open(*args[:-1], args[-1] * (60 if site.requests else 1))

    monkeypatch.setattr("bilex.data.download._open", in_time)
    assert get(session=replace(waits.session, timeout=1.0)) == vec
    assert "no data before the timeout" in waits.told[0]
    assert site.ranges() == [None, "bytes=700-"]


@pytest.mark.parametrize("status", [403, 404, 410])
def test_what_is_not_there_is_not_asked_for_again(site, act, get, status):
    site.acts += [act(status=status)]
    with pytest.raises(NotFoundError, match=rf"{site.url}{PATH}: not there \(HTTP {status}"):
        get()
    assert len(site.requests) == 1


def test_other_refusals(site, act, get):
    site.acts += [act(status=401)]
    with pytest.raises(DataError, match="answered HTTP 401 Unauthorized"):
        get()


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Content-Type": "text/html; charset=utf-8"}, "found a web page, needed data"),
        ({"Content-Encoding": "gzip"}, "sends it compressed"),
        ({"Content-Length": None}, "does not tell the size"),
    ],
    ids=str,
)
def test_answers_that_cannot_be_checked(site, act, get, vec, headers, message, tmp_path):
    site.files[PATH] = vec
    site.acts += [act(headers=headers)]
    with pytest.raises(DataError, match=message):
        get()
    assert list(tmp_path.iterdir()) == []


def test_redirects_are_followed_with_the_range(site, act, get, vec):
    site.files["/b"] = vec
    site.acts += [act(status=302, headers={"Location": "/b"}), act(stop=700)] * 2
    site.acts[3] = act()
    assert get() == vec
    assert site.ranges() == [None, None, "bytes=700-", "bytes=700-"]


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/x", "file:///etc/hostname", "data:,x"])
def test_redirects_to_other_schemes_are_refused(site, act, get, place):
    site.acts += [act(status=302, headers={"Location": place})]
    with pytest.raises(DataError, match=place):
        get()
    assert len(site.requests) == 1


def test_redirects_from_https_to_http_are_refused():
    class Answer:
        closed = False

        def close(self):
            self.closed = True

    class Asked:
        full_url = "https://a/b"

    answer = Answer()
    with pytest.raises(DataError, match="does not follow redirects to http;"):
        _Redirects().redirect_request(Asked(), answer, 302, "Found", {}, "http://a/b")
    assert answer.closed


def test_redirects_in_a_circle(site, act, get):
    site.acts += [act(status=302, headers={"Location": PATH})] * 50
    with pytest.raises(DataError, match="infinite loop"):
        get()


def test_no_connection(tmp_path, waits, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    address = "http://127.0.0.1:1/x"
    with pytest.raises(DataError, match=r"127\.0\.0\.1:1/x: no connection \(.*`mirror`"):
        download(address, PartialDownload(tmp_path / "x.part", address), max_words=None, session=waits.session)
    assert waits == [1, 2, 4, 8]


@pytest.mark.parametrize("address", ["http://127.0.0.1/a b", "http://127.0.0.1:x/a"])
def test_a_bad_address(tmp_path, waits, address, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(DataError, match="not an address"):
        download(address, PartialDownload(tmp_path / "x.part", address), max_words=None, session=waits.session)


def test_an_interrupt_keeps_the_part_and_the_next_call_goes_on(site, act, get, vec, waits, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    site.files[PATH] = vec
    site.acts += [act(stop=700, stall=True)]
    with pytest.raises(KeyboardInterrupt):
        get(session=replace(waits.session, progress=interrupt))
    assert (tmp_path / "en.vec.part").read_bytes() == vec[:700]
    assert get() == vec
    assert site.ranges() == [None, "bytes=700-"]


def test_a_part_of_another_address_is_not_gone_on_with(site, get, vec, tmp_path):
    site.files[PATH] = vec
    PartialDownload(tmp_path / "en.vec.part", "http://elsewhere/en.vec").begin(Version(9, '"x"'))
    (tmp_path / "en.vec.part").write_bytes(b"elsewher")
    assert get() == vec
    assert site.ranges() == [None]


@pytest.mark.parametrize("note", [None, "{", '{"address": 3}', "[]", '{"address": "HERE", "totl": 3}'])
def test_a_part_without_a_good_note_counts_for_nothing(site, get, vec, tmp_path, note):
    site.files[PATH] = vec
    (tmp_path / "en.vec.part").write_bytes(b"nobody knows what")
    if note is not None:
        (tmp_path / "en.vec.part.json").write_text(note.replace("HERE", site.url + PATH))
    assert get() == vec
    assert site.ranges() == [None]


def test_a_part_that_is_all_there_needs_no_server(site, get, vec):
    site.files[PATH] = vec
    assert get() == get() == vec
    assert len(site.requests) == 1


def test_a_full_disk_is_seen_before_anything_is_fetched(site, get, vec, monkeypatch, tmp_path):
    site.files[PATH] = vec
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 0, 100))
    with pytest.raises(DataError, match=r"0\.0 GB are free, en\.vec needs 0\.0 GB; free some space"):
        get()
    assert (tmp_path / "en.vec.part").read_bytes() == b""


def test_of_a_table_that_is_cut_less_room_is_needed(site, act, get, vec, monkeypatch):
    site.files[PATH] = vec
    free = 2 * 3600 + 1
    assert free < len(vec) * 2
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(free, 0, free))
    assert get(max_words=1).startswith(vec[:10])


def test_a_disk_that_is_full_on_the_way():
    class Full:
        name = "en.vec.part"

        def write(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match=r"No space left on device.*the bytes received so far are kept"):
        _write(Full(), b"x")


def test_the_first_words_end_the_download(site, act, get, vec):
    site.files[PATH] = vec
    lines = vec.splitlines(keepends=True)
    end = len(b"".join(lines[:11]))
    site.acts += [act(stop=end, stall=True)]  # the server would hang: what is needed has come
    assert get(max_words=10) == b"".join(lines[:11])


def test_the_first_words_go_on_too(site, act, get, vec):
    site.files[PATH] = vec
    site.acts += [act(stop=5), act(stop=100), act(stop=13)]
    found = get(max_words=100)
    assert vec.startswith(found)
    assert found.count(b"\n") >= 101
    assert site.ranges()[1:] == ["bytes=5-", "bytes=105-", "bytes=118-"]


def test_progress_is_told(site, get, vec, waits):
    told = []
    site.files[PATH] = vec
    get(session=replace(waits.session, progress=lambda *now: told.append(now)))
    assert told[-1] == ("en.vec", len(vec), len(vec))


def test_progress_of_the_first_words_is_in_words(site, get, vec, waits):
    told = []
    site.files[PATH] = vec
    get(max_words=50, session=replace(waits.session, progress=lambda *now: told.append(now)))
    assert told[-1] == ("en.vec", 50, 50)


def test_a_session_is_quiet_by_itself(capfd):
    session = Session()
    session.tell("told")
    session.progress("label", 0, 1)
    assert capfd.readouterr() == ("", "")


def test_a_folder_instead_of_a_server(tmp_path, waits, vec):
    source = tmp_path / "mirror.vec"
    source.write_bytes(vec)
    part = PartialDownload(tmp_path / "x.part", source)
    download(source, part, max_words=None, session=waits.session)
    assert part.path.read_bytes() == vec


def test_a_file_of_a_folder_goes_on_if_it_is_the_same(tmp_path, waits, vec):
    source = tmp_path / "mirror.vec"
    source.write_bytes(vec)
    part = PartialDownload(tmp_path / "x.part", source)
    with open_file(source, 0, None) as remote:
        part.begin(remote.version)
    part.path.write_bytes(vec[:100])
    with open_file(source, 100, part.version()) as remote:
        assert remote.start == 100
    source.write_bytes(vec + b"more 1 2 3\n")
    download(source, part, max_words=None, session=waits.session)
    assert part.path.read_bytes() == vec + b"more 1 2 3\n"


def test_a_folder_that_has_no_such_file(tmp_path, waits):
    with pytest.raises(NotFoundError, match=r"no\.vec: no such file in the mirror"):
        download(tmp_path / "no.vec", PartialDownload(tmp_path / "x.part", "x"), max_words=None, session=waits.session)
    with pytest.raises(DataError, match="cannot be read"):
        download(tmp_path, PartialDownload(tmp_path / "x.part", "x"), max_words=None, session=waits.session)
