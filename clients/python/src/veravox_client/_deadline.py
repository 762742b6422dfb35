# SPDX-License-Identifier: Apache-2.0
"""The time limit of a call, and the pauses between its tries."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from ._errors import VeravoxError

RETRIED_STATUSES = (429, 503)
_MAX_BACKOFF_S = 30.0
_SHORTEST_S = 0.001


class Deadline:
    """httpx limits single reads and writes; `check` between them limits the whole."""

    def __init__(self, timeout_s: float, silence_s: float | None = None) -> None:
        self._timeout_s = timeout_s
        self._ends_at = time.monotonic() + timeout_s
        self._silence_s = silence_s
        self.timeout: dict[str, float | None] = {}

    def left_s(self) -> float:
        return self._ends_at - time.monotonic()

    def begin_try(self) -> dict[str, float | None]:
        """The limits of the next operations, which `check` renews: httpx looks at them before each."""
        self.timeout = httpx.Timeout(None).as_dict()
        self.check()
        return self.timeout

    def check(self) -> None:
        left_s = self.left_s()
        if left_s <= 0:
            raise self.error()
        for name in self.timeout:
            self.timeout[name] = max(_SHORTEST_S, left_s)
        if self._silence_s is not None:
            self.timeout["read"] = min(self._silence_s, left_s)

    def error(self) -> TimeoutError:
        if self._silence_s is not None and self.left_s() > 0:
            return TimeoutError(f"Nothing came for {self._silence_s} s.")
        return TimeoutError(f"There was no answer within {self._timeout_s} s.")


def wait_s(error: VeravoxError, retries: int, backoff_s: float) -> float:
    """Back-off with full jitter, so that refused clients do not return all at once; never earlier than asked for."""
    longest_s = min(_MAX_BACKOFF_S, backoff_s * 2.0**retries)
    return (error.retry_after_s or 0.0) + random.random() * longest_s
