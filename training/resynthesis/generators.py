# SPDX-License-Identifier: Apache-2.0
"""Generators: recordings in, copies out, at about LEVEL_RMS, aligned and of equal length. settings/*.json describe
their parts.

vocoder      log mel energies, a body of frames, a head that writes samples
codec        complex spectra through a bottleneck of residual codes, then body and head
flow         a straight path from pulses and noise to the recording's spectrum, in several steps (rectified flow)
mel-decoder  log mel energies through a bottleneck of residual codes at a low rate, and back by regression or by a flow;
             a vocoder that hears the same mel energies makes samples of them
"""

import torch
from torch import nn
from torch.nn import functional

from resynthesis.blocks import Body, step_embedding
from resynthesis.heads import make_head
from resynthesis.quantiser import ResidualQuantiser
from resynthesis.source import with_noise
from resynthesis.spectra import Frames, envelope_of, istft, log_mel_energies, stft

MEL_CENTRE, MEL_SPREAD = -5.0, 2.5  # of speech at LEVEL_RMS
STEP_SIZE = 64  # of a flow's encoded position on its path


def centred(log_mel):
    return (log_mel - MEL_CENTRE) / MEL_SPREAD


class MelVocoder(nn.Module):
    def __init__(self, frames, head, width=192, blocks=6, dilations=(1,)):
        super().__init__()
        self.frames = frames
        self.body = Body(frames.bands, width, blocks, dilations)
        self.head = make_head({**head, "width": width}, frames)

    def from_mel(self, log_mel, pulses):
        return self.head(self.body(centred(log_mel)), log_mel, with_noise(pulses))

    def forward(self, samples, pulses, analysis=None, books=None):
        """(copy [batch, n], other losses by name). samples [batch, n], pulses [batch, 2, n] of source.excitation."""
        return self.from_mel(log_mel_energies(samples, self.frames, analysis), pulses), {}


class Codec(nn.Module):
    """Logarithms and phases of a spectrum, one frame in `step`, as sums of codes. Its rate is
    rate_hz / (hop * step) * books * log2(codes) bits per second."""

    def __init__(self, frames, head, width=192, blocks=6, encoder_blocks=4, books=8, codes=1024, size=32, step=1):
        super().__init__()
        self.frames, self.step = frames, step
        self.encoder = Body(3 * frames.bins, width, encoder_blocks)
        self.down = nn.Conv1d(width, size, step, step)
        self.quantiser = ResidualQuantiser(size, books, codes)
        self.up = nn.Conv1d(size, width, 3, padding=1)
        self.mel = nn.Conv1d(width, frames.bands, 1)
        self.body = Body(width, width, blocks)
        self.head = make_head({**head, "width": width}, frames)

    def bits_per_second(self, books):
        per_second = self.frames.rate_hz / (self.frames.hop * self.step)
        return per_second * books * self.quantiser.bits_per_frame_of_a_book

    def latents(self, samples):
        spectrum = stft(samples, self.frames.fft_size, self.frames.hop)
        size = (torch.view_as_real(spectrum).square().sum(-1) + 1e-10).sqrt()
        phases = spectrum / size
        heard = torch.cat([0.3 * size.log(), phases.real, phases.imag], 1)
        layer = self.encoder(heard).transpose(1, 2)
        return self.down(functional.pad(layer, (0, -layer.shape[2] % self.step), "replicate")).transpose(1, 2)

    def forward(self, samples, pulses, analysis=None, books=None):
        quantised, commitment = self.quantiser(self.latents(samples), books or len(self.quantiser.codes))
        count = 1 + samples.shape[1] // self.frames.hop
        layer = self.up(quantised.transpose(1, 2)).repeat_interleave(self.step, 2)[..., :count]
        log_mel = self.mel(layer).float() * MEL_SPREAD + MEL_CENTRE
        losses = {
            "codes": commitment,
            "energies": functional.l1_loss(log_mel, log_mel_energies(samples, self.frames)),
        }
        return self.head(self.body(layer), log_mel, with_noise(pulses)), losses


