# SPDX-License-Identifier: Apache-2.0
"""Each method gets what curl gets from the same server."""

import hashlib
import os
import subprocess
import sys
import uuid

import pytest
from conftest import FIXTURES, SOURCES
from veravox_client import VeravoxError, enrollment_of, verdict_of

CALL = FIXTURES / "human-lj-a.mp3"
VARYING = ("prediction_id", "processing_time")


def lasting(answer):
    return {name: value for name, value in answer.items() if name not in VARYING}


@pytest.fixture(scope="session")
def long_recording(tmp_path_factory):
    """Speech in a file that is large enough for large files."""
    return repeated(tmp_path_factory.mktemp("long") / "long.wav", 14, "-ar", "192000")


@pytest.fixture(scope="session")
def anna(tmp_path_factory):
    """Speech that is long enough to enrol."""
    return repeated(tmp_path_factory.mktemp("anna") / "anna.wav", 12)


def repeated(made, seconds, *options):
    source = ["-stream_loop", "9", "-i", FIXTURES / "human-lj-a.flac"]
    subprocess.run(["ffmpeg", "-v", "error", *source, *options, "-t", str(seconds), made], check=True)
    return made


def test_predict(client, server):
    headers = {}
    options = {"threshold": 0.4, "silence_threshold": 90, "end": 6, "prediction_id": "mine"}
    answer = client.predict(CALL, **options, on_headers=headers.update)
    fields = [part for name, value in options.items() for part in ("-F", f"{name}={value}")]
    assert lasting(answer) == lasting(server.curl("/predict", "-F", f"file=@{CALL}", *fields))
    assert answer["prediction_id"] == "mine"
    assert headers["x-model-ids"].startswith("detector-")


def test_predict_large_file(client, server, long_recording):
    sent = []
    answer = client.predict_large_file(long_recording, on_upload_progress=lambda *progress: sent.append(progress))
    assert lasting(answer) == lasting(server.curl("/predict/large-file", "-F", f"file=@{long_recording}"))
    size = long_recording.stat().st_size
    assert sent[-1] == (size, size)
    assert sent == sorted(set(sent)) and len(sent) > 10


def test_voiceprints(client, server, anna):
    enrolled = client.enroll(anna, end=11, user_id="anna")
    wanted = server.curl("/voiceid/enroll", "-F", f"audio_file=@{anna}", "-F", "end=11")
    assert lasting(enrolled) == lasting(wanted)
    caller = FIXTURES / "human-lj-b.flac"
    headers = {}
    verified = client.verify(caller, enrolled["embedding"], on_headers=headers.update)
    vector = f"voice_vector={enrolled['embedding']}"
    assert lasting(verified) == lasting(server.curl("/voiceid/verify", "-F", f"audio_file=@{caller}", "-F", vector))
    assert float(headers["x-voice-cosine"]) > 0.5
    listed = [{"id": name, "embedding": enrolled["embedding"]} for name in ("anna", "anne")]
    identified = client.identify(caller, listed, top=1)
    assert (identified["compared"], len(identified["matches"])) == (2, 1)
    assert identified["matches"][0]["similarity_score"] == verified["similarity_score"]
    samples = [anna, caller]
    both = client.enroll_samples(samples)
    parts = [part for sample in samples for part in ("-F", f"audio_file=@{sample}")]
    assert lasting(both) == lasting(server.curl("/voiceid/enroll-samples", *parts))


def test_files(client, server, tmp_path):
    content = CALL.read_bytes()
    key = "a b/ä.mp3"
    [link] = client.create_upload_links([key], entity="calls")["url"]
    assert link["key"] == f"calls/{key}"
    client.upload(link, CALL)
    [stored] = client.get_download_links("a b/", entity="calls")["url"]
    fetched = tmp_path / "fetched"
    subprocess.run(["curl", "-sSf", "-o", fetched, stored["value"]], check=True)
    assert fetched.read_bytes() == content
    with client.download(stored) as response:
        assert response.content if hasattr(response, "_content") else response.read() == content
    assert client.predict(presigned_url=stored["value"])["audio_duration"] == client.predict(CALL)["audio_duration"]
    for _ in range(2):
        assert client.delete_files([key], entity="calls") == [f"calls/{key}"]
    assert server.curl("/file?key_prefix=&entity=calls") == {"url": []}


def test_any_number_of_files_can_be_deleted(client):
    keys = [f"{i}" + "語" * 170 for i in range(5)] + [f"{i:06}/" + "k" * 93 for i in range(120)]
    keys += [f"{i}" for i in range(120)]
    for link in client.create_upload_links([keys[0], keys[-1]], entity="many")["url"]:
        client.upload(link, CALL)
    assert client.delete_files([*keys, keys[0]], entity="many") == [f"many/{key}" for key in keys]
    assert client.get_download_links("", entity="many") == {"url": []}


