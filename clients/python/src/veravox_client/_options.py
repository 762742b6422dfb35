# SPDX-License-Identifier: Apache-2.0
"""The keyword arguments of the methods: the fields of the request, and options of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypedDict, Union

from ._types import (
    BatchFields,
    EnrollFields,
    EnrollSamplesFields,
    IdentifyFields,
    JobFields,
    LargeFileFields,
    NewProfileFields,
    PredictFields,
    StreamFields,
    StreamReceived,
    StreamSkipped,
    StreamWindow,
    VerifyFields,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from ._inputs import OnUploadProgress

StreamEvent = Union[StreamWindow, StreamSkipped]


class CallOptions(TypedDict, total=False):
    timeout_s: float
    """For the whole call, with its retries; default: the client's."""
    max_retries: int
    """How often an answer of 429 or 503 is tried again; default: the client's."""
    on_headers: Callable[[httpx.Headers], object]
    """Called with the headers of a successful answer, such as `x-model-ids`."""


class UploadOptions(CallOptions, total=False):
    on_upload_progress: OnUploadProgress
    """Called with the bytes of the file that were sent, and with its size; None if that is unknown."""
    filename: str
    """Default: that of the file, or `audio`."""


class PredictOptions(PredictFields, UploadOptions, total=False):
    pass


class LargeFileOptions(LargeFileFields, UploadOptions, total=False):
    pass


class ProfileOptions(NewProfileFields, UploadOptions, total=False):
    pass


class EnrollOptions(EnrollFields, UploadOptions, total=False):
    pass


class EnrollSamplesOptions(EnrollSamplesFields, UploadOptions, total=False):
    pass


class VerifyOptions(VerifyFields, UploadOptions, total=False):
    pass


class IdentifyOptions(IdentifyFields, UploadOptions, total=False):
    pass


class JobOptions(JobFields, CallOptions, total=False):
    pass


class BatchOptions(BatchFields, CallOptions, total=False):
    pass


class StreamOptions(StreamFields, total=False):
    on_event: Callable[[StreamEvent], object]
    """Called for each window, in order."""
    on_received: Callable[[StreamReceived], object]
    """Called about once per second of audio with the amount that has arrived, and that still waits for analysis."""
    on_connection: Callable[[bool], object]
    """Called with False when the connection is lost, and with True when the stream goes on."""


class ListedVoiceprint(TypedDict):
    id: str
    embedding: Sequence[float]


_CALL_OPTIONS = frozenset(UploadOptions.__annotations__)


def split(options: Mapping[str, Any]) -> tuple[CallOptions, dict[str, Any]]:
    """The options of the call, and the given fields of the request."""
    given = {name: value for name, value in options.items() if value is not None}
    call: CallOptions = {}
    for name in ("timeout_s", "max_retries", "on_headers"):
        if name in given:
            call[name] = given[name]
    return call, {name: value for name, value in given.items() if name not in _CALL_OPTIONS}
