# SPDX-License-Identifier: Apache-2.0
"""Reasons of clips' verdicts: the rules of src/analysis/verdict/reasons.ts on the output of bench/clip-measures.ts."""

import numpy as np

# The same for all models, and never fitted to the scores behind the bound of judge/abstention.py, which would otherwise
# not hold.
CONFIDENCE_BELOW = 0.1
# {reason: (unit of the limit, measure, True if it applies from the limit on, False if below)}
RULES = {
    "low_speech": ("s of speech, below", "speech_s", False),
    "clipped": ("of the samples at full scale, at least", "clipped_ratio", True),
    "band_limited": ("dB weaker above 4.7 kHz, at least", "high_band_drop_db", True),
    "low_bit_rate": ("bit/s of Opus, below", "opus_bits_per_s", False),
    "low_snr": ("dB above the quietest speech, below", "noise_gap_db", False),
    "uncertain": ("of confidence, below", "confidence", False),
    "mixed_content": ("windows of both kinds", "is_mixed", True),
}
SERVED = {"uncertain": CONFIDENCE_BELOW, "mixed_content": 1, "band_limited": 55, "low_bit_rate": 20_000, "low_snr": 31}


def with_reason(measured, reason, limit):
    """Whether each clip of a Measured would get this reason at this limit."""
    _, measure, is_from = RULES[reason]
    values = getattr(measured, measure) if hasattr(measured, measure) else measured.measure(measure)
    # Unmeasured values are not a reason.
    return values >= limit if is_from else values < limit


def served_reasons(measured):
    """{reason: of each clip, whether it applies}"""
    return {reason: with_reason(measured, reason, limit) for reason, limit in SERVED.items()}


def has_reason(measured):
    return np.any(list(served_reasons(measured).values()), axis=0)
