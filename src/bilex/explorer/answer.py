"""The JSON responses of the server."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse

from bilex.storage.strict_json import to_json


class JSONAnswer(JSONResponse):
    """A JSON response. A number that is not finite becomes null instead of a server error."""

    def render(self, content: Any) -> bytes:
        """The JSON text in UTF-8."""
        return to_json(content).encode()
