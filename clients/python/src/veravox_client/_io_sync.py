# SPDX-License-Identifier: Apache-2.0
"""What the client needs of its surroundings; `_io_async` has the same without blocking."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._deadline import Deadline
    from ._inputs import Body

HttpClient = httpx.Client
sleep = time.sleep


class Upload(httpx.SyncByteStream):
    """A body."""

    def __init__(self, body: Body, deadline: Deadline) -> None:
        self._body = body
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for block in self._body.blocks:
            self._deadline.check()
            yield block
