import asyncio
import http.client
import re
import socket
import threading

import pytest

from bilex.errors import ExplorerError
from bilex.explorer import protocol, server

WHOLE = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n"
HALF = {
    "nothing": b"",
    "half a header": WHOLE[:20],
    "half a body": b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\n1234",
    "half a second header": WHOLE + WHOLE[:20],
}


async def greeting(scope, receive, send):
    """Greets whoever has sent a whole request."""
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
def serving():
    """A server in a thread; gives what opens a connection to it."""
    ends, opened = [], []

    def serve(app=greeting):
        bound = server.listen("127.0.0.1", 0)
        place = bound.getsockname()
        made, started = server.make_server(app), threading.Event()
        server._call_after_startup(made, started.set)
        thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        assert started.wait(60)

        def connect(sent=b""):
            opened.append(socket.create_connection(place, timeout=60))
            opened[-1].sendall(sent)
            return opened[-1]

        def end():
            made.should_exit = True
            thread.join(60)
            bound.close()
            assert not thread.is_alive()

        connect.end = end
        ends.append(end)
        return connect

    yield serve
    for end in ends:
        end()
    for connection in opened:
        connection.close()


def greeted(connect):
    connection = connect(WHOLE)
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.read() == b"hello"


def is_closed_by_the_server(connection):
    """Waits for it; a minute without a byte is an error."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


def drip(connection):
    while True:
        connection.send(b"a")


@pytest.mark.parametrize("sent", HALF.values(), ids=HALF)
def test_a_request_that_does_not_arrive_is_given_up(serving, monkeypatch, sent):
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.01)
    assert is_closed_by_the_server(serving()(sent))


def test_a_request_that_drips_in_is_given_up(serving, monkeypatch):
    """Every byte puts off the limit for idle connections, but not the one for requests."""
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.2)
    connection = serving()()
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        drip(connection)


def test_a_request_that_has_arrived_may_take_longer(serving, monkeypatch):
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.01)
    later = threading.Event()
    made = []

    async def slow(scope, receive, send):
        if scope["type"] == "http":
            made.append(scope)
            await asyncio.to_thread(later.wait, 60)
        await greeting(scope, receive, send)

    connect = serving(slow)
    connection = connect(b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 4\r\n\r\nbody")
    other = connect()
    assert is_closed_by_the_server(other), "the limit has passed"
    later.set()
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    assert answer.read() == b"hello"


def test_connections_that_wait_keep_nobody_out(serving, monkeypatch):
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 3600)
    connect = serving()
    slow = [connect(HALF["half a header"]) for _ in range(protocol.MAX_CONNECTIONS)]
    assert greeted(connect)
    more = [connect(HALF["half a body"]) for _ in range(20)]
    assert greeted(connect)
    assert all(map(is_closed_by_the_server, slow[:20])), "those that came first go first"
    more[-1].sendall(b"56789")
    assert more[-1].recv(1000).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("sent", HALF.values(), ids=HALF)
def test_the_end_does_not_wait_for_requests_that_have_not_arrived(serving, monkeypatch, sent):
    monkeypatch.setattr(server, "SHUTDOWN_SECONDS", None)
    connect = serving()
    connection = connect(sent)
    assert greeted(connect)
    connect.end()
    assert is_closed_by_the_server(connection)


@pytest.mark.parametrize("some", [False, True])
def test_the_end_waits_for_an_answer_but_not_for_ever(serving, monkeypatch, capfd, some):
    """Whether some of the answer has been sent or none."""
    from bilex.explorer.guard import Guard

    monkeypatch.setattr(server, "SHUTDOWN_SECONDS", 0.01)
    begun = threading.Event()

    async def stuck(scope, receive, send):
        if scope["type"] == "http":
            if some:
                await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
            begun.set()
            await asyncio.Event().wait()
        await greeting(scope, receive, send)

    connect = serving(Guard(stuck, "token", "127.0.0.1"))
    connection = connect(WHOLE.replace(b"here", b"127.0.0.1"))
    assert begun.wait(60)
    connect.end()
    assert is_closed_by_the_server(connection)
    assert not {"Traceback", "Exception"} & set(re.findall(r"\w+", capfd.readouterr().err))


def test_the_next_port_where_one_is_taken():
    with server.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with server.listen("127.0.0.1", port) as second:
            assert second.getsockname()[1] != port
            assert server.address(second) == f"http://127.0.0.1:{second.getsockname()[1]}/"


def test_there_are_no_web_sockets():
    """Whatever is installed: the limits on what a client may take are not theirs."""
    assert server.make_server(greeting).config.ws == "none"


def test_answers_are_sent_at_once():
    """Asyncio looks at the protocol, and leaves a socket that names none to wait for acknowledgements."""
    with server.listen("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_an_address_of_another_machine():
    with pytest.raises(ExplorerError, match="choose another `port`, or an address of this machine as `host`"):
        server.listen("192.0.2.1", 0)


def test_what_to_open_where_all_may_come():
    with server.listen("0.0.0.0", 0) as bound:
        assert server.address(bound).startswith("http://127.0.0.1:")


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_six():
    try:
        bound = server.listen("::1", 0)
    except ExplorerError:
        pytest.skip("no IPv6 here")
    with bound:
        assert server.address(bound).startswith("http://[::1]:")


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box", False)],
)
def test_loopback(host, own):
    assert server.is_loopback(host) is own
