# SPDX-License-Identifier: Apache-2.0
"""Heads: layers [batch, frames, width], log mel energies, and pulses with noise [batch, 2, n], to samples [batch,
n]."""

import torch
from torch import nn
from torch.nn import functional

from resynthesis.blocks import ACTIVATIONS
from resynthesis.spectra import LEVEL_RMS, envelope_of, istft, stft


class SourceSpectra(nn.Module):
    """Pulses and noise, scaled per bin by the mel energies: the starting point of all heads."""

    def __init__(self, frames):
        super().__init__()
        self.frames = frames

    def forward(self, log_mel, source):
        frames = self.frames
        # A Hann window has 3/8 of the power of a rectangular one.
        envelope = envelope_of(log_mel, frames) / (0.375 * frames.fft_size) ** 0.5
        return [envelope * stft(part, frames.fft_size, frames.hop) for part in source.unbind(1)]


class SpectrumHead(nn.Module):
    """Gains for the spectra of pulses and noise and a phase for the pulses, then a spectrum added to it; inverse STFT.

    Without pulses (`voiced=False`) only the noise is shaped, and the added spectrum provides the harmonics."""

    def __init__(self, frames, width, voiced=True):
        super().__init__()
        self.frames, self.spectra, self.voiced = frames, SourceSpectra(frames), voiced
        self.filters = nn.Linear(width, 5 * frames.bins)
        with torch.no_grad():
            self.filters.weight.mul_(0.1)
            self.filters.bias.zero_()

    def forward(self, layer, log_mel, source):
        pulse_gain, noise_gain, turn, real, imaginary = self.filters(layer).float().transpose(1, 2).chunk(5, 1)
        pulses, noise = self.spectra(log_mel, source)
        envelope = envelope_of(log_mel, self.frames)
        spectrum = noise * noise_gain.clamp(-8, 3).exp() + envelope * torch.complex(real, imaginary)
        if self.voiced:
            spectrum = spectrum + pulses * torch.polar(pulse_gain.clamp(-8, 3).exp(), turn)
        return istft(spectrum, self.frames.fft_size, self.frames.hop, source.shape[-1])


class Residual(nn.Module):
    """Dilated convolutions at one rate, as in HiFi-GAN; one branch per entry of `kernels`."""

    def __init__(self, channels, kernels, dilations, activation):
        super().__init__()
        self.columns = nn.ModuleList(
            nn.ModuleList(
                nn.Sequential(
                    ACTIVATIONS[activation](channels),
                    nn.Conv1d(channels, channels, kernel, padding=dilation * (kernel // 2), dilation=dilation),
                    ACTIVATIONS[activation](channels),
                    nn.Conv1d(channels, channels, kernel, padding=kernel // 2),
                )
                for dilation in dilations
            )
            for kernel in kernels
        )

    def forward(self, samples):
        total = 0
        for column in self.columns:
            layer = samples
            for step in column:
                layer = layer + step(layer)
            total = total + layer
        return total / len(self.columns)


class UpsamplingHead(nn.Module):
    """Transposed convolutions up to the sample rate, or up to frames of a short inverse STFT (`last_fft`), with dilated
    convolutions at every rate. With `voiced` the pulses and the noise join at every rate, and the output is added to
    them."""

    def __init__(
        self,
        frames,
        width,
        factors=(8, 8, 4),
        channels=128,
        kernels=(3, 7),
        dilations=(1, 3),
        activation="leaky-relu",
        voiced=True,
        last_fft=0,
    ):
        super().__init__()
        stride = frames.hop
        self.frames, self.last_fft, self.spectra = frames, last_fft, SourceSpectra(frames) if voiced else None
        self.first, self.levels = nn.Conv1d(width, channels, 7, padding=3), nn.ModuleList()
        for factor in factors:
            stride, channels = stride // factor, channels // 2
            level = {
                "before": ACTIVATIONS[activation](2 * channels),
                "up": nn.ConvTranspose1d(2 * channels, channels, 2 * factor, factor, factor // 2),
                "residual": Residual(channels, kernels, dilations, activation),
            }
            if voiced:
                level["source"] = nn.Conv1d(2, channels, 2 * stride + 1, stride, padding=stride)
            self.levels.append(nn.ModuleDict(level))
        if stride != (last_fft // 4 or 1):
            raise ValueError(f"the factors {factors} of a hop of {frames.hop} leave {stride} samples per step")
        self.stride = stride
        self.after = ACTIVATIONS[activation](channels)
        self.last = nn.Conv1d(channels, last_fft + 2 if last_fft else 1, 7, padding=3)

    def _upsampled(self, layer, source):
        for level in self.levels:
            layer = level["up"](level["before"](layer))
            if self.spectra:
                layer = layer + level["source"](source)[..., : layer.shape[-1]]
            layer = level["residual"](layer)
        return self.last(self.after(layer)).float()

    def forward(self, layer, log_mel, source):
        count, hop = source.shape[-1], self.frames.hop
        layer = self.first(layer.transpose(1, 2))
        if self.spectra:
            shaped = [istft(part, self.frames.fft_size, hop, count) for part in self.spectra(log_mel, source)]
            source = functional.pad(torch.stack(shaped, 1) / LEVEL_RMS, (0, hop))
        start = LEVEL_RMS * source[..., :count].sum(1) if self.spectra else 0
        if not self.last_fft:
            # The rounding of bfloat16 samples is louder than the quiet bands of a voice.
            with torch.autocast(layer.device.type, enabled=False):
                layer = self._upsampled(layer.float(), source.float())
            return start + LEVEL_RMS * layer[:, 0, :count]
        layer = self._upsampled(layer, source)
        real, imaginary = layer[..., : 1 + count // self.stride].chunk(2, 1)
        return start + istft(LEVEL_RMS * torch.complex(real, imaginary), self.last_fft, self.stride, count)


def make_head(design, frames):
    """The head that a settings file describes: {"kind": "spectrum" or "upsampling", ..}"""
    design = dict(design)
    kind = design.pop("kind")
    return {"spectrum": SpectrumHead, "upsampling": UpsamplingHead}[kind](frames, **design)
