# SPDX-License-Identifier: Apache-2.0
"""Windows of a clip as the server cuts them, their features, and their scores from the runtime that serves."""

import subprocess
from pathlib import Path

import numpy as np

from native import FeatureExtractor
from recipe import FEATURES, WINDOW_SAMPLES, frames_of
from sampler import repeat_to_length

RESIDUAL_SAMPLES = 16000  # a shorter rest of a clip makes no window of its own


def window_starts(count):
    """Starts of the windows of `count` samples: 5 s without overlap, the last one slides back to end at the end."""
    if count <= WINDOW_SAMPLES:
        return [0]
    whole, residual = divmod(count, WINDOW_SAMPLES)
    starts = [index * WINDOW_SAMPLES for index in range(whole)]
    if residual >= RESIDUAL_SAMPLES:
        starts.append(count - WINDOW_SAMPLES)
    elif residual:
        starts[-1] = count - WINDOW_SAMPLES
    return starts


def windows_of(samples):
    """[windows, 80000]; a clip below 5 s is one window that repeats it."""
    return [repeat_to_length(samples[start:start + WINDOW_SAMPLES], WINDOW_SAMPLES)
            for start in window_starts(len(samples))]


def score_clips(model_path, clips_samples):
    """Logits per clip and window: a list of float32 arrays, one per item of the iterable `clips_samples`."""
    extractor, counts = FeatureExtractor(FEATURES), []
    script = Path(__file__).with_name("score_onnx.mjs")
    command = ["node", str(script), str(model_path), str(FEATURES["bands"]), str(frames_of(WINDOW_SAMPLES))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as scorer:
        for samples in clips_samples:
            windows = windows_of(samples)
            counts.append(len(windows))
            for window in windows:
                scorer.stdin.write(extractor.compute(window).tobytes())
        scorer.stdin.close()
        logits = np.frombuffer(scorer.stdout.read(), dtype=np.float32)
    if scorer.returncode != 0 or len(logits) != sum(counts):
        raise RuntimeError(f"{' '.join(command)} ended with {scorer.returncode} after {len(logits)} of {sum(counts)} windows")
    return np.split(logits, np.cumsum(counts)[:-1])
