# SPDX-License-Identifier: Apache-2.0
"""The messages that a server posts to the `callback_url` of a job."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, cast

from ._types import JobSummary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._types import BatchProgress, JobEnrollment, Prediction

_SECRET_PREFIX = "whsec_"
_VERSION = "v1,"


class WebhookJob(JobSummary):
    """The job as `get_job` answers it, without `webhook`."""

    result: Prediction | JobEnrollment | None
    batch: BatchProgress | None
    result_omitted: bool
    """The result is too large for a webhook: fetch the job."""


class WebhookEvent(TypedDict):
    type: Literal["job.succeeded", "job.failed", "job.cancelled"]
    timestamp: str
    """Of the end of the job."""
    data: WebhookJob


class WebhookRefused(Exception):  # noqa: N818 - the name in the TypeScript client
    """The request does not come from the server that has the secret, or is an old one."""


class Headers(Protocol):
    """Those of any framework."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


def verify_webhook(
    body: bytes | str,
    headers: Headers,
    secrets: str | Iterable[str],
    *,
    tolerance_s: float = 300,
    now_s: float | None = None,
) -> WebhookEvent:
    """Check the sender and the time of a webhook. Deliveries can come twice: `webhook-id` tells.

    `body` must be as it was received: parsed and written again, it has other bytes. `secrets` may be several while they
    are being replaced. Raises WebhookRefused, and ValueError for a text that is not a secret.
    """
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    given = {str(name).lower(): str(value) for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if name not in given:
            raise WebhookRefused(f"The request has no header {name}.")
    sent_at = given["webhook-timestamp"]
    now_s = time.time() if now_s is None else now_s
    if not re.fullmatch("[0-9]{1,12}", sent_at) or abs(now_s - int(sent_at)) > tolerance_s:
        raise WebhookRefused(f"The webhook was sent at {sent_at}, which is not within {tolerance_s} s of now.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{given['webhook-id']}.{sent_at}.".encode() + content
    signatures = [part[len(_VERSION) :] for part in given["webhook-signature"].split() if part.startswith(_VERSION)]
    for key in keys:
        expected = base64.b64encode(hmac.digest(key, signed, "sha256"))
        if any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
            return cast("WebhookEvent", json.loads(content))
    raise WebhookRefused("The webhook is not signed with the secret.")


def _key_of(secret: str) -> bytes:
    try:
        if secret.startswith(_SECRET_PREFIX) and (
            key := base64.b64decode(secret[len(_SECRET_PREFIX) :], validate=True)
        ):
            return key
    except binascii.Error:
        pass
    raise ValueError(f"Expected a secret that begins with {_SECRET_PREFIX}, followed by base64.")
