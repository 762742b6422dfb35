# SPDX-License-Identifier: Apache-2.0
"""Verification trials over labelled speakers: an enrolment of at least 10 s against a sample from other recordings."""

from dataclasses import dataclass, field

import numpy as np

from features.native import SPEECH_HOP_SAMPLES, speech_decisions
from features.recipe import SAMPLE_RATE_HZ

ENROLMENT_S, ENROLMENT_SPEECH_S = 10.0, 3.0  # minimum of /voiceid/enroll
MOST_SAMPLES_PER_ENROLMENT = 12


@dataclass
class Recording:
    """Clips of one speaker and source, joined. `split` numbers its division of the speaker's clips."""

    source: str
    speaker: str
    split: int
    paths: list
    samples: np.ndarray = field(repr=False)


def speech_seconds(samples):
    return float(speech_decisions(samples).sum()) * SPEECH_HOP_SAMPLES / SAMPLE_RATE_HZ


def join_until(clips, cache, wanted_s, wanted_speech_s):
    """Joins clips from the front of the list until both are reached: (clips taken, samples), or None if they run
    out."""
    parts = []
    for count, clip in enumerate(clips, 1):
        parts.append(cache.samples(clip))
        samples = np.concatenate(parts)
        if len(samples) >= wanted_s * SAMPLE_RATE_HZ and speech_seconds(samples) >= wanted_speech_s:
            return count, samples
    return None


def _recording(owner, split, clips, samples):
    return Recording(owner[0], owner[1], split, [clip["path"] for clip in clips], samples)


def divide(owner, clips, cache, split, rng, test_speech_s, enrolment=(ENROLMENT_S, ENROLMENT_SPEECH_S)):
    """One random division of a speaker's clips: (enrolment or None, {speech seconds: samples to test}). No sample has
    clips of the enrolment; if that cannot be filled, all clips go to the samples."""
    shuffled = [clips[index] for index in rng.permutation(len(clips))]
    taken, enrolled = 0, None
    filled = join_until(shuffled, cache, *enrolment)
    if filled and filled[0] < len(shuffled):
        taken = filled[0]
        enrolled = _recording(owner, split, shuffled[:taken], filled[1])
    tests = {}
    for wanted_s in test_speech_s:
        tests[wanted_s], first = [], taken
        while first < len(shuffled) and len(tests[wanted_s]) < MOST_SAMPLES_PER_ENROLMENT:
            joined = join_until(shuffled[first:], cache, 1.0, wanted_s)
            if joined is None:
                break
            tests[wanted_s].append(_recording(owner, split, shuffled[first : first + joined[0]], joined[1]))
            first += joined[0]
    return enrolled, tests


@dataclass
class Trials:
    """Parallel arrays, one element per trial; `enrolled` and `tested` are indices into the lists given."""

    enrolled: np.ndarray
    tested: np.ndarray
    same: np.ndarray
    one_source: np.ndarray

    def where(self, mask):
        return Trials(self.enrolled[mask], self.tested[mask], self.same[mask], self.one_source[mask])


def all_trials(enrolments, tests):
    """Every enrolment against every sample of the same division. Recordings of one speaker from two sources do not form
    a trial: demo pages share recordings."""
    enrolled, tested = (
        grid.ravel() for grid in np.meshgrid(np.arange(len(enrolments)), np.arange(len(tests)), indexing="ij")
    )
    column = lambda recordings, name: np.array([getattr(recording, name) for recording in recordings])
    same = column(enrolments, "speaker")[enrolled] == column(tests, "speaker")[tested]
    one_source = column(enrolments, "source")[enrolled] == column(tests, "source")[tested]
    kept = (column(enrolments, "split")[enrolled] == column(tests, "split")[tested]) & (one_source | ~same)
    return Trials(enrolled, tested, same, one_source).where(kept)
