# SPDX-License-Identifier: Apache-2.0
"""Files, the bodies of requests that send them, and the queries that delete them."""

from __future__ import annotations

import io
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, Union, cast
from urllib.parse import urlencode

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FileInput = Union[str, "os.PathLike[str]", bytes, bytearray, IO[bytes]]
"""A path, bytes, or a file opened in binary mode, which is sent from its start if it can seek."""

OnUploadProgress = Callable[[int, Union[int, None]], object]

_BLOCK_BYTES = 64 * 1024

# Of a deletion's query. A server takes 4 KiB of head in all, and proxies add headers.
_MAX_KEYS = 100
_MAX_KEY_CHARS = 2000


@dataclass(frozen=True)
class Body:
    """The body of a request, in blocks. One that is replayable can be sent again."""

    headers: Mapping[str, str]
    blocks: Iterable[bytes]
    is_replayable: bool = True


@dataclass(frozen=True)
class Call:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body | None = None


class SentFile:
    """A file as httpx reads it, which counts the bytes."""

    def __init__(self, file: IO[bytes], name: str, on_progress: OnUploadProgress | None) -> None:
        self._file = file
        self.name = name
        self._on_progress = on_progress
        self._sent_bytes = 0
        self.is_replayable = file.seekable()
        self.size_bytes = file.seek(0, os.SEEK_END) if self.is_replayable else None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if not self.is_replayable:
            raise io.UnsupportedOperation
        self._sent_bytes = 0
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        if self._on_progress is not None and block:
            self._sent_bytes += len(block)
            self._on_progress(self._sent_bytes, self.size_bytes)
        return block

    def __iter__(self) -> Iterator[bytes]:
        if self.is_replayable:
            self.seek(0)
        while block := self.read(_BLOCK_BYTES):
            yield block


@contextmanager
def opened(
    inputs: Sequence[FileInput], filename: str | None, on_progress: OnUploadProgress | None
) -> Iterator[list[SentFile]]:
    with ExitStack() as stack:
        files = []
        for given in inputs:
            name: object = None
            if isinstance(given, (str, os.PathLike)):
                name = os.fspath(given)
                file: IO[bytes] = stack.enter_context(open(given, "rb"))
            elif isinstance(given, (bytes, bytearray)):
                file = io.BytesIO(given)
            else:
                file = given
                name = getattr(given, "name", None)
            own_name = Path(name).name if isinstance(name, str) else "audio"
            files.append(SentFile(file, filename or own_name, on_progress))
        yield files


def json_body(value: object) -> Body:
    return _body(httpx.Request("POST", "http://any", json=value))


def form_body(files: Sequence[tuple[str, SentFile]], fields: Mapping[str, Any]) -> Body:
    """A form with its fields before the files, which are never held in memory as a whole."""
    parts = [(name, (file.name, cast("IO[bytes]", file), "application/octet-stream")) for name, file in files]
    request = httpx.Request("POST", "http://any", data=dict(fields), files=parts)
    return _body(request, all(file.is_replayable for _, file in files))


def _body(request: httpx.Request, is_replayable: bool = True) -> Body:
    del request.headers["host"]
    return Body(request.headers, cast("httpx.SyncByteStream", request.stream), is_replayable)


def deletion_queries(keys: Sequence[str], entity: str) -> list[str]:
    """Give the queries of as many deletions as the keys need."""
    groups: list[list[str]] = [[]]
    chars = 0
    for key in dict.fromkeys(keys):
        pair = "&" + urlencode({"key": key})
        if groups[-1] and (len(groups[-1]) == _MAX_KEYS or chars + len(pair) > _MAX_KEY_CHARS):
            groups.append([])
            chars = 0
        groups[-1].append(pair)
        chars += len(pair)
    return [urlencode({"entity": entity}) + "".join(pairs) for pairs in groups]


def file_body(file: SentFile) -> Body:
    if file.size_bytes is None:
        raise TypeError("Expected a file of known size: object storage insists on it.")
    headers = {"content-type": "application/octet-stream", "content-length": str(file.size_bytes)}
    return Body(headers, file)
