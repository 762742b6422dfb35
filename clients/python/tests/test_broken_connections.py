# SPDX-License-Identifier: Apache-2.0
"""Connections that fail, time limits, and calls that are given up."""

import asyncio
import socket
import threading

import httpx
import pytest
from conftest import FIXTURES, Answer
from veravox_client import AsyncVeravoxClient


def test_nobody_listens(client_of):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(httpx.ConnectError):
            client_of(f"http://127.0.0.1:{taken.getsockname()[1]}").list_jobs()


def test_a_connection_breaks_in_the_middle_of_an_upload(client_of, fake_service, tmp_path):
    def break_off(handler):
        handler.rfile.read(100_000)

    recording = tmp_path / "large.wav"
    with recording.open("wb") as file:
        file.truncate(50_000_000)
    service = fake_service(break_off)
    with pytest.raises(httpx.TransportError):
        client_of(service.base_url).predict_large_file(recording)
    assert len(service.received) == 1


def test_an_answer_breaks_off(client_of, fake_service):
    service = fake_service(lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"))
    with pytest.raises(httpx.RemoteProtocolError):
        client_of(service.base_url).list_jobs()


def test_a_request_is_not_answered_in_time(client_of, fake_service):
    over = threading.Event()
    service = fake_service(lambda _: over.wait(60))
    with pytest.raises(TimeoutError, match=r"0\.1 s"):
        client_of(service.base_url).list_jobs(timeout_s=0.1)
    over.set()


def test_an_answer_that_trickles_does_not_last_longer_either(client_of, fake_service):
    over = threading.Event()

    def trickle(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        while not over.wait(0.01):
            handler.wfile.write(b" ")

    service = fake_service(trickle)
    with pytest.raises(TimeoutError):
        client_of(service.base_url).list_jobs(timeout_s=0.3)
    over.set()


def test_an_upload_to_somebody_who_does_not_read_ends_in_time(client_of, fake_service, tmp_path):
    recording = tmp_path / "large.wav"
    with recording.open("wb") as file:
        file.truncate(50_000_000)
    over = threading.Event()
    service = fake_service(lambda _: over.wait(60))
    with pytest.raises(TimeoutError):
        client_of(service.base_url).predict_large_file(recording, timeout_s=0.5)
    over.set()


def test_a_cancelled_task_ends_its_request(fake_service):
    ended = threading.Event()
    begun = threading.Event()

    def wait_for_the_client(handler):
        begun.set()
        handler.rfile.read()
        ended.set()

    service = fake_service(wait_for_the_client)

    async def run():
        async with AsyncVeravoxClient(service.base_url, "k") as client:
            task = asyncio.create_task(client.list_jobs())
            await asyncio.to_thread(begun.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert ended.wait(30)


RUNNING = {"id": "j", "state": "running", "finished_at": None}


def test_a_wait_ends_with_an_exception_of_on_job(client_of, fake_service):
    def on_job(job):
        assert job["state"] == "running"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client_of(fake_service(Answer(200, RUNNING)).base_url).wait_for_job("j", on_job=on_job)


def test_a_wait_ends_with_its_task(fake_service):
    service = fake_service(Answer(200, RUNNING))

    async def run():
        async with AsyncVeravoxClient(service.base_url, "k") as client:
            looked = asyncio.Event()
            task = asyncio.create_task(client.wait_for_job("j", poll_s=600, on_job=lambda _: looked.set()))
            await looked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert len(service.received) == 1


def test_a_silent_connection_is_opened_again(client_of, fake_service):
    over = threading.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    def first(handler):
        handler.wfile.write(head + b'event: job\ndata: {"state":"running","finished_at":null}\n\n')
        over.wait(60)

    def second(handler):
        handler.wfile.write(
            head + b": still here\n\n"
            b'event: job\ndata: {"state":"running","finished_at":null}\n\n'
            b'event: job\ndata: {"state":"succeeded","finished_at":"now"}\n\n'
        )

    service = fake_service(first, second)
    states = [job["state"] for job in client_of(service.base_url, max_retries=1).follow_job("j", silence_s=0.3)]
    over.set()
    assert (states, len(service.received)) == (["running", "succeeded"], 2)


def test_it_is_opened_again_only_so_often(client_of, fake_service):
    service = fake_service(lambda _: None)
    with pytest.raises(httpx.TransportError):
        list(client_of(service.base_url, max_retries=1).follow_job("j"))
    assert len(service.received) == 2


def test_an_http_client_of_ones_own_is_used_and_left_open(server):
    from veravox_client import VeravoxClient

    asked = []
    with httpx.Client(event_hooks={"request": [asked.append]}) as http_client:
        with VeravoxClient(server.origin, server.key, http_client=http_client) as client:
            client.predict(FIXTURES / "human-lj-a.mp3")
        assert not http_client.is_closed
    assert len(asked) == 1
