# SPDX-License-Identifier: Apache-2.0
"""The vocoders of copy_synthesis.py that change magnitudes or phases of an STFT. They take float32 samples [n] at
16 kHz and a numpy Generator and return float32 [n]. They need PyTorch, which the others do not."""

import numpy as np
import torch

from features.recipe import SAMPLE_RATE_HZ
from signals.mel_filters import mel_triangles
from signals.pitch_tracker import track_pitch_hz

HOP = 160


def stft(samples, fft_size, hop):
    window = torch.hann_window(fft_size)
    return torch.stft(torch.from_numpy(samples), fft_size, hop, window=window, return_complex=True)


def _istft(spectrum, fft_size, hop, length):
    return torch.istft(spectrum, fft_size, hop, window=torch.hann_window(fft_size), length=length)


def _smoothed_magnitude(magnitude, bands, fft_size):
    """The magnitude a vocoder sees: through a mel filter bank and back by its (non-negative) pseudo-inverse."""
    bank = torch.from_numpy(mel_triangles(bands, fft_size))
    return (torch.linalg.pinv(bank) @ (bank @ magnitude)).clamp_min(1e-5)


def _griffin_lim(magnitude, fft_size, hop, length, rounds, rng, momentum=0.99):
    phase = torch.from_numpy(rng.uniform(-np.pi, np.pi, tuple(magnitude.shape)).astype(np.float32))
    angles = torch.polar(torch.ones_like(magnitude), phase)
    previous = torch.zeros_like(angles)
    for _ in range(rounds):
        samples = _istft(magnitude * angles, fft_size, hop, length)
        rebuilt = torch.stft(samples, fft_size, hop, window=torch.hann_window(fft_size), return_complex=True)
        angles = rebuilt - momentum / (1 + momentum) * previous
        angles = angles / angles.abs().clamp_min(1e-9)
        previous = rebuilt
    return _istft(magnitude * angles, fft_size, hop, length).numpy()


def griffin_lim_mel(samples, rng):
    fft_size = int(rng.choice([800, 1024]))
    magnitude = stft(samples, fft_size, fft_size // 4).abs()
    smoothed = _smoothed_magnitude(magnitude, int(rng.choice([64, 80, 128])), fft_size)
    return _griffin_lim(smoothed, fft_size, fft_size // 4, len(samples), int(rng.integers(12, 48)), rng)


def griffin_lim_linear(samples, rng):
    fft_size = int(rng.choice([400, 512, 800, 1024]))
    magnitude = stft(samples, fft_size, fft_size // 4).abs()
    return _griffin_lim(magnitude, fft_size, fft_size // 4, len(samples), int(rng.integers(6, 32)), rng)


def source_filter(samples, rng):
    """Pulses at the pitch and noise, shaped by the mel-smoothed envelope: the parametric vocoders' excitation."""
    fft_size = 1024
    magnitude = stft(samples, fft_size, HOP).abs()
    frames = magnitude.shape[1]
    pitch = np.repeat(track_pitch_hz(samples, HOP), HOP)[: len(samples)]
    pitch = np.pad(pitch, (0, len(samples) - len(pitch))) * rng.uniform(0.95, 1.05)
    turns = np.floor(np.cumsum(pitch) / SAMPLE_RATE_HZ)
    pulses = np.diff(turns, prepend=0) > 0
    excitation = np.where(pulses, np.sqrt(SAMPLE_RATE_HZ / np.maximum(pitch, 60)), 0).astype(np.float32)
    noise = rng.standard_normal(len(samples)).astype(np.float32)
    voiced = stft(excitation, fft_size, HOP)
    unvoiced = stft(noise, fft_size, HOP)
    is_voiced = torch.from_numpy(np.pad(pitch, (0, HOP))[::HOP][:frames] > 0)
    # Above a random frequency per clip, voiced frames also are noise, as in band-aperiodicity vocoders.
    split_bin = int(rng.uniform(2500, 8000) / (SAMPLE_RATE_HZ / fft_size))
    mixed = unvoiced.clone()
    mixed[:split_bin, is_voiced] = voiced[:split_bin, is_voiced]
    envelope = _smoothed_magnitude(magnitude, int(rng.choice([24, 32, 40])), fft_size)
    flat = np.sqrt(np.sum(np.hanning(fft_size) ** 2))  # level of unit-power noise and pulses in every bin
    return _istft(mixed / flat * envelope, fft_size, HOP, len(samples)).numpy()


def smoothed_magnitude(samples, rng):
    """The clip's own phase under a mel-smoothed magnitude: over-smoothing without phase artefacts."""
    fft_size = 1024
    spectrum = stft(samples, fft_size, 256)
    smoothed = _smoothed_magnitude(spectrum.abs(), int(rng.choice([48, 64, 80])), fft_size)
    return _istft(torch.polar(smoothed, spectrum.angle()), fft_size, 256, len(samples)).numpy()
