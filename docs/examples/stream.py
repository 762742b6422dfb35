#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams a WAV file (16 bits, mono) at the pace of speech, and goes on after a lost connection.

    python3 stream.py ws://127.0.0.1:8080 KEY call.wav [speed]

Needs the package `websockets` (Debian: python3-websockets). Prints the server's messages, one per line.
"""
import asyncio
import json
import sys
import time
import wave

import websockets

PIECE_S = 0.1
MAX_TRIES = 20
# The name of the parameter has changed with version 14.
HEADERS = "additional_headers" if int(websockets.__version__.split(".")[0]) >= 14 else "extra_headers"


class Stream:
    def __init__(self, server, key, parameters, audio, rate_hz, speed):
        self.url = f"{server}/v1/stream"
        self.key = key
        self.parameters = parameters
        self.audio = audio
        self.bytes_per_s = 2 * rate_hz
        self.speed = speed
        self.session = None
        self.events = 0
        self.result = None

    async def run(self):
        tries = 0
        while self.result is None:
            try:
                async with websockets.connect(self.url, **{HEADERS: {"x-api-key": self.key}}) as socket:
                    await self.use(socket)
                    tries = 0
            except (OSError, websockets.ConnectionClosedError) as error:
                code = getattr(getattr(error, "rcvd", None), "code", None)
                # 4503: the server is full, stopping, or the stream is in another of its processes.
                if self.session is None or tries == MAX_TRIES or (code or 0) >= 4000 and code != 4503:
                    raise
                tries += 1
                await asyncio.sleep(min(1.0, 0.1 * tries))
        return self.result

    async def use(self, socket):
        if self.session is None:
            await socket.send(json.dumps({"type": "start", **self.parameters}))
        else:
            await socket.send(json.dumps({"type": "resume", **self.session, "events": self.events}))
        message = self.take(await socket.recv())
        sending = asyncio.create_task(self.send(socket, 2 * message.get("samples", 0)))
        try:
            async for text in socket:
                self.take(text)
        finally:
            sending.cancel()

    async def send(self, socket, position):
        step = int(PIECE_S * self.bytes_per_s) // 2 * 2
        begin, begin_s = position, time.monotonic()
        while position < len(self.audio):
            await socket.send(self.audio[position : position + step])
            position += step
            due_s = begin_s + (position - begin) / self.bytes_per_s / self.speed
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
        await socket.send(json.dumps({"type": "end"}))

    def take(self, text):
        message = json.loads(text)
        print(text, flush=True)
        kind = message["type"]
        if kind == "ready":
            self.session = {name: message[name] for name in ("session_id", "secret")}
        elif kind in ("window", "skipped"):
            self.events = message["event"] + 1
        elif kind == "result":
            self.result = message
        return message


def main():
    server, key, file = sys.argv[1:4]
    speed = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
    with wave.open(file) as reader:
        assert reader.getsampwidth() == 2 and reader.getnchannels() == 1, "Expected 16 bits and one channel."
        rate_hz, audio = reader.getframerate(), reader.readframes(reader.getnframes())
    parameters = {"encoding": "pcm16", "sample_rate": rate_hz}
    asyncio.run(Stream(server, key, parameters, audio, rate_hz, speed).run())


if __name__ == "__main__":
    main()
