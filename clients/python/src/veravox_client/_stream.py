# SPDX-License-Identifier: Apache-2.0
"""Live audio on its way to the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import random
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import VeravoxError, error_of

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from typing_extensions import Buffer, Self
    from websockets.asyncio.client import ClientConnection

    from ._options import StreamOptions
    from ._types import StreamError, StreamReady, StreamReceived, StreamResult, StreamResumed

_SAMPLE_BYTES = {"pcm16": 2, "mulaw": 1, "alaw": 1}
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0
# For the server's first message on a connection, which may be one of a peer that says nothing.
_OPENING_S = 10.0
# For any message, when one is due: a peer that has vanished ends no connection, and a proxy may answer pings. The
# server waits as long for its clients.
_SILENCE_S = 32.0
# Audio of which the server confirms the arrival.
_RECEIPT_S = 1.0
# The server is full or stops, or the stream is in another of its processes.
_RETRIED_STATUS = 503
_END = json.dumps({"type": "end"})
_Result = TypeVar("_Result")


def _opus_samples(packet: bytes) -> float:
    """Samples at 48 kHz in an Opus packet (RFC 6716, section 3.1)."""
    header, second, *_ = packet + bytes(2)
    config = header >> 3
    if config < 12:
        frame_ms: float = (10, 20, 40, 60)[config % 4]
    elif config < 16:
        frame_ms = (10, 20)[config % 2]
    else:
        frame_ms = (2.5, 5, 10, 20)[config % 4]
    return 48 * frame_ms * (1, 2, 2, second & 63)[header & 3]


def _is_final(refusal: VeravoxError) -> bool:
    """Whether another try cannot help: the fault is the client's, and not its haste."""
    return 400 <= refusal.status < 500 and refusal.status != 429


def _too_large(max_bytes: int) -> VeravoxError:
    message = f"The message exceeds the limit of {max_bytes} bytes."
    return VeravoxError(message, "payload_too_large", 413, "STREAM_MESSAGE_TOO_LARGE")


