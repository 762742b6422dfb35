# SPDX-License-Identifier: Apache-2.0
"""Small neural vocoders at 16 kHz, trained on the corpus's human clips only, to make spoofs with their artefacts.

A vocoder is an encoder (log mel energies, or the same through quantised codes), a body at the frame rate and a head
that writes samples (inverse STFT, or transposed convolutions) from pulses at the clip's pitch and noise, as in neural
source-filter vocoders: otherwise minutes of training would not give coherent phases. All take float32 [batch, samples]
at about LEVEL_RMS and return as many, aligned to the input.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from features.recipe import SAMPLE_RATE_HZ
from signals.mel_filters import mel_triangles

MEL_BANDS = 80
LEVEL_RMS = 0.06
LOG_FLOOR = 1e-4
WIDTH = 192
FFT_SIZE, HOP = 1024, 256
CODEBOOKS, CODES = 8, 256
PITCH_HOP = 80


@dataclass
class Analysis:
    """Analysis of one clip: each setting leaves other traces, like different systems."""

    bands: int = MEL_BANDS  # of a filter bank before the network's own
    warp: float = 1.0  # factor on all frequencies: pitch and formants move together
    blur_frames: float = 0.0  # deviation of a Gaussian over time: an acoustic model's averaged spectra
    noise: float = 0.0  # deviation of the noise added to the log mel energies
    codebooks: int = CODEBOOKS


def stft(samples, fft_size, hop):
    """Complex [batch, bins, 1 + samples // hop]; frame t is centred on sample t * hop."""
    return torch.stft(
        samples, fft_size, hop, window=torch.hann_window(fft_size, device=samples.device), return_complex=True
    )


@lru_cache(maxsize=64)
def mel_matrix(fft_size, bands=MEL_BANDS, warp=1.0):
    """[MEL_BANDS, bins]: magnitudes to mel energies, through a bank of `bands` bands first if that differs."""
    if warp != 1:
        bins = np.arange(fft_size // 2 + 1)
        moved = np.stack([np.interp(bins, bins * warp, unit) for unit in np.eye(len(bins), dtype=np.float32)], 1)
        return mel_matrix(fft_size, bands) @ torch.from_numpy(moved.astype(np.float32))
    own = mel_triangles(MEL_BANDS, fft_size)
    if bands != MEL_BANDS:
        bank = mel_triangles(bands, fft_size)
        own = own @ np.linalg.pinv(bank) @ bank
    return torch.from_numpy(own.astype(np.float32))


def pitch_contour_hz(samples):
    """(pitch, interpolated through unvoiced parts, 1 where voiced), one value per sample of [n]."""
    width, low, high = 640, SAMPLE_RATE_HZ // 400, SAMPLE_RATE_HZ // 65
    window = np.hanning(width)
    cut = np.lib.stride_tricks.sliding_window_view(np.pad(samples, width // 2), width)[::PITCH_HOP] * window
    autocorrelation = lambda frames: np.fft.irfft(np.abs(np.fft.rfft(frames, 2048)) ** 2)[..., : high + 2]
    correlation = autocorrelation(cut) / autocorrelation(window)
    correlation /= correlation[:, :1] + 1e-8
    # Twice the period correlates as well as the period: the tilt prefers the shorter one.
    tilted = correlation * np.linspace(1, 0.85, high + 2)
    lag = low + np.argmax(tilted[:, low : high + 1], axis=1)
    rows = np.arange(len(lag))
    before, here, after = (correlation[rows, lag + step] for step in (-1, 0, 1))
    bend = np.minimum(before - 2 * here + after, -1e-6)
    pitch = SAMPLE_RATE_HZ / (lag + np.clip(0.5 * (before - after) / bend, -0.5, 0.5))
    voiced = (here > 0.5) & (np.sum(cut**2, axis=1) > 1e-3 * np.sum(cut**2, axis=1).max())
    at, positions = rows * PITCH_HOP, np.arange(len(samples))
    if not voiced.any():
        return np.full(len(samples), 120.0), np.zeros(len(samples))
    return np.interp(positions, at[voiced], pitch[voiced]), np.interp(positions, at, voiced)


def excitation(samples, warp):
    """[batch, n] to [batch, 2, n]: pulses at the pitch where voiced and noise, each of unit power."""
    pulses = []
    for clip in samples.numpy():
        pitch, voiced = pitch_contour_hz(clip)
        turns = np.floor(np.cumsum(pitch * warp) / SAMPLE_RATE_HZ)
        pulses.append(np.diff(turns, prepend=0) * np.sqrt(SAMPLE_RATE_HZ / (pitch * warp)) * voiced)
    return torch.stack([torch.from_numpy(np.float32(pulses)), torch.randn(samples.shape)], 1)


def log_mel_energies(samples, analysis):
    """[batch, MEL_BANDS, frames]"""
    matrix = mel_matrix(FFT_SIZE, analysis.bands, analysis.warp)
    log_mel = torch.log((matrix @ stft(samples, FFT_SIZE, HOP).abs()).clamp_min(LOG_FLOOR))
    if analysis.blur_frames > 0:
        taps = torch.exp(-0.5 * (torch.arange(-4, 5) / analysis.blur_frames) ** 2)
        taps = (taps / taps.sum()).expand(MEL_BANDS, 1, -1)
        log_mel = functional.conv1d(functional.pad(log_mel, (4, 4), "replicate"), taps, groups=MEL_BANDS)
    return log_mel + analysis.noise * torch.randn_like(log_mel)


class Norm(nn.LayerNorm):
    """LayerNorm that takes bfloat16 in every torch."""

    def forward(self, frames):
        return super().forward(frames.float())


class Block(nn.Module):
    """Depthwise convolution over time, then two layers per frame, with a skip connection."""

    def __init__(self, width, scale):
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = Norm(width)
        self.wide, self.narrow = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
        self.scale = nn.Parameter(torch.full((width,), scale))

    def forward(self, frames):
        inner = self.norm(self.depthwise(frames.transpose(1, 2)).transpose(1, 2))
        return frames + self.scale * self.narrow(functional.gelu(self.wide(inner)))


class Body(nn.Module):
    """[batch, inputs, frames] to [batch, frames, WIDTH]."""

    def __init__(self, inputs, blocks):
        super().__init__()
        self.embed = nn.Conv1d(inputs, WIDTH, 7, padding=3)
        self.first_norm, self.last_norm = Norm(WIDTH), Norm(WIDTH)
        self.blocks = nn.Sequential(*(Block(WIDTH, 1 / blocks) for _ in range(blocks)))

    def forward(self, inputs):
        return self.last_norm(self.blocks(self.first_norm(self.embed(inputs).transpose(1, 2))))


class ResidualQuantiser(nn.Module):
    """Codebooks in sequence, each on the remainder of the ones before; each code moves to the mean of its members."""

    def __init__(self, size, decay=0.98):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(CODEBOOKS, CODES, size))
        self.register_buffer("counts", torch.ones(CODEBOOKS, CODES))
        self.register_buffer("sums", torch.zeros(CODEBOOKS, CODES, size))
        self.register_buffer("is_started", torch.zeros((), dtype=torch.bool))

    def _update(self, book, residual, chosen):
        if not self.is_started:
            self.codes[book] = residual[torch.randint(len(residual), (CODES,))]
            self.sums[book] = self.codes[book]
            return
        hits = functional.one_hot(chosen, CODES).to(residual.dtype)
        self.counts[book].lerp_(hits.sum(0), 1 - self.decay)
        self.sums[book].lerp_(hits.t() @ residual, 1 - self.decay)
        dead = self.counts[book] < 0.05
        fresh = residual[torch.randint(len(residual), (CODES,))]
        self.counts[book][dead], self.sums[book][dead] = 1.0, fresh[dead]
        self.codes[book] = self.sums[book] / self.counts[book][:, None]

    def forward(self, latents, codebooks):
        """latents [batch, frames, size]. Returns them quantised by the first `codebooks`, and the commitment loss."""
        with torch.autocast("cpu", enabled=False):
            return self._quantise(latents.float(), codebooks)

    def _quantise(self, latents, codebooks):
        residual = latents.detach().flatten(0, 1)
        quantised = torch.zeros_like(residual)
        for book in range(codebooks if self.is_started else CODEBOOKS):
            chosen = torch.cdist(residual, self.codes[book]).argmin(1)
            code = self.codes[book][chosen]
            if self.training:
                self._update(book, residual, chosen)
            quantised, residual = quantised + code, residual - code
        if self.training:
            self.is_started.fill_(True)
        quantised = quantised.view(latents.shape)
        return latents + (quantised - latents).detach(), functional.mse_loss(latents, quantised)


class Codec(nn.Module):
    """Log mel energies through a bottleneck of residual codes, at 62.5 frames of 8 to 64 bits per second."""

    centre, spread = -2.0, 2.0  # of speech at LEVEL_RMS

    def __init__(self, size=32):
        super().__init__()
        self.body, self.latent, self.direct = Body(MEL_BANDS, 2), nn.Linear(WIDTH, size), nn.Linear(MEL_BANDS, size)
        self.quantiser, self.decoded = ResidualQuantiser(size), nn.Linear(size, MEL_BANDS)

    def forward(self, log_mel, codebooks):
        """The decoded energies, and the loss of the codes."""
        centred = (log_mel - self.centre) / self.spread
        quantised, commitment = self.quantiser(
            self.latent(self.body(centred)) + self.direct(centred.transpose(1, 2)), codebooks
        )
        decoded = self.decoded(quantised).float().transpose(1, 2) * self.spread + self.centre
        return decoded, 0.25 * commitment + functional.l1_loss(decoded, log_mel)


class Head(nn.Module):
    """Frames, log mel energies and source [batch, 2, n] to samples [batch, n]."""

    def __init__(self):
        super().__init__()
        self.register_buffer("envelope", torch.linalg.pinv(mel_matrix(FFT_SIZE)))

    def spectra(self, log_mel, source):
        """Pulses and noise, scaled per bin by the mel energies."""
        envelope = (self.envelope @ torch.exp(log_mel)).clamp_min(LOG_FLOOR) / (0.375 * FFT_SIZE) ** 0.5
        return [envelope * stft(part, FFT_SIZE, HOP) for part in source.unbind(1)]

    @staticmethod
    def samples(spectrum, count):
        return torch.istft(spectrum, FFT_SIZE, HOP, window=torch.hann_window(FFT_SIZE), length=count)


class IstftHead(Head):
    """Gains for the spectra of pulses and noise, and the phase of the pulses; inverse STFT."""

    def __init__(self):
        super().__init__()
        self.filters = nn.Linear(WIDTH, 3 * (FFT_SIZE // 2 + 1))

    def forward(self, frames, log_mel, source):
        pulse_gain, noise_gain, phase = self.filters(frames).float().transpose(1, 2).chunk(3, 1)
        pulses, noise = self.spectra(log_mel, source)
        shaped = pulses * torch.polar(pulse_gain.clamp(max=4).exp(), phase) + noise * noise_gain.clamp(max=4).exp()
        return self.samples(shaped, source.shape[-1])


class TransposedHead(Head):
    """Transposed convolutions up to the sample rate, the source joining at every rate, with dilated convolutions."""

    def __init__(self, factors=(8, 8, 4), channels=128):
        super().__init__()
        self.first, self.levels, stride = nn.Conv1d(WIDTH, channels, 3, padding=1), nn.ModuleList(), HOP
        for factor in factors:
            stride, channels = stride // factor, channels // 2
            self.levels.append(
                nn.ModuleDict(
                    {
                        "up": nn.ConvTranspose1d(2 * channels, channels, 2 * factor, factor, factor // 2),
                        "source": nn.Conv1d(2, channels, 2 * stride + 1, stride, padding=stride),
                        "residual": nn.Sequential(
                            *(DilatedResidual(channels, *shape) for shape in ((3, 1), (7, 3), (3, 9)))
                        ),
                    }
                )
            )
        self.last = nn.Conv1d(channels, 1, 7, padding=3)

    def forward(self, frames, log_mel, source):
        layer, count = self.first(frames.transpose(1, 2)), source.shape[-1]
        shaped = torch.stack([self.samples(spectrum, count) for spectrum in self.spectra(log_mel, source)], 1)
        source = functional.pad(shaped / LEVEL_RMS, (0, HOP))
        for level in self.levels:
            layer = level["up"](functional.leaky_relu(layer, 0.1))
            layer = level["residual"](layer + level["source"](source)[..., : layer.shape[-1]])
        return torch.tanh(self.last(functional.leaky_relu(layer, 0.1)).float())[:, 0, :count]


class DilatedResidual(nn.Module):
    def __init__(self, channels, kernel, dilation):
        super().__init__()
        self.inner = nn.Conv1d(channels, channels, kernel, padding=dilation * (kernel // 2), dilation=dilation)

    def forward(self, samples):
        return samples + self.inner(functional.leaky_relu(samples, 0.1))


class Vocoder(nn.Module):
    def __init__(self, head, codec=None, blocks=5):
        super().__init__()
        self.codec, self.body, self.head = codec, Body(MEL_BANDS, blocks), head

    def forward(self, samples, analysis=None):
        """[batch, n] to ([batch, n], the codes' loss or 0)."""
        analysis = analysis or Analysis()
        log_mel, code_loss = log_mel_energies(samples, analysis), samples.new_zeros(())
        if self.codec:
            log_mel, code_loss = self.codec(log_mel, analysis.codebooks)
        return self.head(self.body(log_mel), log_mel, excitation(samples, analysis.warp)), code_loss


VOCODERS = {
    "istft": lambda: Vocoder(IstftHead()),
    "codec": lambda: Vocoder(IstftHead(), Codec()),
    "transposed": lambda: Vocoder(TransposedHead()),
    "codec-transposed": lambda: Vocoder(TransposedHead(), Codec()),  # of the parts of the two others
}
TRAINED = ("istft", "codec", "transposed")


class SpectrogramDiscriminator(nn.Module):
    """Two-dimensional convolutions on complex spectrograms; returns every layer's output, the verdicts last."""

    def __init__(self, fft_sizes=(256, 512, 1024)):
        super().__init__()
        self.fft_sizes = fft_sizes
        wide = lambda inputs, outputs, stride: nn.Conv2d(inputs, outputs, (7, 3), stride, padding=(3, 1))
        self.stacks = nn.ModuleList(
            nn.ModuleList(
                [
                    wide(2, 16, (2, 1)),
                    wide(16, 32, (2, 2)),
                    wide(32, 32, (2, 2)),
                    nn.Conv2d(32, 32, 3, padding=1),
                    nn.Conv2d(32, 1, 3, padding=1),
                ]
            )
            for _ in fft_sizes
        )

    def forward(self, samples):
        outputs = []
        for fft_size, stack in zip(self.fft_sizes, self.stacks):
            layer = torch.view_as_real(stft(samples, fft_size, fft_size // 4)).permute(0, 3, 1, 2)
            # The power lifts quiet bins; phases stay.
            layer = layer * (layer.square().sum(1, keepdim=True) + 1e-6) ** -0.25
            layer = layer.contiguous(memory_format=torch.channels_last)
            for depth, convolution in enumerate(stack):
                layer = convolution(layer)
                if depth + 1 < len(stack):
                    layer = functional.leaky_relu(layer, 0.2)
                outputs.append(layer.float() if depth + 1 == len(stack) else layer)
        return outputs
