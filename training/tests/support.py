# SPDX-License-Identifier: Apache-2.0
"""Recordings, repositories and conditions for several tests."""

import importlib.util
import subprocess
import tempfile
import unittest
import wave
from pathlib import Path

import numpy as np

from data.mirrors import blob_id

has_torch = importlib.util.find_spec("torch") is not None
needs_torch = unittest.skipUnless(has_torch, "needs PyTorch: Debian's python3-torch or the extra `train`")
needs_onnx = unittest.skipUnless(
    has_torch and all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))), "needs the extras `train` and `quantise`"
)


class WithFolder(unittest.TestCase):
    """Has its own folder in `self.folder`, removed after the test."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)


def git(folder, *arguments):
    return subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def write_wave(path, samples, rate_hz, channels=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate_hz, 0, "NONE", ""))
        file.writeframes(np.repeat(samples, channels).astype("<i2").tobytes())


def syllables(seconds, rate_hz, seed, syllable_s=0.1):
    """Noise in syllables, with an envelope like speech."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(int(seconds * rate_hz)) / rate_hz
    knots = np.arange(0, seconds + syllable_s, syllable_s)
    made = np.zeros(len(time_s))
    for hz in (200, 350, 700, 1400, 1900, 2800):
        made += np.interp(time_s, knots, rng.uniform(0, 1, len(knots)) ** 3) * np.sin(
            2 * np.pi * hz * time_s + rng.uniform(0, 6)
        )
    return (0.1 * made).astype(np.float32)


def babble(seconds, seed):
    """Bursts of harmonics in noise, which the voice activity detector mostly takes for speech."""
    rng, count = np.random.default_rng(seed), int(seconds * 16000)
    phase = np.cumsum(2 * np.pi * (120 + 30 * np.sin(np.arange(count) / 9000)) / 16000)
    voice = sum(np.sin(phase * harmonic) / harmonic for harmonic in range(1, 20))
    return (0.1 * voice * (1 + np.sin(np.arange(count) / 800)) + 0.001 * rng.standard_normal(count)).astype(np.float32)


def repository(folder, files):
    """A bare repository OWNER+NAME whose HEAD has `files`; returns {path: blob id}."""
    with tempfile.TemporaryDirectory() as tree:
        git(tree, "init", "-q", "-b", "main")
        for path, content in files.items():
            Path(tree, path).parent.mkdir(parents=True, exist_ok=True)
            Path(tree, path).write_bytes(content)
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "files")
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(tree, "clone", "-q", "--bare", tree, str(folder))
    return {path: blob_id(content) for path, content in files.items()}
