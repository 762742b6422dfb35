# SPDX-License-Identifier: Apache-2.0
"""Refusals as exceptions."""

from __future__ import annotations

import calendar
import json
import re
import time
from email.utils import parsedate_tz
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._types import ErrorCode

_MAX_SHOWN_CHARS = 300


class VeravoxError(Exception):
    """An answer without success. Failed connections are errors of httpx, and time limits a TimeoutError."""

    def __init__(
        self,
        message: str,
        code: ErrorCode,
        status: int,
        error_key: str | None = None,
        correlation_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        # All of them, so that it can be pickled.
        super().__init__(message, code, status, error_key, correlation_id, retry_after_s)
        self.message = message
        self.code: ErrorCode = code
        """The server's, or `storage_error` from object storage, or `unexpected_answer` from, say, a proxy."""
        self.status = status
        """The HTTP status."""
        self.error_key = error_key
        """The line of docs/errors.md that says more than the code, such as `AUDIO_TOO_SHORT`."""
        self.correlation_id = correlation_id
        """Identifies the request in the server's log."""
        self.retry_after_s = retry_after_s
        """Seconds after which another try makes sense, if the server says so."""

    def __str__(self) -> str:
        return self.message


def error_of(status: int, headers: Mapping[str, str], body: bytes, fallback: ErrorCode) -> VeravoxError:
    """`fallback` is the code of an answer without one of the service's error bodies."""
    facts = (status, headers.get("x-error-key"), headers.get("x-correlation-id"), _retry_after_s(headers))
    parsed = _parsed(body)
    code, message = parsed.get("error"), parsed.get("message")
    if isinstance(code, str) and isinstance(message, str):
        return VeravoxError(message, cast("ErrorCode", code), *facts)
    if isinstance(message, dict) and isinstance(message.get("detail"), str) and isinstance(message.get("type"), str):
        return VeravoxError(message["detail"], message["type"], *facts)
    text = body.decode(errors="replace")
    # S3's XML says it in one of its elements.
    element = re.search("<Message>([^<]*)", text)
    shown = element[1] if element else text[:_MAX_SHOWN_CHARS]
    return VeravoxError(f"{status} {shown}".strip(), fallback, *facts)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    if value is None:
        return None
    if re.fullmatch("[0-9]+", value):
        return float(value)
    return _seconds_until(value)


def _seconds_until(date: str) -> float | None:
    # `parsedate_to_datetime` refuses by TypeError on Python 3.9. A date without a zone is in UTC.
    parsed = parsedate_tz(date)
    if parsed is None:
        return None
    try:
        return max(0.0, calendar.timegm(parsed[:6]) - (parsed[9] or 0) - time.time())
    except (ValueError, OverflowError):
        return None
