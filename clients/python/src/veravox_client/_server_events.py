# SPDX-License-Identifier: Apache-2.0
"""Server-sent events."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_event_stream(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").lower().startswith("text/event-stream")


class ServerEvents:
    """Puts lines together."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def take(self, line: str) -> str | None:
        """Return the data of the event that ends with this line."""
        if line.startswith("data: "):
            self._data.append(line[len("data: ") :])
        if line or not self._data:
            return None
        data, self._data = "\n".join(self._data), []
        return data