class AsyncLiveStream:
    """Keeps unconfirmed audio, for a connection that is lost."""

    ready: StreamReady
    """The server's first message."""
    _tasks: set[asyncio.Task[None]]

    def __init__(self, url: str, headers: Mapping[str, str], options: StreamOptions) -> None:
        self._url = url
        self._headers = headers
        self._options: dict[str, Any] = {**options}
        self._result: asyncio.Future[StreamResult] = asyncio.get_running_loop().create_future()
        # A caller that wants the result gets the failure from it.
        self._result.add_done_callback(lambda result: result.cancelled() or result.exception())
        self._result.add_done_callback(lambda _: self._all_sent.set())
        self._result.add_done_callback(lambda _: self._changed.set())
        self._begun = asyncio.Event()
        self._socket: ClientConnection | None = None
        # Messages that may be sent again, with their samples.
        self._kept: list[tuple[str | bytes, float]] = []
        # The server's counts of messages and samples before them.
        self._arrived = (0, 0)
        # The number of kept messages already sent. Without a connection they count as sent: the next one begins anew.
        self._sent = 0
        # Of the whole stream.
        self._sent_samples = 0.0
        # The time by which the audio that has arrived should be analysed.
        self._analysed_at = 0.0
        self._changed = asyncio.Event()
        self._all_sent = asyncio.Event()
        self._events = 0
        # Ends the connection.
        self._silence: asyncio.TimerHandle | None = None
        self._is_ending = False

    @classmethod
    async def open(cls, url: str, headers: Mapping[str, str], options: StreamOptions) -> Self:
        """For the client."""
        stream = cls(url, headers, options)
        stream._tasks = {asyncio.create_task(stream._run()), asyncio.create_task(stream._flow())}
        begun = asyncio.create_task(stream._begun.wait())
        first: set[asyncio.Future[Any]] = {begun, stream._result}
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if stream._result.done():
                stream._result.result()
        except BaseException:
            await stream.close()
            raise
        finally:
            begun.cancel()
        return stream

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, audio: Buffer) -> None:
        """Send samples, or one packet of Opus.

        Returns when more may be sent: half of the server's limit may be unconfirmed or wait for analysis, so that a
        file can also be streamed. Raises VeravoxError or ConnectionError once the stream has failed, and VeravoxError
        for a packet beyond the server's limit.
        """
        if self._is_ending:
            raise ValueError("The stream has ended.")
        if self._result.done():
            self._result.result()
        self._keep(bytes(audio))
        self._set_changed()
        await self._all_sent.wait()
        if self._result.done():
            self._result.result()

    async def end(self) -> StreamResult:
        """Say that the audio is over, and return the verdict on all of it."""
        if not self._is_ending:
            self._is_ending = True
            self._kept.append((_END, 0))
            self._set_changed()
        return await asyncio.shield(self._result)

    async def close(self) -> None:
        """End the stream without a result, unless it has one."""
        self._fail(ConnectionAbortedError("The stream was closed."))
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    def _keep(self, block: bytes) -> None:
        """In messages that the server takes, and of at most the audio after which it confirms them."""
        sample_bytes = _SAMPLE_BYTES.get(self._options["encoding"])
        max_bytes = self.ready["max_message_bytes"]
        if sample_bytes is None:
            if len(block) > max_bytes:
                raise _too_large(max_bytes)
            self._kept.append((block, _opus_samples(block)))
            return
        step = sample_bytes * min(int(_RECEIPT_S * self.ready["sample_rate"]), max_bytes // sample_bytes)
        for at in range(0, len(block), step):
            piece = block[at : at + step]
            self._kept.append((piece, len(piece) / sample_bytes))

    def _set_changed(self) -> None:
        self._all_sent.clear()
        self._changed.set()

    async def _flow(self) -> None:
        """Send what is kept, as far ahead of the analysis as it may be."""
        loop = asyncio.get_running_loop()
        while not self._result.done():
            is_all_sent = self._sent == len(self._kept)
            hold_s = math.inf if is_all_sent else self._hold_s()
            if hold_s > 0:
                if is_all_sent:
                    self._all_sent.set()
                timer = loop.call_later(hold_s, self._changed.set) if hold_s < math.inf else None
                await self._changed.wait()
                self._changed.clear()
                if timer is not None:
                    timer.cancel()
                continue
            message, samples = self._kept[self._sent]
            self._sent += 1
            self._sent_samples += samples
            if self._socket is not None:
                from websockets.exceptions import ConnectionClosed

                self._expect(self._socket)
                # After a loss it is sent again by the next connection.
                with contextlib.suppress(ConnectionClosed):
                    await self._socket.send(message)

    def _hold_s(self) -> float:
        """Infinite if the server must confirm audio first. A server that keeps up analyses at the pace of speech."""
        room_s = self.ready["max_waiting_s"] / 2 - self._unconfirmed_s()
        return math.inf if room_s < 0 else max(0.0, self._analysed_at - time.monotonic() - room_s)

    def _unconfirmed_s(self) -> float:
        return (self._sent_samples - self._arrived[1]) / self.ready["sample_rate"]

    def _is_due(self) -> bool:
        """Whether the server owes a message."""
        return self._is_ending or self._unconfirmed_s() >= _RECEIPT_S

    async def _run(self) -> None:
        lost_at = 0.0
        last_progress = -1
        pause_s = _FIRST_PAUSE_S
        try:
            while True:
                had_session = await self._connect()
                if self._result.done():
                    return
                now = time.monotonic()
                if had_session:
                    progress = self._arrived[0] + self._events
                    # A stream that is resumed again and again without progress is as good as lost.
                    if progress > last_progress or not self._is_due():
                        lost_at = now
                        pause_s = _FIRST_PAUSE_S
                    last_progress = progress
                    self._tell("on_connection", False)
                if not self._begun.is_set() or now - lost_at > self.ready["resume_within_s"]:
                    raise ConnectionError("The connection of the stream was lost.")
                await asyncio.sleep(random.random() * pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        except Exception as error:
            self._fail(error)

    async def _connect(self) -> bool:
        """Return at the end of the connection: whether it had the stream."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidStatus, WebSocketException
        except ImportError as error:
            raise ImportError("Live audio needs websockets: pip install 'veravox-client[stream]'.") from error

        has_session = False
        try:
            async with connect(self._url, additional_headers=self._headers, max_size=None) as socket:
                self._limit(_OPENING_S, socket)
                await socket.send(json.dumps(self._hello()))
                async for text in socket:
                    message = json.loads(text)
                    has_session = has_session or message["type"] in ("ready", "resumed")
                    self._take(message, socket)
                    if self._result.done():
                        break
                    # After a refusal the server closes the connection.
                    if has_session:
                        self._limit(None, socket)
                        self._expect(socket)
        except InvalidStatus as refusal:
            answer = refusal.response
            refused = error_of(answer.status_code, answer.headers, bytes(answer.body), "unexpected_answer")
            if _is_final(refused) or not self._begun.is_set():
                raise refused from None
        except (OSError, WebSocketException):
            # Before the stream has begun, the failure is the caller's; later the server may be back in time.
            if not self._begun.is_set():
                raise
        finally:
            if self._silence is not None:
                self._silence.cancel()
                self._silence = None
            self._socket = None
        return has_session

    def _expect(self, socket: ClientConnection) -> None:
        """Limit the time until the server's next message, if one is due."""
        if self._is_due() and self._silence is None:
            self._limit(_SILENCE_S, socket)

    def _limit(self, seconds: float | None, socket: ClientConnection) -> None:
        if self._silence is not None:
            self._silence.cancel()
        loop = asyncio.get_running_loop()
        self._silence = None if seconds is None else loop.call_later(seconds, socket.transport.abort)

    def _hello(self) -> dict[str, Any]:
        if self._begun.is_set():
            known = {name: self.ready[name] for name in ("session_id", "secret")}
            return {"type": "resume", **known, "events": self._events}
        own = ("on_event", "on_received", "on_connection")
        fields = {name: value for name, value in self._options.items() if name not in own and value is not None}
        return {"type": "start", **fields}

    def _take(self, message: Any, socket: ClientConnection) -> None:
        kind = message["type"]
        if kind == "ready":
            self.ready = message
            self._socket = socket
            self._begun.set()
        elif kind == "resumed":
            self._forget(message)
            self._sent = 0
            self._sent_samples = message["samples"]
            self._socket = socket
            self._tell("on_connection", True)
        elif kind == "received":
            self._forget(message)
            self._tell("on_received", message)
        elif kind in ("window", "skipped"):
            self._events = message["event"] + 1
            self._tell("on_event", message)
        elif kind == "result":
            if not self._result.done():
                self._result.set_result(message)
        elif kind == "error":
            self._refused(message)

    def _refused(self, refusal: StreamError) -> None:
        status, key = refusal["status"], refusal["key"]
        is_resuming = self._begun.is_set() and self._socket is None
        if status == _RETRIED_STATUS and is_resuming and key != "STOPPING":
            return
        facts = (status, key, refusal["correlation_id"], refusal.get("retry_after_s"))
        self._fail(VeravoxError(refusal["message"], refusal["error"], *facts))

    def _tell(self, name: str, value: object) -> None:
        callback = self._options.get(name)
        if callback is not None:
            callback(value)

    def _forget(self, arrived: StreamReceived | StreamResumed) -> None:
        messages, samples = self._arrived
        now = time.monotonic()
        if arrived["type"] == "received":
            self._analysed_at = now + arrived["waiting_s"]
        else:
            # All audio of which the confirmation was lost may still wait.
            lost_s = (arrived["samples"] - samples) / self.ready["sample_rate"]
            self._analysed_at = max(now, self._analysed_at) + lost_s
        count = arrived["messages"] - messages
        del self._kept[:count]
        self._sent -= count
        self._arrived = (arrived["messages"], arrived["samples"])
        self._set_changed()

    def _fail(self, error: Exception) -> None:
        if not self._result.done():
            self._result.set_exception(error)


class LiveStream:
    """The same for programs that block, with a thread of its own for the connection.

    Callbacks run on that thread: they may close the stream, but neither send nor end it.
    """

    _stream: AsyncLiveStream

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closing: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._work, name="veravox-stream", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, url: str, headers: Mapping[str, str], options: StreamOptions) -> Self:
        """For the client."""
        stream = cls()
        try:
            stream._stream = stream._run(AsyncLiveStream.open(url, headers, options))
        except BaseException:
            stream.close()
            raise
        return stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ready(self) -> StreamReady:
        return self._stream.ready

    def send(self, audio: Buffer) -> None:
        self._run(self._stream.send(audio))

    def end(self) -> StreamResult:
        try:
            return self._run(self._stream.end())
        finally:
            self.close()

    def close(self) -> None:
        if self._is_in_callback():
            # The thread cannot wait for itself.
            self._begin_closing()
            return
        with contextlib.suppress(RuntimeError):
            # Raised if the loop is closed.
            self._loop.call_soon_threadsafe(self._begin_closing)
        self._thread.join()

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        if self._is_in_callback():
            work.close()
            raise RuntimeError("A callback can only close the stream: send and end it elsewhere.")
        if self._closing is not None or not self._thread.is_alive():
            work.close()
            raise ValueError("The stream has ended.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _is_in_callback(self) -> bool:
        return threading.current_thread() is self._thread

    def _work(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _begin_closing(self) -> None:
        if self._closing is None:
            self._closing = self._loop.create_task(self._close())

    async def _close(self) -> None:
        if hasattr(self, "_stream"):
            await self._stream.close()
        # Other threads wait for them.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)
        self._loop.stop()


LiveStream.send.__doc__ = AsyncLiveStream.send.__doc__
LiveStream.end.__doc__ = AsyncLiveStream.end.__doc__
LiveStream.close.__doc__ = AsyncLiveStream.close.__doc__
