# SPDX-License-Identifier: Apache-2.0
"""Webhooks, with signatures by openssl."""

import base64
import json
import subprocess

import pytest
from veravox_client import WebhookRefused, verify_webhook

SECRET = f"whsec_{base64.b64encode(bytes([7] * 32)).decode()}"
OTHER = f"whsec_{base64.b64encode(bytes([8] * 32)).decode()}"
BODY = '{"type":"job.failed","timestamp":"2026-11-22T10:00:00.000Z","data":{"id":"ü"}}'
AT_S = 1_763_800_000


def signed(secret, body=BODY, message_id="msg", at_s=AT_S):
    key = base64.b64decode(secret[len("whsec_") :]).hex()
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key}", "-binary"]
    digest = subprocess.run(command, input=f"{message_id}.{at_s}.{body}".encode(), check=True, capture_output=True)
    signature = f"v1,{base64.b64encode(digest.stdout).decode()}"
    return {"webhook-id": message_id, "webhook-timestamp": str(at_s), "webhook-signature": signature}


GOOD = signed(SECRET)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY + " ", GOOD),
        (BODY, {**GOOD, "webhook-id": "other"}),
        (BODY, {**GOOD, "webhook-timestamp": str(AT_S + 1)}),
        (BODY, {**GOOD, "webhook-timestamp": "now"}),
        (BODY, {**GOOD, "webhook-timestamp": "²"}),
        (BODY, signed(SECRET, at_s=AT_S - 301)),
        (BODY, signed(SECRET, at_s=AT_S + 301)),
        (BODY, signed(OTHER)),
        (BODY, {**GOOD, "webhook-signature": f"v2{GOOD['webhook-signature'][2:]}"}),
        (BODY, {**GOOD, "webhook-signature": "v1,%%"}),
        (BODY, {**GOOD, "webhook-signature": "v1,ü"}),
        (BODY, {**GOOD, "webhook-signature": "v1,"}),
        *((BODY, {name: value for name, value in GOOD.items() if name != missing}) for missing in GOOD),
    ],
)
def test_what_is_changed_old_or_not_signed_is_refused(body, headers):
    with pytest.raises(WebhookRefused):
        verify_webhook(body, headers, SECRET, now_s=AT_S)


@pytest.mark.parametrize("secret", ["", "whsec_", "sk_AAAA", "whsec_%"])
def test_what_is_not_a_secret_is_an_error_of_the_program(secret):
    with pytest.raises(ValueError, match="whsec_"):
        verify_webhook(BODY, GOOD, secret, now_s=AT_S)


def test_what_is_signed_with_one_of_the_secrets_is_taken():
    capitals = {name.title(): value for name, value in GOOD.items()}
    for body, headers in ((BODY, GOOD), (BODY.encode(), capitals)):
        assert verify_webhook(body, headers, [OTHER, SECRET], now_s=AT_S) == json.loads(BODY)
    both = f"{signed(OTHER)['webhook-signature']} v1a,x {GOOD['webhook-signature']}"
    verify_webhook(BODY, {**GOOD, "webhook-signature": both}, SECRET, now_s=AT_S)
    late = signed(SECRET, at_s=AT_S - 290)
    verify_webhook(BODY, late, SECRET, now_s=AT_S)
    with pytest.raises(WebhookRefused):
        verify_webhook(BODY, late, SECRET, now_s=AT_S, tolerance_s=60)
