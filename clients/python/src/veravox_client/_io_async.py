# SPDX-License-Identifier: Apache-2.0
"""What the client needs of its surroundings, without blocking; `_io_sync` has the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ._deadline import Deadline
    from ._inputs import Body

HttpClient = httpx.AsyncClient
sleep = anyio.sleep


class Upload(httpx.AsyncByteStream):
    """A body, whose blocks are read by a thread."""

    def __init__(self, body: Body, deadline: Deadline) -> None:
        self._body = body
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        blocks = iter(self._body.blocks)
        while (block := await anyio.to_thread.run_sync(next, blocks, None)) is not None:
            self._deadline.check()
            yield block
