# SPDX-License-Identifier: Apache-2.0
"""Live audio gets the verdict of the same audio as a file, also over connections that break."""

import asyncio
import concurrent.futures
import contextlib
import itertools
import json
import socket
import subprocess
import threading

import pytest
from conftest import FIXTURES
from veravox_client import AsyncVeravoxClient, VeravoxClient, VeravoxError
from websockets.asyncio.server import serve as serve_async
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

RATE = 16_000
PCM = {"encoding": "pcm16", "sample_rate": RATE}
READY = {
    "type": "ready",
    "session_id": "s",
    "secret": "x",
    "resume_within_s": 1,
    "max_waiting_s": 30,
    "max_message_bytes": 262_144,
    "sample_rate": RATE,
}


@pytest.fixture(scope="session")
def wav(tmp_path_factory):
    made = tmp_path_factory.mktemp("wav") / "call.wav"
    source = FIXTURES / "human-lj-a.mp3"
    subprocess.run(["ffmpeg", "-v", "error", "-i", source, "-ar", str(RATE), "-ac", "1", made], check=True)
    return made


def pieces_of(wav, seconds=0.1):
    samples = wav.read_bytes()[wav.read_bytes().index(b"data") + 8 :]
    step = int(seconds * RATE) * 2
    return [samples[at : at + step] for at in range(0, len(samples), step)]


def test_a_wrong_key_is_refused(client_of, server):
    with pytest.raises(VeravoxError) as caught:
        client_of(server.origin, "not-a-key").stream(**PCM)
    assert (caught.value.code, caught.value.status) == ("unauthorized", 401)


def test_nobody_listens(client_of):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(OSError):
            client_of(f"http://127.0.0.1:{taken.getsockname()[1]}").stream(**PCM)


def test_a_wrong_field_is_refused(client):
    with pytest.raises(VeravoxError) as caught:
        client.stream(encoding="pcm16", sample_rate=1)
    assert caught.value.error_key == "FIELD_INVALID"


def test_wrong_audio_ends_the_stream(client):
    stream = client.stream(**PCM)
    stream.send(b"odd")
    with pytest.raises(VeravoxError) as caught:
        stream.end()
    assert caught.value.error_key == "STREAM_MESSAGE_INVALID"
    with pytest.raises(ValueError):
        stream.send(b"any")


def test_a_closed_stream_takes_nothing_more(client):
    stream = client.stream(**PCM)
    stream.close()
    with pytest.raises((ValueError, ConnectionError)):
        stream.send(b"any ")


def test_the_result_is_that_of_the_file(client, server, wav):
    events, received = [], []
    stream = client.stream(**PCM, threshold=0.4, on_event=events.append, on_received=received.append)
    assert stream.ready["threshold"] == 0.4
    pieces = pieces_of(wav)
    for piece in pieces:
        stream.send(memoryview(piece))
    result = stream.end()
    wanted = server.curl("/predict", "-F", f"file=@{wav}", "-F", "threshold=0.4")
    assert result["global"] == wanted["global"]
    assert [event["scores"] for event in events] == [segment["scores"] for segment in wanted["segments"]]
    assert received[0]["samples"] > 0


def test_audio_of_any_length_is_split_into_messages_that_the_server_takes(client, wav):
    audio = (b"".join(pieces_of(wav)) * 20)[: 35 * 2 * RATE]
    stream = client.stream(**PCM)
    stream.send(audio)
    assert stream.end()["audio_duration"] == 35


def test_a_packet_of_opus_above_the_limit_is_refused(client):
    stream = client.stream(encoding="opus")
    with pytest.raises(VeravoxError, match=r"The message exceeds the limit of 262144 bytes\.") as caught:
        stream.send(bytes(262_145))
    stream.close()
    error = caught.value
    assert (error.code, error.status, error.error_key) == ("payload_too_large", 413, "STREAM_MESSAGE_TOO_LARGE")


