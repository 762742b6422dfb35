# SPDX-License-Identifier: Apache-2.0
"""Spectrograms at any rate: input of generators, and basis for comparing copies."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch.nn import functional

from signals.mel_filters import mel_triangles

LEVEL_RMS = 0.06  # of a generator's input and output
LOG_FLOOR = 1e-5


@dataclass(frozen=True)
class Frames:
    """Division of a signal into frames, and their mel bands."""

    rate_hz: int
    fft_size: int = 1024
    hop: int = 256
    bands: int = 100
    top_hz: float = 0  # 0: half of the rate

    @property
    def bins(self):
        return self.fft_size // 2 + 1


@dataclass(frozen=True)
class Analysis:
    """Analysis of one clip: other systems use other bands, and acoustic models write smoother spectra."""

    bands: int = 0  # of a coarser bank before; 0: none
    blur_frames: float = 0.0  # deviation of a Gaussian over time
    noise: float = 0.0  # deviation of the noise added to the logarithms


@lru_cache(maxsize=64)
def window_of(fft_size, device):
    return torch.hann_window(fft_size, device=device)


def full_precision(samples):
    """Runs the inner part in float32 even if the surrounding networks use bfloat16."""
    return torch.autocast(samples.device.type, enabled=False)


def stft(samples, fft_size, hop):
    """Complex [batch, bins, 1 + samples // hop] of float32 [batch, samples]; frame t is centred on sample t * hop."""
    return torch.stft(samples, fft_size, hop, window=window_of(fft_size, samples.device), return_complex=True)


def istft(spectrum, fft_size, hop, count):
    return torch.istft(spectrum, fft_size, hop, window=window_of(fft_size, spectrum.device), length=count)


def magnitudes(samples, fft_size, hop):
    """Has a derivative at 0, unlike abs() of a complex number."""
    return (torch.view_as_real(stft(samples, fft_size, hop)).square().sum(-1) + 1e-8).sqrt()


@lru_cache(maxsize=64)
def mel_matrix(frames, device="cpu"):
    """[bands, bins]: the mean magnitude of each band."""
    triangles = mel_triangles(frames.bands, frames.fft_size, 0, frames.top_hz or frames.rate_hz / 2, frames.rate_hz)
    # Low bands of short transforms may lie between two bins; they use the nearest one.
    for band in range(frames.bands):
        if not triangles[band].any():
            triangles[band, round((band + 1) / frames.bands * 2)] = 1
    return torch.from_numpy(triangles / triangles.sum(1, keepdims=True)).to(device)


@lru_cache(maxsize=64)
def spread_matrix(frames, device="cpu"):
    """[bins, bands]: from band centres back to bins, along straight lines, level beyond the first and the last."""
    matrix = mel_matrix(frames)
    centres = (matrix * torch.arange(frames.bins)).sum(1)
    bins = torch.arange(frames.bins, dtype=torch.float32).clamp(float(centres[0]), float(centres[-1]))
    right = torch.searchsorted(centres, bins).clamp(1, frames.bands - 1)
    share = ((bins - centres[right - 1]) / (centres[right] - centres[right - 1]).clamp_min(1e-6)).clamp(0, 1)
    spread = torch.zeros(frames.bins, frames.bands)
    rows = torch.arange(frames.bins)
    spread[rows, right - 1] = 1 - share
    spread[rows, right] = share
    return spread.to(device)


def blur(log_mel, deviation):
    taps = torch.exp(-0.5 * (torch.arange(-4, 5, device=log_mel.device) / deviation) ** 2)
    taps = (taps / taps.sum()).expand(log_mel.shape[1], 1, -1)
    return functional.conv1d(functional.pad(log_mel, (4, 4), "replicate"), taps, groups=log_mel.shape[1])


@lru_cache(maxsize=64)
def coarser(frames, bands, device="cpu"):
    """[bands, bands] for logarithms: through a bank of fewer bands and back."""
    coarse = Frames(frames.rate_hz, frames.fft_size, frames.hop, bands, frames.top_hz)
    return (mel_matrix(frames) @ spread_matrix(coarse) @ mel_matrix(coarse) @ spread_matrix(frames)).to(device)


def log_mel_energies(samples, frames, analysis=None):
    """[batch, bands, 1 + samples // hop]"""
    device, analysis = str(samples.device), analysis or Analysis()
    with full_precision(samples):
        energies = mel_matrix(frames, device) @ stft(samples, frames.fft_size, frames.hop).abs()
        log_mel = energies.clamp_min(LOG_FLOOR).log()
        if analysis.bands:
            log_mel = coarser(frames, analysis.bands, device) @ log_mel
        if analysis.blur_frames > 0:
            log_mel = blur(log_mel, analysis.blur_frames)
        return log_mel + analysis.noise * torch.randn_like(log_mel)


def envelope_of(log_mel, frames):
    """[batch, bins, frames]: the magnitudes that follow from the mel energies."""
    with full_precision(log_mel):
        return (spread_matrix(frames, str(log_mel.device)) @ log_mel).exp()
