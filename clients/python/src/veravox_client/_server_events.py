# SPDX-License-Identifier: Apache-2.0
"""Server-sent events."""

from __future__ import annotations


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