def shut_down(*sockets):
    for end in sockets:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class BreakingProxy:
    """Passes bytes between a client and the server until it is told to break all connections."""

    def __init__(self, port):
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            self._open += [client, server]
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(a, b), daemon=True).start()

    def _pass_on(self, a, b):
        with contextlib.suppress(OSError):
            while block := a.recv(65536):
                b.sendall(block)
        shut_down(a, b)

    def break_all(self):
        shut_down(*self._open)
        self._open.clear()

    def close(self):
        self._listener.close()
        self.break_all()


def test_a_lost_connection_loses_no_audio_and_no_window(client_of, server, wav):
    proxy = BreakingProxy(int(server.origin.rsplit(":", 1)[1]))
    events, connections = [], []
    client = client_of(f"http://127.0.0.1:{proxy.port}", server.key)
    stream = client.stream(**PCM, on_event=events.append, on_connection=connections.append)
    for number, piece in enumerate(pieces_of(wav)):
        if number in (20, 60):
            proxy.break_all()
        stream.send(piece)
    proxy.break_all()
    result = stream.end()
    proxy.close()
    wanted = server.curl("/predict", "-F", f"file=@{wav}")
    assert result["global"] == wanted["global"]
    assert [event["event"] for event in events] == list(range(result["events"]))
    assert connections.count(True) == connections.count(False) >= 1


UNAVAILABLE = {"type": "error", "error": "unavailable", "message": "No.", "status": 503, "correlation_id": "c"}


@pytest.mark.parametrize("key", ["STOPPING", "OVERLOADED"])
def test_a_stream_that_the_server_closes_fails_with_its_reason(client_of, key):
    def end(socket_):
        socket_.recv()
        socket_.send(json.dumps(READY))
        socket_.recv()
        socket_.send(json.dumps({**UNAVAILABLE, "key": key, "retry_after_s": 7}))
        socket_.close(4503)

    with serve(end, "127.0.0.1", 0) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        client = client_of(f"http://127.0.0.1:{service.socket.getsockname()[1]}")
        stream = client.stream(**PCM)
        stream.send(b"\0\0")
        with pytest.raises(VeravoxError) as caught:
            stream.end()
        assert (caught.value.error_key, str(caught.value), caught.value.retry_after_s) == (key, "No.", 7)
        service.shutdown()
        thread.join()


@contextlib.contextmanager
def one_window(received):
    """A server that answers the first audio with a window, and notes what comes after it."""

    def handle(socket_):
        socket_.recv()
        socket_.send(json.dumps(READY))
        socket_.recv()
        socket_.send(json.dumps({"type": "window", "event": 0}))
        with contextlib.suppress(ConnectionClosed):
            while True:
                received.append(socket_.recv())

    with serve(handle, "127.0.0.1", 0) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{service.socket.getsockname()[1]}"
        service.shutdown()
        thread.join()


def within(seconds, work):
    """Return or raise the same; fail if it hangs."""
    done = concurrent.futures.Future()

    def run():
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result(seconds)


@pytest.mark.parametrize("is_sending", [False, True])
def test_a_blocking_stream_may_be_closed_in_its_own_callback(is_sending):
    after = []
    with one_window(after) as origin:

        def use():
            closed = threading.Event()

            def close(_):
                stream.close()
                stream.close()
                closed.set()

            with VeravoxClient(origin, "k") as client, client.stream(**PCM, on_event=close) as stream:
                stream.send(b"\0\0")
                # A minute of audio, which takes 45 s: this thread is in the middle of it.
                if is_sending:
                    with pytest.raises((ValueError, ConnectionError)):
                        while True:
                            stream.send(bytes(2 * RATE * 60))
                assert closed.wait(20)
                with pytest.raises((ValueError, ConnectionError)):
                    stream.end()
            return stream

        stream = within(30, use)
        assert not stream._thread.is_alive()


