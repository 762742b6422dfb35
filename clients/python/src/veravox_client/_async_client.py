# SPDX-License-Identifier: Apache-2.0
"""The client. `npm run docs` makes `_sync_client.py` of this file by leaving out what is asynchronous."""

from __future__ import annotations

import base64
import json
import struct
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlencode

import httpx

from ._deadline import RETRIED_STATUSES, Deadline, wait_s
from ._errors import error_of
from ._inputs import Call, FileInput, deletion_queries, file_body, form_body, json_body, opened
from ._io_async import HttpClient, Upload, sleep
from ._options import CallOptions, split
from ._server_address import server_address
from ._server_events import ServerEvents, is_event_stream
from ._stream import AsyncLiveStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from typing_extensions import Self, Unpack

    from ._options import (
        BatchOptions,
        EnrollOptions,
        EnrollSamplesOptions,
        IdentifyOptions,
        JobOptions,
        LargeFileOptions,
        ListedVoiceprint,
        PredictOptions,
        ProfileOptions,
        StreamOptions,
        UploadOptions,
        VerifyOptions,
    )
    from ._types import (
        DeletedFiles,
        Enrollment,
        ErrorCode,
        Identification,
        Job,
        JobList,
        JobSummary,
        LargeFilePrediction,
        Link,
        LinkList,
        MadeProfile,
        Prediction,
        Profile,
        ProfileList,
        ProfileSummary,
        SampleEnrollment,
        Verification,
    )

_RECONNECT_S = 1.0


