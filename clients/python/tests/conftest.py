# SPDX-License-Identifier: Apache-2.0
"""A server with the shipped models, a service that answers as told, and both clients behind one face."""

from __future__ import annotations

import asyncio
import http.server
import inspect
import json
import os
import re
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import pytest
from veravox_client import AsyncVeravoxClient, VeravoxClient

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "clients/python/src"
FIXTURES = ROOT / "test/fixtures"
SETTINGS = {"PORT": "0", "VERAVOX_DEVICE": "cpu", "VERAVOX_SCORING_THREADS": "1", "VERAVOX_STOP_GRACE_MS": "0"}


@dataclass(frozen=True)
class Server:
    origin: str
    key: str
    env: dict[str, str]

    def create_key(self, *options: str) -> str:
        command = ["node", "dist/cli/main.js", "keys", "create", "--name", "test", *options]
        made = subprocess.run(command, cwd=ROOT, env=self.env, check=True, capture_output=True, text=True)
        return re.search(r"vx_\S+", made.stdout)[0]

    def curl(self, path: str, *options: str) -> Any:
        """The independent client."""
        command = ["curl", "-sS", f"{self.origin}/v1{path}", "-H", f"x-api-key: {self.key}", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    env = {"PATH": os.environ["PATH"], "VERAVOX_DATA_DIR": str(tmp_path_factory.mktemp("data")), **SETTINGS}
    process = subprocess.Popen(
        ["node", "dist/cli/main.js", "serve"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    output = ""
    for line in process.stdout:
        output += line
        if "/v1/predict" in line and "curl" in line:
            break
    threading.Thread(target=process.stdout.read, daemon=True).start()
    try:
        yield Server(re.search(r"is ready on (\S+)", output)[1], re.search(r"^ +(vx_\S+)$", output, re.M)[1], env)
    finally:
        process.terminate()
        process.wait()


class Blocking:
    """An asynchronous client, or a part of it, used like the other one."""

    def __init__(self, wrapped: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._wrapped = wrapped
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._face(getattr(self._wrapped, name))

    def _face(self, value: Any) -> Any:
        if inspect.isasyncgen(value):
            return self._generated(value)
        if inspect.iscoroutine(value):
            return self._face(self._loop.run_until_complete(value))
        if hasattr(value, "__aenter__"):
            return self._entered(value) if hasattr(value, "gen") else Blocking(value, self._loop)
        return (lambda *args, **options: self._face(value(*args, **options))) if callable(value) else value

    def _generated(self, generator: Any) -> Any:
        try:
            while True:
                yield self._loop.run_until_complete(generator.__anext__())
        except StopAsyncIteration:
            pass

    @contextmanager
    def _entered(self, manager: Any) -> Any:
        response = self._loop.run_until_complete(manager.__aenter__())
        try:
            self._loop.run_until_complete(response.aread())
            yield response
        finally:
            self._loop.run_until_complete(manager.__aexit__(None, None, None))


@pytest.fixture(params=["sync", "async"])
def client_of(request) -> Any:
    """Makes clients of each kind."""
    loop = asyncio.new_event_loop()
    made = []

    def make(base_url: str, key: str = "k", **options: Any) -> Any:
        options = {"backoff_s": 0.002, **options}
        is_async = request.param == "async"
        client = (
            Blocking(AsyncVeravoxClient(base_url, key, **options), loop)
            if is_async
            else VeravoxClient(base_url, key, **options)
        )
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
    loop.close()


@pytest.fixture
def client(client_of, server):
    return client_of(server.origin, server.key)


@dataclass(frozen=True)
class Answer:
    status: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class FakeService:
    base_url: str
    received: list[tuple[str, str, dict[str, str], bytes]]


@pytest.fixture
def fake_service():
    """Starts services that answer as told, one answer after another and then always the last."""
    running = []

    def start(*answers: Answer | Callable[[http.server.BaseHTTPRequestHandler], None]) -> FakeService:
        service = FakeService("", [])

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                answer = answers[min(len(service.received), len(answers) - 1)]
                if not isinstance(answer, Answer):
                    service.received.append((self.command, self.path, dict(self.headers), b""))
                    answer(self)
                    self.close_connection = True
                    return
                body = b"".join(self.blocks())
                service.received.append((self.command, self.path, dict(self.headers), body))
                content = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
                self.send_response(answer.status)
                for name, value in {"content-length": str(len(content.encode())), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content.encode())

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return self.handle_one
                raise AttributeError(name)

            def blocks(self):
                if "content-length" in self.headers:
                    yield self.rfile.read(int(self.headers["content-length"]))
                elif self.headers.get("transfer-encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        yield self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()

            def log_message(self, *_: object) -> None:
                pass

        listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        listener.daemon_threads = True
        threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True).start()
        running.append(listener)
        service.base_url = f"http://127.0.0.1:{listener.server_port}"
        return service

    yield start
    for listener in running:
        listener.shutdown()
        listener.server_close()
