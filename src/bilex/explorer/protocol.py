"""HTTP with time limits. uvicorn has a limit for idle connections, but none for incomplete requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

REQUEST_SECONDS = 10
"""Seconds within which a request must arrive, with header and body."""
RESPONSE_SECONDS = 600
"""Seconds for which a client may still read the response after the server has closed the connection."""
MAX_CONNECTIONS = 100
"""Open connections at most. One more closes the connection that has waited longest for its request.

uvicorn's `limit_concurrency` refuses the new connection instead, so idle connections could block all others.
"""


class TimedProtocol(H11Protocol):
    """A connection that is closed if its request does not arrive in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self._update_deadline()
        if len(self.connections) > MAX_CONNECTIONS:
            self._close_oldest()

    def data_received(self, data: bytes) -> None:
        """Handle the data. The deadline remains until the request is complete."""
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        """Start the deadline of the next request."""
        super().on_response_complete()
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        super().connection_lost(exc)
        self._cancel()

    def shutdown(self) -> None:
        """Finish the current response, but do not wait for an incomplete request."""
        super().shutdown()
        if self._deadline:
            self.transport.close()

    def _update_deadline(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._time_out)

    def _cancel(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        """Close the connection. The client may still read the response for a while."""
        self.transport.close()
        self._deadline = self.loop.call_later(RESPONSE_SECONDS, self.transport.abort)

    def _close_oldest(self) -> None:
        connections = cast("set[Any]", self.connections)
        waiting = [connection for connection in connections if connection._deadline]
        if waiting:
            oldest = min(waiting, key=lambda connection: connection._deadline.when())
            oldest._cancel()  # so that it is not chosen again
            oldest.transport.abort()
