# SPDX-License-Identifier: Apache-2.0
"""Our own spoofs: human clips analysed and resynthesised, so that speaker and room are the same in both classes.

Every vocoder takes float32 samples at 16 kHz and a numpy Generator and returns as many samples, in time with the clip
to a few milliseconds. All are classical (no trained weights): they teach phase and excitation artefacts and coarse
envelopes, not the artefacts of a neural generator's upsampling.
"""

from importlib import import_module

import numpy as np

from features.recipe import SAMPLE_RATE_HZ
from signals.lpc_vocoder import lpc_pulses
from signals.world_vocoder import world, world_statistical


def _spectral(name):
    """A vocoder of spectral_vocoders.py, loaded at first use because it needs PyTorch."""
    return lambda samples, rng: getattr(import_module("signals.spectral_vocoders"), name)(samples, rng)


VOCODERS = {
    "copy-griffin-lim-mel": _spectral("griffin_lim_mel"),
    "copy-griffin-lim-linear": _spectral("griffin_lim_linear"),
    "copy-source-filter": _spectral("source_filter"),
    "copy-smoothed-magnitude": _spectral("smoothed_magnitude"),
    "copy-world": world,
    "copy-world-statistical": world_statistical,
    "copy-lpc-pulses": lpc_pulses,
}


def _without_rumble(samples):
    hz = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE_HZ)
    return np.fft.irfft(np.clip((hz - 50) / 20, 0, 1) * np.fft.rfft(samples), len(samples))


def copy(name, samples, rng):
    """float32 [len(samples)] by the vocoder of that name, at the level of the original unless that would clip it.

    Below 60 Hz it keeps the recording: it contains no voice there, and a vocoder's own drift would reveal every copy.
    """
    voice = _without_rumble(samples).astype(np.float32)
    spoof = _without_rumble(VOCODERS[name](voice, rng))
    if not np.all(np.isfinite(spoof)):
        raise ValueError(f"a sample of {name} is not finite")
    spoof = samples - voice + spoof * np.sqrt(np.mean(voice**2) / (np.mean(spoof**2) + 1e-12))
    return (spoof * min(1, 0.999 / (np.abs(spoof).max() + 1e-9))).astype(np.float32)
