# SPDX-License-Identifier: Apache-2.0
"""An answer of 429 or 503 is tried again, by the rule of the TypeScript client."""

import io
import os
import threading
import time
from email.utils import formatdate

import pytest
from conftest import FIXTURES, Answer
from veravox_client import VeravoxError

FINE = Answer(200, {"prediction_id": "p"})
FILE = os.urandom(100_000)


def refused(status, retry_after=None):
    code = "rate_limited" if status == 429 else "unavailable"
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Answer(status, {"error": code, "message": "Later.", "status": status, "correlation_id": "c"}, headers)


@pytest.mark.parametrize("status", [429, 503])
def test_it_is_tried_again_with_the_same_body(client_of, fake_service, status, tmp_path):
    recording = tmp_path / "call.wav"
    recording.write_bytes(FILE)
    with recording.open("rb") as opened:
        for file in (FILE, bytearray(FILE), recording, str(recording), opened, io.BytesIO(FILE)):
            service = fake_service(refused(status, "0"), refused(status), FINE)
            assert client_of(service.base_url).predict(file)["prediction_id"] == "p"
            bodies = [body for *_, body in service.received]
            assert len(bodies) == 3
            assert len({body.replace(body.split(b"\r\n")[0], b"") for body in bodies}) == 1
            assert FILE in bodies[0]


def test_not_before_retry_after_has_passed(client_of, fake_service):
    began = time.monotonic()
    client_of(fake_service(refused(503, "1"), FINE).base_url).predict(FILE)
    assert time.monotonic() - began >= 0.99


def test_retry_after_may_be_a_date(client_of, fake_service):
    service = fake_service(refused(503, formatdate(0, usegmt=True)), refused(503, "soon"), FINE)
    client_of(service.base_url).predict(FILE)
    assert len(service.received) == 3


MOMENT = 4_102_444_800
"""2100-01-01, a Friday."""


@pytest.mark.parametrize(
    ("date", "wanted"),
    [
        ("Fri, 01 Jan 2100 00:00:00 GMT", MOMENT),
        ("Friday, 01-Jan-2100 00:00:00 GMT", MOMENT),
        ("Fri, 01 Jan 2100 02:00:00 +0200", MOMENT),
        # As C's asctime writes it, which is in UTC.
        ("Fri Jan  1 00:00:00 2100", MOMENT),
        ("Fri, 01 Jan 1999 00:00:00 GMT", 0),
        *(
            (text, None)
            for text in ("soon", "-1", "1.5", "Fri", "Fri, 01 Foo 2100 00:00:00 GMT", "1 2 3 4 5", ", , , , ,")
        ),
        ("Fri, 99 Jan 99999999999999999999 99:99:99 GMT", None),
    ],
)
def test_dates_that_say_when_to_retry(client_of, fake_service, monkeypatch, date, wanted):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        with pytest.raises(VeravoxError) as caught:
            client_of(fake_service(refused(503, date)).base_url).predict(FILE, max_retries=0)
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    told = caught.value.retry_after_s
    if wanted:
        assert abs(told + time.time() - wanted) < 60
    else:
        assert told == wanted


def test_the_last_refusal_is_raised(client_of, fake_service):
    service = fake_service(refused(429, "0"))
    with pytest.raises(VeravoxError) as caught:
        client_of(service.base_url).predict(FILE, max_retries=2)
    error = caught.value
    assert (error.code, error.status, error.retry_after_s, error.message) == ("rate_limited", 429, 0, "Later.")
    assert len(service.received) == 3


@pytest.mark.parametrize("status", [400, 401, 408, 413, 500])
def test_other_refusals_are_final(client_of, fake_service, status):
    service = fake_service(Answer(status, "no"))
    with pytest.raises(VeravoxError) as caught:
        client_of(service.base_url).predict(FILE)
    assert caught.value.status == status
    assert len(service.received) == 1


def test_what_can_be_read_only_once_is_sent_only_once(client_of, fake_service):
    service = fake_service(refused(503, "0"), FINE)
    reader, writer = os.pipe()

    def write():
        with os.fdopen(writer, "wb") as file:
            file.write(FILE)

    thread = threading.Thread(target=write)
    thread.start()
    with os.fdopen(reader, "rb") as pipe, pytest.raises(VeravoxError):
        client_of(service.base_url).predict(pipe)
    thread.join()
    [(*_, body)] = service.received
    assert FILE in body


def test_a_pause_that_would_outlast_the_time_limit_is_not_begun(client_of, fake_service):
    service = fake_service(refused(503, "3600"))
    with pytest.raises(VeravoxError) as caught:
        client_of(service.base_url).predict(FILE, timeout_s=60)
    assert caught.value.retry_after_s == 3600
    assert len(service.received) == 1


def test_a_key_over_its_rate_waits_as_long_as_the_server_asks_for(client_of, server):
    client = client_of(server.origin, server.create_key("--scopes", "predict", "--rate", "1/2s"))
    began = time.monotonic()
    for _ in range(3):
        client.predict(FIXTURES / "human-lj-a.mp3")
    assert time.monotonic() - began >= 2