def test_jobs(client, server):
    [link] = client.create_upload_links(["job.mp3"])["url"]
    client.upload(link, CALL)
    one = str(uuid.uuid4())
    made = client.create_job(key="job.mp3", threshold=0.4, idempotency_key=one)
    assert client.create_job(key="job.mp3", threshold=0.4, idempotency_key=one)["id"] == made["id"]
    others = [client.create_job(key="job.mp3")["id"] for _ in range(2)]
    assert len({made["id"], *others}) == 3
    for other in others:
        client.wait_for_job(other, poll_s=0.05)
    states = [job["state"] for job in client.follow_job(made["id"])]
    assert states[-1] == "succeeded"
    seen = []
    job = client.wait_for_job(made["id"], poll_s=0.05, on_job=seen.append)
    assert seen[-1] == job == client.get_job(made["id"]) == server.curl(f"/jobs/{made['id']}")
    assert lasting(verdict_of(job)) == lasting(client.predict(CALL, threshold=0.4))
    assert enrollment_of(job) is None
    first = client.list_jobs(state="succeeded", limit=1)
    assert first == server.curl("/jobs?state=succeeded&limit=1")
    assert client.list_jobs(cursor=first["next_cursor"])["jobs"]
    assert client.cancel_job(made["id"]) == job


def test_a_voice_is_enrolled_in_the_background(client, anna):
    [link] = client.create_upload_links(["anna.wav"], entity="voices")["url"]
    client.upload(link, anna)
    made = client.create_job(task="enroll", key="anna.wav", entity="voices")
    job = client.wait_for_job(made["id"], poll_s=0.05)
    assert enrollment_of(job)["embedding"] == client.enroll(anna)["embedding"]
    assert verdict_of(job) is None


def test_batches(client):
    [link] = client.create_upload_links(["batch.mp3"])["url"]
    client.upload(link, CALL)
    made = client.create_batch(lines="key\nbatch.mp3\nmissing.mp3\n", result_key="r.jsonl")
    batch = client.wait_for_job(made["id"], poll_s=0.05)["batch"]
    assert batch == {"lines": 2, "succeeded": 1, "failed": 1, "result_key": "r.jsonl"}


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_large_upload_takes_no_memory(server, tmp_path, kind):
    """By the peak of a process of its own, which sends 60 MB."""
    recording = tmp_path / "huge.bin"
    with recording.open("wb") as file:
        file.truncate(60_000_000)
    program = f"""
import asyncio, resource, sys
from veravox_client import AsyncVeravoxClient, VeravoxClient
async def main():
    async with AsyncVeravoxClient(*sys.argv[1:3]) as client:
        [small, large] = (await client.create_upload_links(["small", "huge"], entity="{kind}"))["url"]
        await client.upload(small, b"x" * 1_000_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await client.upload(large, sys.argv[3])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
def blocking():
    with VeravoxClient(*sys.argv[1:3]) as client:
        [small, large] = client.create_upload_links(["small", "huge"], entity="{kind}")["url"]
        client.upload(small, b"x" * 1_000_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        client.upload(large, sys.argv[3])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
asyncio.run(main()) if "{kind}" == "async" else blocking()
"""
    command = [sys.executable, "-c", program, server.origin, server.key, str(recording)]
    env = {**os.environ, "PYTHONPATH": str(SOURCES)}
    grown_kib = int(subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout)
    assert grown_kib < 8 * 1024
    [stored] = server.curl(f"/file?key_prefix=huge&entity={kind}")["url"]
    fetched = subprocess.run(["curl", "-sS", stored["value"]], check=True, capture_output=True).stdout
    assert hashlib.sha256(fetched).digest() == hashlib.sha256(recording.read_bytes()).digest()


def test_profiles(client, server):
    with pytest.raises(VeravoxError, match="at least 10 different genuine recordings") as refused:
        client.make_profile("studio", [CALL] * 10, [CALL], filename="call.mp3")
    assert (refused.value.status, refused.value.code) == (422, "validation_error")
    assert client.list_profiles() == server.curl("/profiles")["profiles"] == []
    calls = [
        lambda: client.get_profile("studio"),
        lambda: client.use_profile_version("studio", 1, model="detector"),
        lambda: client.delete_profile("studio", model="detector"),
    ]
    for call in calls:
        with pytest.raises(VeravoxError, match="no such profile") as missing:
            call()
        assert missing.value.code == "not_found"