class SpectrumFlow(nn.Module):
    """The spectrum divided by its envelope, from pulses and noise (the start of the path) to the recording's (its
    end)."""

    def __init__(self, frames, width=256, blocks=6, steps=8, voiced=True):
        super().__init__()
        self.frames, self.steps, self.voiced = frames, steps, voiced
        self.body = Body(2 * frames.bins + frames.bands, width, blocks, conditions=STEP_SIZE)
        self.velocity = nn.Linear(width, 2 * frames.bins)
        with torch.no_grad():
            self.velocity.weight.mul_(0.1)

    def _start(self, pulses):
        noise, frames = torch.randn_like(pulses[:, 0]), self.frames
        if self.voiced:
            noise = pulses[:, 0] + noise * (1 - 0.8 * pulses[:, 1])
        return stft(noise, frames.fft_size, frames.hop) / (0.375 * frames.fft_size) ** 0.5

    def _velocity(self, place, log_mel, share):
        layer = torch.cat([place.real, place.imag, centred(log_mel)], 1)
        made = self.velocity(self.body(layer, step_embedding(share, STEP_SIZE))).float().transpose(1, 2)
        return torch.complex(*made.chunk(2, 1))

    def loss(self, samples, pulses):
        log_mel = log_mel_energies(samples, self.frames)
        end = stft(samples, self.frames.fft_size, self.frames.hop) / envelope_of(log_mel, self.frames)
        start, share = self._start(pulses), torch.rand(len(samples), device=samples.device)
        place = torch.lerp(torch.view_as_real(start), torch.view_as_real(end), share[:, None, None, None])
        error = self._velocity(torch.view_as_complex(place.contiguous()), log_mel, share) - (end - start)
        return torch.view_as_real(error).square().mean()

    def from_mel(self, log_mel, pulses):
        place = self._start(pulses)
        for step in range(self.steps):
            share = torch.full((len(place),), step / self.steps, device=place.device)
            place = place + self._velocity(place, log_mel, share) / self.steps
        frames = self.frames
        return istft(place * envelope_of(log_mel, frames), frames.fft_size, frames.hop, pulses.shape[-1])

    def forward(self, samples, pulses, analysis=None, books=None):
        """Training returns only a loss, no copy."""
        if self.training:
            return None, {"flow": self.loss(samples, pulses)}
        return self.from_mel(log_mel_energies(samples, self.frames, analysis), pulses), {}


class MelDecoder(nn.Module):
    """`flow=False` learns the mean of all spectra that the codes allow, as smooth as in older speech synthesis;
    `flow=True` draws one of them, as newer systems do."""

    def __init__(self, frames, width=192, blocks=6, books=2, codes=512, size=16, step=4, flow=True, steps=8):
        super().__init__()
        self.frames, self.step, self.steps, self.flow = frames, step, steps, flow
        self.encoder, self.down = Body(frames.bands, width, 3), nn.Conv1d(width, size, step, step)
        self.quantiser = ResidualQuantiser(size, books, codes)
        self.up = nn.Conv1d(size, width, 3, padding=1)
        inputs = width + (frames.bands if flow else 0)
        self.body = Body(inputs, width, blocks, (1, 2), conditions=STEP_SIZE if flow else 0)
        self.out = nn.Linear(width, frames.bands)

    def bits_per_second(self, books):
        per_second = self.frames.rate_hz / (self.frames.hop * self.step)
        return per_second * books * self.quantiser.bits_per_frame_of_a_book

    def _coded(self, log_mel, books):
        layer = self.encoder(centred(log_mel)).transpose(1, 2)
        layer = self.down(functional.pad(layer, (0, -layer.shape[2] % self.step), "replicate"))
        quantised, commitment = self.quantiser(layer.transpose(1, 2), books or len(self.quantiser.codes))
        up = self.up(quantised.transpose(1, 2)).repeat_interleave(self.step, 2)
        return up[..., : log_mel.shape[2]], commitment

    def _decoded(self, place, coded, share):
        if not self.flow:
            return self.out(self.body(coded)).float().transpose(1, 2)
        condition = step_embedding(share, STEP_SIZE)
        return self.out(self.body(torch.cat([place, coded], 1), condition)).float().transpose(1, 2)

    def loss(self, log_mel, books=None):
        coded, commitment = self._coded(log_mel, books)
        end = centred(log_mel)
        if not self.flow:
            return {"codes": commitment, "energies": functional.l1_loss(self._decoded(None, coded, None), end)}
        start, share = torch.randn_like(end), torch.rand(len(end), device=end.device)
        place = torch.lerp(start, end, share[:, None, None])
        return {"codes": commitment, "flow": functional.mse_loss(self._decoded(place, coded, share), end - start)}

    @torch.no_grad()
    def decode(self, log_mel, books=None):
        """Log mel energies [batch, bands, frames], decoded from the codes."""
        coded, _ = self._coded(log_mel, books)
        place = torch.randn_like(log_mel)
        for step in range(self.steps if self.flow else 1):
            share = torch.full((len(place),), step / self.steps, device=place.device)
            made = self._decoded(place, coded, share)
            place = place + made / self.steps if self.flow else made
        return place * MEL_SPREAD + MEL_CENTRE

    def forward(self, samples, pulses, analysis=None, books=None):
        return None, self.loss(log_mel_energies(samples, self.frames, analysis), books)


KINDS = {"vocoder": MelVocoder, "codec": Codec, "flow": SpectrumFlow, "mel-decoder": MelDecoder}


def make_generator(settings):
    """settings: the "frames", "kind" and "network" of settings/*.json"""
    return KINDS[settings["kind"]](Frames(**settings["frames"]), **settings["network"])
