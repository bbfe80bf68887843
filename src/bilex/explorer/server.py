"""The server: a free port, the address to open, and a clean shutdown."""

from __future__ import annotations

import importlib
import ipaddress
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Any

from bilex.errors import ExplorerError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn

PORT = 8421
PORTS_TRIED = 50
"""Ports that are tried, from the first one on."""
SHUTDOWN_SECONDS = 5
"""Seconds that responses in progress may take at shutdown."""


def require_packages() -> None:
    """Raise an error early if the extra is not installed."""
    for package in ("fastapi", "uvicorn"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise MissingExtraError(package, "explore", "bilex explore") from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket on this port or the next free one; 0 means any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port, min(port + PORTS_TRIED, 65536)) if port else (0,):
        # With IPPROTO_TCP asyncio sets TCP_NODELAY; without it, responses wait 40 ms for an acknowledgement.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if sys.platform != "win32":  # on Windows it would share a port that is in use
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, number))
            bound.listen(128)
        except (OSError, OverflowError) as error:
            bound.close()
            reason = error
        else:
            return bound
    raise ExplorerError(
        f"{host}, port {port}: no port could be opened ({reason}); choose another `port`, or an address of this "
        "machine as `host`"
    )


def address(bound: socket.socket) -> str:
    """The URL for a browser on this machine."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(app: Any, bound: socket.socket, *, on_start: Callable[[], None] | None = None) -> None:
    """Answer requests until the program is interrupted."""
    server = make_server(app)
    if on_start:
        _call_after_startup(server, on_start)
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:  # Ctrl-C stops the server
        pass
    finally:
        bound.close()


def make_server(app: Any) -> uvicorn.Server:
    """The server of an application, with limits for clients."""
    import uvicorn

    from bilex.explorer.protocol import TimedProtocol

    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        log_level="error",  # malformed requests are not reported at the terminal
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=32 * 1024,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


def open_browser(url: str) -> None:
    """Open the page, if there is a browser."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _call_after_startup(server: Any, on_start: Callable[[], None]) -> None:
    """Call `on_start` as soon as the server accepts requests."""
    start = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await start(sockets=sockets)
        on_start()

    server.startup = startup
