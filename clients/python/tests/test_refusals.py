# SPDX-License-Identifier: Apache-2.0
"""Refusals are exceptions with all that the server says."""

import json
import pickle
import subprocess

import pytest
from conftest import FIXTURES, Answer
from veravox_client import VeravoxError


def test_a_wrong_key_is_refused_as_curl_sees_it(client_of, server):
    with pytest.raises(VeravoxError) as caught:
        client_of(server.origin, "not-a-key").predict(FIXTURES / "human-lj-a.mp3")
    error = caught.value
    command = ["curl", "-sS", f"{server.origin}/v1/predict", "-H", "x-api-key: not-a-key", "-F", "file=any", "-i"]
    head, body = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n\n", 1)
    refusal = json.loads(body)
    assert (error.code, error.status, str(error)) == (refusal["error"], refusal["status"], refusal["message"])
    assert f"x-error-key: {error.error_key}\n" in head
    assert len(error.correlation_id) == 36


def test_a_refusal_may_come_before_the_end_of_a_large_upload(client_of, fake_service, tmp_path):
    def refuse_at_once(handler):
        body = b'{"error": "unauthorized", "message": "No.", "status": 401, "correlation_id": "c"}'
        handler.wfile.write(b"HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body))
        handler.wfile.write(body)
        for _ in range(0, int(handler.headers["content-length"]), 65536):
            handler.rfile.read(65536)

    recording = tmp_path / "large.wav"
    with recording.open("wb") as file:
        file.truncate(20 * 65536)
    with pytest.raises(VeravoxError) as caught:
        client_of(fake_service(refuse_at_once).base_url).predict_large_file(recording)
    assert (caught.value.status, caught.value.message) == (401, "No.")


def test_what_is_not_a_recording_is_refused(client):
    for file in (b"no recording" * 100, FIXTURES.parent / "../package.json"):
        with pytest.raises(VeravoxError) as caught:
            client.predict(file)
        assert (caught.value.code, caught.value.status) == ("unsupported_format", 422)


def test_a_missing_file_and_a_missing_input_send_nothing(client_of, fake_service):
    service = fake_service(Answer(200, {}))
    client = client_of(service.base_url)
    with pytest.raises(FileNotFoundError):
        client.predict("there-is-none.wav")
    for inputs in ({}, {"file": b"x", "presigned_url": "http://x"}):
        with pytest.raises(TypeError):
            client.predict(**inputs)
    assert service.received == []


def test_the_voice_of_a_machine_is_no_voiceprint(client, tmp_path):
    clone = tmp_path / "clone.wav"
    options = ["-stream_loop", "5", "-i", FIXTURES / "ai-kokoro.flac", "-t", "15"]
    subprocess.run(["ffmpeg", "-v", "error", *options, clone], check=True)
    with pytest.raises(VeravoxError) as caught:
        client.enroll(clone)
    assert (caught.value.code, caught.value.status) == ("forbidden_error", 403)


def test_an_altered_link_is_refused_by_the_storage(client):
    [link] = client.create_upload_links(["altered.wav"])["url"]
    altered = {**link, "value": link["value"].replace("altered", "other")}
    with pytest.raises(VeravoxError) as caught:
        client.upload(altered, b"bytes")
    assert (caught.value.code, caught.value.status) == ("storage_error", 403)
    assert "<" not in str(caught.value)


@pytest.mark.parametrize(
    "body", ["<html>Bad gateway</html>", '{"error": 1}', "[]", "\udcff".encode(errors="replace").decode()]
)
def test_what_a_proxy_answers_is_unexpected(client_of, fake_service, body):
    with pytest.raises(VeravoxError) as caught:
        client_of(fake_service(Answer(502, body)).base_url).list_jobs()
    assert (caught.value.code, caught.value.status) == ("unexpected_answer", 502)
    assert body in str(caught.value)


def test_so_is_a_success_without_json(client_of, fake_service):
    page = "<html>" + "Sign in. " * 100
    client = client_of(fake_service(Answer(200, page)).base_url)
    for call in (client.list_jobs, lambda: client.predict(b"any"), lambda: next(client.follow_job("j"))):
        with pytest.raises(VeravoxError) as caught:
            call()
        assert (caught.value.code, caught.value.status) == ("unexpected_answer", 200)
        assert str(caught.value) == f"200 {page[:300]}"


def test_errors_survive_a_process_pool():
    error = VeravoxError("Later.", "rate_limited", 429, "RATE_LIMITED", "id", 2.0)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_an_address_of_version_0_is_refused(client_of):
    with pytest.raises(ValueError, match="speaks v1"):
        client_of("http://127.0.0.1:9/v0/")


def test_the_version_may_be_in_the_address(client_of, server):
    for address in ("/", "/v1", "/v1/"):
        assert client_of(server.origin + address, server.key).list_jobs(limit=1)["jobs"] is not None


def test_an_id_is_never_more_than_an_id(client):
    for job_id in ("0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90", "../file?entity=a", "a/b"):
        with pytest.raises(VeravoxError) as caught:
            client.get_job(job_id)
        assert caught.value.error_key == "JOB_NOT_FOUND"
