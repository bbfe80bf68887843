"""What strangers may not do, with or without a browser that helps them."""

import re

import pytest

from bilex.explorer import guard
from bilex.explorer.page import NAMES, static_files

DECISION = {"source": "a", "suggestion": "x", "verdict": "accepted"}


def test_every_answer_has_the_headers(client):
    for path in ("/", "/static/main.js", "/api/status", "/api/nothing", "/api/translate"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in guard.HEADERS} == guard.HEADERS
    assert "unsafe" not in guard.POLICY


def test_head_tells_what_get_would(client):
    for path in ("/", "/static/main.js", "/api/status"):
        told, asked = client.head(path), client.get(path)
        assert told.status_code == 200
        assert told.headers == asked.headers
    assert client.head("/api/status", headers={"origin": "https://evil.example"}).status_code == 403


def test_the_page_loads_nothing_from_elsewhere(client, token):
    page = client.get("/").text
    assert token in page
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert {path.removeprefix("/static/") for path in loaded if path.startswith("/static/")} <= set(NAMES)
    assert not [path for path in loaded if not path.startswith(("/static/", "#", "/api/"))]
    for name, file in static_files().items():
        text = file.content.decode()
        assert not re.findall(r"https?://(?!www\.w3\.org)", text), name
        for markup in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc"):
            assert markup not in text, f"{name}: {markup}"
        assert set(re.findall(r'from "\./([^"]+)"', text)) <= set(NAMES)
    assert not re.findall(r"<script(?![^>]*src=)|<style| style=| on\w+=", page)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8421", "127.0.0.1.evil.example", "localhost.evil.example", "", "a@127.0.0.1",
     "[", "[::1", "0.0.0.0:8421", "127.0.0.1:8421, evil.example", "localhost:x", "127.0.0.1/x"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/status"])
def test_other_names_are_refused(client, host, path, token):
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["error"].startswith("this server has another address")
    assert token not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "localhost", "LOCALHOST:9000", "[::1]:8421", "192.168.0.7:8421"])
def test_own_names_are_taken(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


def test_writing_needs_the_token(client, token):
    for shown in ("", "wrong", token + "x", "ÿ"):
        for path in ("/api/decide", "/api/undo"):
            headers = {"x-bilex-token": shown.encode()}
            assert client.post(path, json=DECISION, headers=headers).status_code == 403
    assert client.explorer.corrections.current() == {}
    assert client.post("/api/decide", json=DECISION).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:9999"},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
    ids=str,
)  # fmt: skip
def test_requests_of_other_sites_are_refused(client, headers):
    assert client.post("/api/decide", json=DECISION, headers=headers).status_code == 403
    assert client.get("/api/status", headers=headers).status_code == 403
    assert client.get("/api/export", headers=headers).status_code == 403
    assert client.explorer.corrections.current() == {}


def test_the_own_page_and_a_link_to_it_are_fine(client):
    own = {"origin": "http://127.0.0.1:8421", "sec-fetch-site": "same-origin"}
    assert client.post("/api/decide", json=DECISION, headers=own).status_code == 200
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_do_nothing(client, method):
    assert client.request(method, "/api/decide").status_code == 405
    assert client.request(method, "/api/decide", headers={"x-bilex-token": ""}).status_code == 403


def test_large_requests_are_refused(client):
    body = b'{"source": "' + b"a" * guard.MAX_BODY_BYTES + b'"}'
    assert client.post("/api/decide", content=body).status_code == 413
    parts = (body[i : i + 1000] for i in range(0, len(body), 1000))
    assert client.post("/api/decide", content=parts).status_code == 413
    assert client.post("/api/decide", content=b"{}", headers={"content-length": "-1"}).status_code == 413
    assert client.get("/api/complete", params={"text": "a" * 5000, "side": "source"}).status_code == 414


def test_requests_of_the_largest_size_are_taken(client):
    body = b" " * (guard.MAX_BODY_BYTES - 2) + b"{}"
    for sent in (body, (body[i : i + 1000] for i in range(0, len(body), 1000))):
        answer = client.post("/api/decide", content=sent, headers={"content-type": "application/json"})
        assert answer.status_code == 422, "it was read, and found to be no decision"
    for sent in (body + b" ", iter([body, b" "])):
        assert client.post("/api/decide", content=sent).status_code == 413


def test_addresses_of_the_largest_size_are_taken(client):
    fixed = "side=source&text="
    longest = f"/api/complete?{fixed}{'a' * (guard.MAX_QUERY_BYTES - len(fixed))}"
    assert client.get(longest).status_code == 422, "it was read, and found to be too long a word"
    assert client.get(f"{longest}a").status_code == 414


@pytest.mark.parametrize("length", ["1e3", "²", "0x10", "", "12, 12"])
def test_lengths_are_numbers(client, length):
    assert (
        client.post("/api/decide", content=b"{}", headers={"content-length": length.encode("latin-1")}).status_code
        == 413
    )


def test_the_name_that_was_given_with_host_is_ours(client, token):
    app = guard.Guard(client.app.app, token, "Box")
    for host, ours in [("box", True), ("BOX:8421", True), ("box.example", False), ("[::]:80", False), ("[::1]", True)]:
        assert app._is_ours(host) is ours, host


@pytest.mark.parametrize("name", ["host", "origin", "x-bilex-token"])
def test_a_header_that_is_there_twice_fits_nothing(client, token, name):
    value = {"host": "127.0.0.1:8421", "origin": "http://127.0.0.1:8421", "x-bilex-token": token}[name]
    once, twice = [(name, value)], [(name, value), (name, value)]
    kept = [(key, own) for key, own in client.headers.items() if key != name]
    for given, status in ((once, 200), (twice, 421 if name == "host" else 403)):
        client.headers = [*kept, *given]
        assert client.post("/api/decide", json=DECISION).status_code == status


def test_an_origin_of_the_same_host_is_ours_with_and_without_encryption(client):
    for origin, status in [("https://127.0.0.1:8421", 200), ("http://127.0.0.1:8421", 200), ("ftp://127.0.0.1", 403)]:
        assert client.get("/api/status", headers={"origin": origin}).status_code == status


def test_pages_and_scripts_may_be_linked_to_from_elsewhere_and_answers_may_not(client):
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert client.get("/static/main.js", headers=elsewhere).status_code == 200
    assert client.get("/api/status", headers=elsewhere).status_code == 403
    assert client.get("/api/status", headers={"sec-fetch-site": "none"}).status_code == 200
    assert client.post("/", headers=elsewhere).status_code == 403
