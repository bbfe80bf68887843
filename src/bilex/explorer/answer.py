"""What the server answers with."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse

from bilex.storage.strict_json import to_json


class JSONAnswer(JSONResponse):
    """JSON; a number that is not finite becomes null instead of an error of the server."""

    def render(self, content: Any) -> bytes:
        """The text in UTF-8."""
        return to_json(content).encode()