@pytest.mark.parametrize("call", ["send", "end"])
def test_a_callback_that_would_wait_for_itself_is_told(call):
    after, errors = [], []
    with one_window(after) as origin:

        def use():
            asked = threading.Event()

            def ask(_):
                try:
                    stream.send(b"\0\0") if call == "send" else stream.end()
                except RuntimeError as error:
                    errors.append(str(error))
                asked.set()

            with VeravoxClient(origin, "k") as client, client.stream(**PCM, on_event=ask) as stream:
                stream.send(b"\0\0")
                assert asked.wait(20)

        within(30, use)
    assert errors == ["A callback can only close the stream: send and end it elsewhere."]


def test_a_server_that_says_nothing_ends_the_opening_in_time(monkeypatch):
    monkeypatch.setattr("veravox_client._stream._OPENING_S", 0.1)

    async def run():
        async def say_nothing(socket):
            await socket.wait_closed()

        async with serve_async(say_nothing, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client:
                with pytest.raises(ConnectionClosed):
                    await asyncio.wait_for(client.stream(**PCM), 20)

    asyncio.run(run())


@pytest.mark.parametrize("act", ["send", "end"])
def test_a_server_that_vanishes_counts_as_lost_and_ends_the_stream_in_time(monkeypatch, act):
    monkeypatch.setattr("veravox_client._stream._SILENCE_S", 0.1)

    async def vanish(socket):
        if json.loads(await socket.recv())["type"] == "start":
            await socket.send(json.dumps({**READY, "resume_within_s": 0}))
        await socket.wait_closed()

    async def run():
        lost = asyncio.Event()
        async with serve_async(vanish, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client:
                stream = await client.stream(**PCM, on_connection=lambda is_connected: is_connected or lost.set())
                # The next connection gets no answer.
                monkeypatch.setattr("veravox_client._stream._OPENING_S", 0.1)
                if act == "send":
                    await stream.send(bytes(2 * RATE))
                    await asyncio.wait_for(lost.wait(), 20)
                with pytest.raises(ConnectionError, match=r"The connection of the stream was lost\."):
                    await asyncio.wait_for(stream.end(), 20)
                assert lost.is_set()

    asyncio.run(run())


def test_an_end_that_comes_at_once_after_a_lost_connection_is_heard_by_the_second_server_that_is_asked():
    resumed = 0

    async def lose(socket):
        nonlocal resumed
        if json.loads(await socket.recv())["type"] == "start":
            await socket.send(json.dumps(READY))
            await socket.recv()
            socket.transport.abort()
            return
        resumed += 1
        if resumed == 1:
            await socket.send(json.dumps({**UNAVAILABLE, "key": "STREAM_ELSEWHERE"}))
            await socket.close(4503)
            return
        for message in ({"type": "resumed", "session_id": "s", "samples": 0, "messages": 0}, {"type": "result"}):
            await socket.send(json.dumps(message))
        await socket.close()

    async def run():
        async with serve_async(lose, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client:
                stream = await client.stream(**PCM)
                await stream.send(bytes(320))
                assert await asyncio.wait_for(stream.end(), 20) == {"type": "result"}

    asyncio.run(run())


def test_a_message_is_due_after_a_second_of_audio_that_is_not_confirmed():
    async def confirm(socket):
        await socket.recv()
        await socket.send(json.dumps(READY))
        for _ in range(2):
            await socket.recv()
        await socket.send(json.dumps({"type": "received", "samples": RATE, "messages": 2, "waiting_s": 0}))
        await socket.wait_closed()

    async def run():
        confirmed = asyncio.Event()
        async with serve_async(confirm, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with (
                AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client,
                await client.stream(**PCM, on_received=lambda _: confirmed.set()) as stream,
            ):
                await stream.send(bytes(RATE))
                assert stream._silence is None
                await stream.send(bytes(RATE))
                assert stream._silence is not None
                await asyncio.wait_for(confirmed.wait(), 20)
                assert stream._silence is None

    asyncio.run(run())


def confirmation(kind, messages, waiting_s=0):
    return json.dumps({"type": kind, "samples": RATE * messages, "messages": messages, "waiting_s": waiting_s})


def test_audio_is_held_back_while_half_of_the_time_that_may_wait_is_used_up_also_when_it_is_sent_again():
    unconfirmed = []

    async def count(socket, wanted):
        """This much audio, and no more in the next quarter of a second."""
        for _ in range(wanted):
            assert isinstance(await socket.recv(), bytes)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.25)
        unconfirmed.append(wanted)

    async def serve_slowly(socket):
        if json.loads(await socket.recv())["type"] == "start":
            await socket.send(json.dumps(READY))
            await count(socket, 16)
            await socket.send(confirmation("received", 10))
            await count(socket, 10)
            # Half a second of it must be analysed first.
            await socket.send(confirmation("received", 26, 15.5))
            await count(socket, 0)
            return
        await socket.send(confirmation("resumed", 26))
        confirmed, total = 26, 26
        while total < 60:
            with contextlib.suppress(asyncio.TimeoutError):
                while total < 60:
                    await asyncio.wait_for(socket.recv(), 0.25)
                    total += 1
            unconfirmed.append(total - confirmed)
            await socket.send(confirmation("received", total))
            confirmed = total
        await socket.wait_closed()

    async def run():
        async with serve_async(serve_slowly, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with (
                AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client,
                await client.stream(**PCM) as stream,
            ):
                await asyncio.wait_for(stream.send(bytes(60 * 2 * RATE)), 60)

    asyncio.run(run())
    assert unconfirmed[:3] == [16, 10, 0]
    assert max(unconfirmed[3:]) <= 16


def test_a_stream_that_is_resumed_again_and_again_without_progress_is_lost():
    connections = []

    async def lose(socket):
        if json.loads(await socket.recv())["type"] == "start":
            await socket.send(json.dumps({**READY, "resume_within_s": 0.2}))
        else:
            await socket.send(confirmation("resumed", 0))
        await socket.recv()
        socket.transport.abort()

    async def run():
        async with serve_async(lose, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client:
                stream = await client.stream(**PCM, on_connection=connections.append)
                await stream.send(bytes(2 * RATE))
                with pytest.raises(ConnectionError, match=r"The connection of the stream was lost\."):
                    await asyncio.wait_for(stream.end(), 20)

    asyncio.run(run())
    assert connections[:2] == [False, True]


@pytest.mark.parametrize("status", [429, 500, 503, 403])
def test_a_stream_goes_on_unless_its_client_is_refused(status):
    refusals = []

    numbers = itertools.count(1)

    def refuse_once(connection, _):
        if next(numbers) != 2:
            return None
        refusals.append(status)
        return connection.respond(status, "No.")

    async def resume(socket):
        if json.loads(await socket.recv())["type"] == "start":
            await socket.send(json.dumps(READY))
            return
        await socket.send(confirmation("resumed", 0))
        await socket.wait_closed()

    async def run():
        connected = asyncio.Event()
        async with serve_async(resume, "127.0.0.1", 0, process_request=refuse_once) as server:
            port = server.sockets[0].getsockname()[1]
            async with (
                AsyncVeravoxClient(f"http://127.0.0.1:{port}", "k") as client,
                await client.stream(**PCM, on_connection=lambda is_: is_ and connected.set()) as stream,
            ):
                if status == 403:
                    with pytest.raises(VeravoxError) as caught:
                        await asyncio.wait_for(stream.end(), 20)
                    assert caught.value.status == 403
                else:
                    await asyncio.wait_for(connected.wait(), 20)

    asyncio.run(run())
    assert refusals == [status]


def test_a_cancelled_opening_leaves_nothing_behind():
    async def run():
        with socket.create_server(("127.0.0.1", 0)) as silent:
            async with AsyncVeravoxClient(f"http://127.0.0.1:{silent.getsockname()[1]}", "k") as client:
                task = asyncio.create_task(client.stream(**PCM))
                await asyncio.to_thread(silent.accept)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
