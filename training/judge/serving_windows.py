# SPDX-License-Identifier: Apache-2.0
"""Windows of a clip as the server cuts them, their features, and their scores from the serving runtime."""

import subprocess
from pathlib import Path

import numpy as np

from data.sampler import repeat_sound, repeat_to_length
from features.native import SPEECH_HOP_SAMPLES, FeatureExtractor
from features.recipe import FEATURES, WINDOW_SAMPLES, frames_of

MAX_UNHEARD_SAMPLES = 1600  # a longer rest of a clip gets its own window
SILENCE_THRESHOLD = 80  # percent of a window; the contract's default


def window_starts(count):
    """Starts of the windows of `count` samples: 5 s without overlap, the last one slides back to end with the clip."""
    if count <= WINDOW_SAMPLES:
        return [0]
    whole, residual = divmod(count, WINDOW_SAMPLES)
    starts = [index * WINDOW_SAMPLES for index in range(whole)]
    if residual > MAX_UNHEARD_SAMPLES:
        starts.append(count - WINDOW_SAMPLES)
    elif residual:
        starts[-1] = count - WINDOW_SAMPLES
    return starts


def windows_of(samples, fill=repeat_sound):
    """[windows, 80000]; a clip below 5 s is one window, filled by `fill`."""
    return [fill(samples[start : start + WINDOW_SAMPLES], WINDOW_SAMPLES) for start in window_starts(len(samples))]


def non_speech_percent(decisions, start, count):
    """Share of the window's 10 ms frames without speech, as the server counts it."""
    frames = decisions[start // SPEECH_HOP_SAMPLES : -(-(start + count) // SPEECH_HOP_SAMPLES)]
    return 100.0 * (1.0 - frames.mean())


def voiced_windows_of(samples, decisions):
    """The windows of the speaker model that the server keeps, those with at most 80 % non-speech. `decisions`: the
    voice activity of `samples`."""
    count = min(len(samples), WINDOW_SAMPLES)
    return [
        repeat_to_length(samples[start : start + WINDOW_SAMPLES], WINDOW_SAMPLES)
        for start in window_starts(len(samples))
        if non_speech_percent(decisions, start, count) <= SILENCE_THRESHOLD
    ]


def run_model(model_path, windows, features=FEATURES):
    """float32 [windows, outputs] of an iterable of windows, computed by onnxruntime-node."""
    extractor, count = FeatureExtractor(features), 0
    script = Path(__file__).with_name("score_onnx.mjs")
    command = ["node", str(script), str(model_path), str(features["bands"]), str(frames_of(WINDOW_SAMPLES))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as scorer:
        for window in windows:
            scorer.stdin.write(extractor.compute(window).tobytes())
            count += 1
        scorer.stdin.close()
        numbers = np.frombuffer(scorer.stdout.read(), dtype=np.float32)
    if scorer.returncode != 0 or count == 0 or len(numbers) % count:
        raise RuntimeError(
            f"{' '.join(command)} ended with {scorer.returncode}: {len(numbers)} numbers of {count} windows"
        )
    return numbers.reshape(count, -1)
