# SPDX-License-Identifier: Apache-2.0
"""Calibrate the exported speaker model on the validation speakers and measure it there, through onnxruntime-node.

    python3 -m judge.evaluate_speaker --cache FOLDER --model ../models/voiceprint-1-2026-11-21.onnx --figures
        FIGURES.json

VERAVOX_CORPUS names the folder with index.csv. An embedding is made as in the server: the mean of the embeddings
of the 5 s windows with speech, brought to length 1. Trials are inside one source unless a figure's name says otherwise:
across sources the recording conditions reveal the answer.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache
from data.prepare_corpus import MEASURED_CODECS
from data.speaker_sampler import verified_speakers
from features.recipe import SAMPLE_RATE_HZ
from judge.figures import equal_error_rate, rounded
from judge.speaker_figures import (
    Trialled,
    calibrate,
    code_clips,
    embed,
    rates_at,
    similarity,
    summary,
    through_own_channels,
)
from judge.speaker_trials import Trials, divide, is_same_recording, median_pitch_hz

TEST_SPEECH_S = (1.0, 3.0, 5.0, 10.0)
CALIBRATED_ON_S = (1.0, 3.0, 5.0)
CONDITION_SPEECH_S = 3.0
CHANNEL_SPEECH_S = 5.0
SPLITS = 2
FALSE_ACCEPT_TARGET = 0.02
ALIKE_PITCH = 0.15


def pool(each):
    """The trials inside one source of several durations as one: (cosines, trials, tests)."""
    parts, tests = [], []
    for trialled in each:
        cosines, trials = trialled.one_source()
        parts.append((cosines, trials.enrolled, trials.tested + len(tests), trials.same, trials.one_source))
        tests += trialled.tests
    cosines, *columns = (np.concatenate(column) for column in zip(*parts))
    return cosines, Trials(*columns), tests


def group_clips(cache):
    groups = defaultdict(list)
    for speaker, clips in verified_speakers(cache, "valid").items():
        for clip in clips:
            groups[clip["source"], speaker].append(clip)
    return dict(sorted(groups.items()))


def command_word_trials(groups, cache, model):
    """Shorter than the contract allows: all words of a command-word speaker but one (about 2 s) against that one (about
    1 s).
    """
    enrolments, tests = [], []
    for owner, clips in groups.items():
        if len(clips) >= 2 and sum(clip["samples"] for clip in clips) < 10 * SAMPLE_RATE_HZ:
            one = np.random.default_rng(0)
            enrolled, divided = divide(owner, clips, cache, 0, one, (0.3,), enrolment=(1.5, 0.5))
            if enrolled and divided[0.3]:
                enrolments.append(enrolled)
                tests.append(divided[0.3][0])
    return Trialled(
        enrolments, embed(model, (r.samples for r in enrolments)), tests, embed(model, (r.samples for r in tests))
    )


def across_sources(groups, cache, model, enrolments, vectors, calibration, point):
    """Enrolments of one source against the same speaker's clips of at least 1 s from others, except the same
    recording."""
    clips_of = defaultdict(list)
    for (source, speaker), clips in groups.items():
        clips_of[speaker] += [(source, clip) for clip in clips if clip["samples"] >= SAMPLE_RATE_HZ]
    kept, copies = [], 0
    for index, enrolment in enumerate(enrolments):
        if enrolment.split:
            continue
        own = [cache.samples(clip) for source, clip in clips_of[enrolment.speaker] if source == enrolment.source]
        for source, clip in clips_of[enrolment.speaker]:
            if source != enrolment.source:
                samples = cache.samples(clip)
                if any(is_same_recording(samples, other) for other in own):
                    copies += 1
                else:
                    kept.append((index, samples))
    if not kept:
        return {"same_speaker_trials": 0, "left_out_as_copies": copies}
    tested = embed(model, (samples for _, samples in kept))
    cosines = np.sum(vectors[[index for index, _ in kept]] * tested, axis=1)
    rejected = similarity(cosines, calibration) < point
    return {
        "speakers": len({enrolments[index].speaker for index, _ in kept}),
        "same_speaker_trials": len(kept),
        "left_out_as_copies": copies,
        "false_rejects": rounded(rejected.mean()),
        "mean_similarity": rounded(similarity(cosines, calibration).mean()),
    }


def pitch_is_alike(trialled):
    """Trials with two speakers whose median pitches lie within 15 % of each other."""
    samples = defaultdict(list)
    for recording in trialled.enrolments:
        samples[recording.speaker].append(recording.samples)
    pitch = {speaker: median_pitch_hz(np.concatenate(parts)) for speaker, parts in samples.items()}
    first = np.array([pitch[recording.speaker] for recording in trialled.enrolments])[trialled.trials.enrolled]
    second = np.array([pitch.get(recording.speaker, np.nan) for recording in trialled.tests])[trialled.trials.tested]
    return np.abs(np.log(first / second)) < np.log(1 + ALIKE_PITCH)


def choose_operating_point(cosines, same, calibration):
    """The lowest similarity, to two digits, that accepts at most FALSE_ACCEPT_TARGET of the impostors."""
    impostors = similarity(cosines[~same], calibration)
    return next(
        point for point in np.round(np.arange(0.5, 1.0, 0.01), 2) if np.mean(impostors >= point) <= FALSE_ACCEPT_TARGET
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--figures", required=True)
    options = parser.parse_args()
    rng, cache = np.random.default_rng(20261121), CorpusCache(options.cache)
    groups, enrolments, tests = group_clips(cache), [], defaultdict(list)
    for split in range(SPLITS):
        for owner, clips in groups.items():
            enrolled, divided = divide(owner, clips, cache, split, rng, TEST_SPEECH_S)
            enrolments += [enrolled] if enrolled else []
            for seconds, recordings in divided.items():
                tests[seconds] += recordings
    vectors = embed(options.model, (recording.samples for recording in enrolments))
    by_duration = {
        seconds: Trialled(enrolments, vectors, recordings, embed(options.model, (r.samples for r in recordings)))
        for seconds, recordings in tests.items()
    }

    cosines, pooled, pooled_tests = pool([by_duration[seconds] for seconds in CALIBRATED_ON_S])
    same = pooled.same
    calibration = calibrate(cosines, same)
    point = float(choose_operating_point(cosines, same, calibration))
    print(f"calibration {calibration} operating point {point} EER {equal_error_rate(-cosines, ~same):.4f}", flush=True)

    metrics = {
        "measured_on": "162 validation speakers of the speech corpus, none of whom training saw; enrolments of 10 s or "
        "more from joined clips, samples from other clips; the same speakers gave calibration and operating point",
        "inside_one_source": {
            "test_speech_s": list(CALIBRATED_ON_S),
            **summary(cosines, pooled, enrolments, pooled_tests, rng),
            "at_operating_point": rates_at(cosines, same, calibration, point),
            "at_similarity": {
                f"{value:.1f}": rates_at(cosines, same, calibration, value) for value in np.arange(0.1, 1.0, 0.1)
            },
        },
        "by_test_speech": {},
        "by_source": {},
        "conditions": {},
    }
    print(json.dumps(metrics["inside_one_source"]), flush=True)
    for seconds, trialled in by_duration.items():
        inside, trials = trialled.one_source()
        mixed = trialled.trials.same | ~trialled.trials.one_source
        metrics["by_test_speech"][f"{seconds:g} s"] = {
            **summary(inside, trials, enrolments, trialled.tests, rng),
            "at_operating_point": rates_at(inside, trials.same, calibration, point),
            "impostors_of_other_sources": {
                **summary(*trialled.part(mixed), enrolments, trialled.tests),
                "at_operating_point": rates_at(
                    trialled.cosines[mixed], trialled.trials.same[mixed], calibration, point
                ),
            },
        }
        print(seconds, json.dumps(metrics["by_test_speech"][f"{seconds:g} s"]), flush=True)
    middle = by_duration[CONDITION_SPEECH_S]
    for source, inside, trials in middle.by_source():
        metrics["by_source"][source] = {
            **summary(inside, trials, enrolments, middle.tests),
            "at_operating_point": rates_at(inside, trials.same, calibration, point),
        }
        print(source, metrics["by_source"][source], flush=True)
    alike = middle.trials.one_source & (middle.trials.same | pitch_is_alike(middle))
    metrics["impostors_of_alike_pitch"] = {
        **summary(*middle.part(alike), enrolments, middle.tests),
        "at_operating_point": rates_at(middle.cosines[alike], middle.trials.same[alike], calibration, point),
    }
    print("alike pitch", metrics["impostors_of_alike_pitch"], flush=True)
    enrolled_sources = {enrolment.source for enrolment in enrolments}
    to_code = [recording for recording in middle.tests if recording.split == 0 and recording.source in enrolled_sources]
    for name, condition in MEASURED_CODECS.items():
        coded = code_clips([recording.samples for recording in to_code], condition)
        trialled = Trialled(enrolments, vectors, to_code, embed(options.model, coded))
        inside, trials = trialled.one_source()
        metrics["conditions"][name] = {
            "same_speaker_trials": int(trials.same.sum()),
            "eer": rounded(equal_error_rate(-inside, ~trials.same)),
            "at_operating_point": rates_at(inside, trials.same, calibration, point),
        }
        print(name, metrics["conditions"][name], flush=True)
    longer = by_duration[CHANNEL_SPEECH_S]
    own = Trialled(
        enrolments,
        embed(options.model, through_own_channels(enrolments, rng)),
        longer.tests,
        embed(options.model, through_own_channels(longer.tests, rng)),
    )
    inside, trials = own.one_source()
    metrics["own_channel_on_each_side"] = {
        "test_speech_s": CHANNEL_SPEECH_S,
        **summary(inside, trials, enrolments, longer.tests, rng),
        "at_operating_point": rates_at(inside, trials.same, calibration, point),
    }
    print("own channel on each side", metrics["own_channel_on_each_side"], flush=True)
    metrics["same_speaker_across_sources"] = across_sources(
        groups, cache, options.model, enrolments, vectors, calibration, point
    )
    words = command_word_trials(groups, cache, options.model)
    metrics["command_words_below_the_contract"] = {
        source: {
            **summary(cosines, trials, words.enrolments, words.tests),
            "at_operating_point": rates_at(cosines, trials.same, calibration, point),
        }
        for source, cosines, trials in words.by_source()
        if len(np.unique(trials.enrolled)) >= 20
    }
    print(metrics["same_speaker_across_sources"], metrics["command_words_below_the_contract"], flush=True)
    Path(options.figures).write_text(
        json.dumps({"calibration": calibration, "operating_point": point, "metrics": metrics}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