class AsyncVeravoxClient:
    """Speaks v1 of the service. Every method raises VeravoxError when the server refuses."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_s: float = 600,
        max_retries: int = 4,
        backoff_s: float = 0.5,
        http_client: HttpClient | None = None,
    ) -> None:
        """Make a client for a server such as `http://127.0.0.1:8080`.

        `timeout_s` limits a call with all its retries. An answer of 429 or 503 is tried again `max_retries` times;
        `backoff_s` is the longest first pause if the server asks for none. `http_client` is for a proxy or certificates
        of your own, and is not closed.
        """
        self._base_url = f"{server_address(base_url)}/v1"
        self._headers = {"x-api-key": api_key}
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._backoff_s = backoff_s
        self._is_http_ours = http_client is None
        self._http = http_client or HttpClient()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._is_http_ours:
            await self._http.aclose()

    async def predict(
        self, file: FileInput | None = None, *, presigned_url: str | None = None, **options: Unpack[PredictOptions]
    ) -> Prediction:
        """Is the voice in this recording AI-generated?"""
        return cast("Prediction", await self._analyse("/predict", file, presigned_url, options))

    async def predict_large_file(
        self, file: FileInput | None = None, *, presigned_url: str | None = None, **options: Unpack[LargeFileOptions]
    ) -> LargeFilePrediction:
        """Do the same for files of 5 MB to 100 MiB."""
        name = {"filename": options["filename"]} if "filename" in options else {}
        path = "/predict/large-file"
        return cast("LargeFilePrediction", await self._analyse(path, file, presigned_url, options, name))

    async def create_job(self, **options: Unpack[JobOptions]) -> Job:
        """Do the same for a recording of any length, in the background: see `wait_for_job`.

        The recording is a stored file (`key`, `entity`) or behind a link (`presigned_url`). Needs no open connection.
        """
        return await self._create_job("/jobs", options)

    async def create_batch(self, **options: Unpack[BatchOptions]) -> Job:
        """Analyse all recordings of a manifest (`lines`, `key` or `presigned_url`) as one job."""
        return await self._create_job("/batches", options)

    async def get_job(self, job_id: str, **options: Unpack[CallOptions]) -> Job:
        return cast("Job", await self._json("GET", _job_path(job_id), options))

    async def list_jobs(
        self,
        *,
        state: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> JobList:
        """List the account's jobs without their results, the newest first; `cursor` is the `next_cursor` of a page."""
        query = {"state": state, "limit": limit, "cursor": cursor}
        given = urlencode({name: value for name, value in query.items() if value is not None})
        return cast("JobList", await self._json("GET", f"/jobs?{given}", options))

    async def cancel_job(self, job_id: str, **options: Unpack[CallOptions]) -> Job:
        """Return the job; one that had already ended is unchanged."""
        return cast("Job", await self._json("DELETE", _job_path(job_id), options))

    async def wait_for_job(
        self,
        job_id: str,
        *,
        poll_s: float = 1,
        on_job: Callable[[Job], object] | None = None,
        **options: Unpack[CallOptions],
    ) -> Job:
        """Wait for the job, which has then succeeded, failed or been cancelled.

        There is no limit of time; `timeout_s` is that of each look. An exception of `on_job` ends the wait.
        """
        while True:
            job = await self.get_job(job_id, **options)
            if on_job is not None:
                on_job(job)
            if job["finished_at"] is not None:
                return job
            await sleep(poll_s)

    async def follow_job(
        self, job_id: str, *, silence_s: float = 40, **options: Unpack[CallOptions]
    ) -> AsyncIterator[JobSummary]:
        """Yield the job as it is, and after each change until it has ended.

        A connection that is cut, or that brings nothing for `silence_s`, is opened again, `max_retries` times in a row.
        Each lasts for `timeout_s` at most.
        """
        call = Call("GET", f"{self._base_url}{_job_path(job_id)}/events", self._headers)
        latest = ""
        failures = 0
        while True:
            try:
                deadline = Deadline(options.get("timeout_s", self._timeout_s), silence_s)
                async with self._answer(call, options, deadline=deadline) as response:
                    if not is_event_stream(response.headers):
                        content = await _content(response, deadline)
                        raise error_of(response.status_code, response.headers, content, "unexpected_answer")
                    events = ServerEvents()
                    async for line in response.aiter_lines():
                        deadline.check()
                        data = events.take(line)
                        if data is None:
                            continue
                        failures = 0
                        if data == latest:
                            continue
                        latest = data
                        job: JobSummary = json.loads(data)
                        yield job
                        if job["finished_at"] is not None:
                            return
            except (httpx.TransportError, TimeoutError):
                failures += 1
                if failures > options.get("max_retries", self._max_retries):
                    raise
            await sleep(_RECONNECT_S)

    async def stream(self, **options: Unpack[StreamOptions]) -> AsyncLiveStream:
        """Stream audio while it is spoken, and go on after a lost connection. Needs the extra `stream`.

        Returns the stream once it has begun. Callbacks run in the thread of the connection.
        """
        address = self._base_url.replace("http", "ws", 1)
        return await AsyncLiveStream.open(f"{address}/stream", self._headers, options)

    async def enroll(self, sample: FileInput, **options: Unpack[EnrollOptions]) -> Enrollment:
        """Make a voiceprint of a clean sample. The server does not keep it: store `embedding`."""
        return cast("Enrollment", await self._send_files("/voiceid/enroll", "audio_file", [sample], options))

    async def enroll_samples(
        self, samples: Sequence[FileInput], **options: Unpack[EnrollSamplesOptions]
    ) -> SampleEnrollment:
        """Make one voiceprint of up to ten samples of one speaker, with feedback on each."""
        path = "/voiceid/enroll-samples"
        return cast("SampleEnrollment", await self._send_files(path, "audio_file", samples, options))

    async def verify(
        self, sample: FileInput, embedding: Sequence[float], **options: Unpack[VerifyOptions]
    ) -> Verification:
        """Is this the voice of the embedding, as `enroll` gave it?"""
        voiceprint = {"voice_vector": json.dumps([float(x) for x in embedding])}
        return cast(
            "Verification", await self._send_files("/voiceid/verify", "audio_file", [sample], options, voiceprint)
        )

    async def identify(
        self, sample: FileInput, voiceprints: Sequence[ListedVoiceprint], **options: Unpack[IdentifyOptions]
    ) -> Identification:
        """Whose voice of a list is this? There may be 10,000 voiceprints, with the embeddings of `enroll`."""
        listed = [{"id": one["id"], "voice_vector": _base64(one["embedding"])} for one in voiceprints]
        fields = {"voiceprints": json.dumps(listed)}
        return cast(
            "Identification", await self._send_files("/voiceid/search", "audio_file", [sample], options, fields)
        )

    async def make_profile(
        self,
        name: str,
        genuine: Sequence[FileInput],
        generated: Sequence[FileInput] = (),
        **options: Unpack[ProfileOptions],
    ) -> MadeProfile:
        """Make a profile of ten or more genuine recordings of your own channel, or its next version.

        Raises `validation_error` if recordings left out show no gain, or at too high a cost: then nothing is saved.
        The server keeps no audio. `generated` are AI-generated recordings of the channel, which must not pass.
        """
        files = {"file": genuine, "generated": generated}
        return cast("MadeProfile", await self._send_form("/profiles", files, options, {"name": name}))

    async def list_profiles(self, **options: Unpack[CallOptions]) -> list[ProfileSummary]:
        """List the version in use of each profile that the account may use."""
        return cast("ProfileList", await self._json("GET", "/profiles", options))["profiles"]

    async def get_profile(self, name: str, *, model: str | None = None, **options: Unpack[CallOptions]) -> Profile:
        """Get a profile with its correction, its figures and its versions."""
        return cast("Profile", await self._json("GET", _profile_path(name, model), options))

    async def use_profile_version(
        self, name: str, version: int, *, model: str | None = None, **options: Unpack[CallOptions]
    ) -> Profile:
        """Have requests use an earlier or later version of a profile of the account's own."""
        choice = {"version": version, **({} if model is None else {"model": model})}
        return cast("Profile", await self._json("POST", f"{_profile_path(name)}/use", options, choice))

    async def delete_profile(self, name: str, *, model: str | None = None, **options: Unpack[CallOptions]) -> None:
        """Delete a profile of the account's own with all versions, for all detectors or for one."""
        await self._json("DELETE", _profile_path(name, model), options)

    async def create_upload_links(
        self, keys: Sequence[str], *, entity: str = "analysis", **options: Unpack[CallOptions]
    ) -> LinkList:
        """Make links for `upload`, one for each key."""
        return cast("LinkList", await self._json("POST", "/file", options, {"keys": list(keys), "entity": entity}))

    async def get_download_links(
        self, key_prefix: str, *, entity: str = "analysis", **options: Unpack[CallOptions]
    ) -> LinkList:
        """Make links for `download`, one for each stored object whose key begins with the prefix."""
        query = urlencode({"key_prefix": key_prefix, "entity": entity})
        return cast("LinkList", await self._json("GET", f"/file?{query}", options))

    async def delete_files(
        self, keys: Sequence[str], *, entity: str = "analysis", **options: Unpack[CallOptions]
    ) -> list[str]:
        """Delete stored files for good, any number of them, in several requests if need be; a missing one is no error.

        Returns the files now gone, as `<entity>/<key>`.
        """
        gone: list[str] = []
        for query in deletion_queries(keys, entity):
            answer = cast("DeletedFiles", await self._json("DELETE", f"/file?{query}", options))
            gone += answer["deleted"]
        return gone

    async def upload(self, link: Link, file: FileInput, **options: Unpack[UploadOptions]) -> None:
        """Send a file to object storage."""
        with opened([file], options.get("filename"), options.get("on_upload_progress")) as [source]:
            await self._read(Call("PUT", link["value"], {}, file_body(source)), options, "storage_error")

    @asynccontextmanager
    async def download(self, link: Link, **options: Unpack[CallOptions]) -> AsyncIterator[httpx.Response]:
        """Open the stored object: a response of httpx, to be read in pieces."""
        async with self._answer(Call("GET", link["value"]), options, "storage_error") as response:
            yield response

    async def _analyse(
        self,
        path: str,
        file: FileInput | None,
        presigned_url: str | None,
        options: Mapping[str, Any],
        further_fields: Mapping[str, Any] | None = None,
    ) -> object:
        if (file is None) == (presigned_url is None):
            raise TypeError("Expected either a file or presigned_url.")
        if file is not None:
            return await self._send_files(path, "file", [file], options, further_fields)
        _, fields = split(options)
        return await self._json(
            "POST", path, options, {**fields, **(further_fields or {}), "presigned_url": presigned_url}
        )

    async def _create_job(self, path: str, options: Mapping[str, Any]) -> Job:
        _, fields = split(options)
        # A random one, so that a request that is sent again makes no second job.
        return cast("Job", await self._json("POST", path, options, {"idempotency_key": str(uuid.uuid4()), **fields}))

    async def _send_files(
        self,
        path: str,
        field_name: str,
        inputs: Sequence[FileInput],
        options: Mapping[str, Any],
        further_fields: Mapping[str, Any] | None = None,
    ) -> object:
        return await self._send_form(path, {field_name: inputs}, options, further_fields)

    async def _send_form(
        self,
        path: str,
        inputs: Mapping[str, Sequence[FileInput]],
        options: Mapping[str, Any],
        further_fields: Mapping[str, Any] | None = None,
    ) -> object:
        _, fields = split(options)
        names = [name for name, given in inputs.items() for _ in given]
        every = [file for given in inputs.values() for file in given]
        with opened(every, options.get("filename"), options.get("on_upload_progress")) as files:
            body = form_body(list(zip(names, files)), {**fields, **(further_fields or {})})
            return await self._parsed(Call("POST", f"{self._base_url}{path}", self._headers, body), options)

    async def _json(self, method: str, path: str, options: Mapping[str, Any], value: object = None) -> object:
        body = None if value is None else json_body(value)
        return await self._parsed(Call(method, f"{self._base_url}{path}", self._headers, body), options)

    async def _parsed(self, call: Call, options: Mapping[str, Any]) -> object:
        response, content = await self._read(call, options, "unexpected_answer")
        try:
            return json.loads(content)
        except ValueError:
            raise error_of(response.status_code, response.headers, content, "unexpected_answer") from None

    async def _read(self, call: Call, options: Mapping[str, Any], fallback: ErrorCode) -> tuple[httpx.Response, bytes]:
        deadline = Deadline(options.get("timeout_s", self._timeout_s))
        async with self._answer(call, options, fallback, deadline) as response:
            return response, await _content(response, deadline)

    @asynccontextmanager
    async def _answer(
        self,
        call: Call,
        options: Mapping[str, Any],
        fallback: ErrorCode = "unexpected_answer",
        deadline: Deadline | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Send the request, again if the server asks for it, and give the answer of success."""
        deadline = deadline or Deadline(options.get("timeout_s", self._timeout_s))
        try:
            response = await self._send(call, split(options)[0], fallback, deadline)
            try:
                yield response
            finally:
                await response.aclose()
        except httpx.TimeoutException as error:
            raise deadline.error() from error

    async def _send(self, call: Call, options: CallOptions, fallback: ErrorCode, deadline: Deadline) -> httpx.Response:
        max_retries = options.get("max_retries", self._max_retries)
        retries = 0
        while True:
            response = await self._try(call, deadline)
            if response.is_success:
                if "on_headers" in options:
                    options["on_headers"](response.headers)
                return response
            try:
                content = await _content(response, deadline)
            finally:
                await response.aclose()
            error = error_of(response.status_code, response.headers, content, fallback)
            pause_s = wait_s(error, retries, self._backoff_s)
            is_retried = error.status in RETRIED_STATUSES and (call.body is None or call.body.is_replayable)
            if not is_retried or retries >= max_retries or pause_s > deadline.left_s():
                raise error
            await sleep(pause_s)
            retries += 1

    async def _try(self, call: Call, deadline: Deadline) -> httpx.Response:
        timeout = deadline.begin_try()
        request = self._http.build_request(
            call.method,
            call.url,
            headers={**call.headers, **(call.body.headers if call.body else {})},
            content=Upload(call.body, deadline) if call.body else None,
            extensions={"timeout": timeout},
        )
        return await self._http.send(request, stream=True)


async def _content(response: httpx.Response, deadline: Deadline) -> bytes:
    pieces = []
    async for piece in response.aiter_bytes():
        deadline.check()
        pieces.append(piece)
    return b"".join(pieces)


def _job_path(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


def _profile_path(name: str, model: str | None = None) -> str:
    query = "" if model is None else f"?{urlencode({'model': model})}"
    return f"/profiles/{quote(name, safe='')}{query}"


def _base64(embedding: Sequence[float]) -> str:
    """Little-endian float32: half as long as a list of numbers."""
    return base64.b64encode(struct.pack(f"<{len(embedding)}f", *embedding)).decode()
