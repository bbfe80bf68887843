import socket

import pytest

from bilex.errors import ExplorerError
from bilex.explorer import server


def test_the_next_port_where_one_is_taken():
    with server.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with server.listen("127.0.0.1", port) as second:
            assert second.getsockname()[1] != port
            assert server.address(second) == f"http://127.0.0.1:{second.getsockname()[1]}/"


def test_answers_are_sent_at_once():
    """Asyncio looks at the protocol, and leaves a socket that names none to wait for acknowledgements."""
    with server.listen("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_an_address_of_another_machine():
    with pytest.raises(ExplorerError, match="--host"):
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
