"""HTTP with time limits: uvicorn has one for idle connections, but none for requests that do not arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

REQUEST_SECONDS = 10
"""A request must have arrived by then, header and body."""
ANSWER_SECONDS = 600
"""After a connection is closed on this side, what was answered may still be fetched for so long."""
CONNECTIONS = 100
"""At most so many are open: for one more, the one that has waited longest for its request is cut off.

uvicorn's `limit_concurrency` would turn away the new one instead, so that idle connections could keep everybody out.
"""


class TimedProtocol(H11Protocol):
    """A connection that is closed if its request does not arrive in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > CONNECTIONS:
            self._close_oldest()

    def data_received(self, data: bytes) -> None:
        """Take what has come; the deadline holds until the request is complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._cancel()

    def shutdown(self) -> None:
        """The server ends: finish the answer at hand, but do not wait for a request that has not arrived."""
        super().shutdown()
        if self._deadline:
            self.transport.close()

    def _watch(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _cancel(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        """Close the connection; what was answered may still be fetched for a while."""
        self.transport.close()
        self._deadline = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def _close_oldest(self) -> None:
        others = cast("set[Any]", self.connections)
        waiting = [connection for connection in others if connection._deadline]
        if waiting:
            oldest = min(waiting, key=lambda connection: connection._deadline.when())
            oldest._cancel()  # so that the next one finds another
            oldest.transport.abort()
