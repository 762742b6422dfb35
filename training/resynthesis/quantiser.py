# SPDX-License-Identifier: Apache-2.0
"""Residual vector quantisation."""

import math

import torch
from torch import nn
from torch.nn import functional

from resynthesis.spectra import full_precision


class ResidualQuantiser(nn.Module):
    """Codebooks in sequence, each on the remainder of the ones before; a code moves to the mean of its members, and a
    code without members restarts at a frame of the batch."""

    def __init__(self, size, books=8, codes=1024, decay=0.98):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(books, codes, size))
        self.register_buffer("counts", torch.ones(books, codes))
        self.register_buffer("sums", torch.zeros(books, codes, size))
        self.register_buffer("is_started", torch.zeros((), dtype=torch.bool))

    @property
    def bits_per_frame_of_a_book(self):
        return math.log2(self.codes.shape[1])

    def nearest(self, residual, book):
        return torch.cdist(residual[None], self.codes[book][None])[0].argmin(1)

    def _update(self, book, residual, chosen):
        size = self.codes.shape[1]
        if not self.is_started:
            picked = torch.randint(len(residual), (size,), device=residual.device)
            self.codes[book] = self.sums[book] = residual[picked] * (1 + 0.01 * torch.randn_like(residual[picked]))
            return
        hits = functional.one_hot(chosen, size).to(residual.dtype)
        self.counts[book].lerp_(hits.sum(0), 1 - self.decay)
        self.sums[book].lerp_(hits.t() @ residual, 1 - self.decay)
        dead = self.counts[book] < 0.02
        fresh = residual[torch.randint(len(residual), (size,), device=residual.device)]
        self.counts[book][dead], self.sums[book][dead] = 1.0, fresh[dead]
        self.codes[book] = self.sums[book] / self.counts[book][:, None]

    @torch.no_grad()
    def encode(self, latents, books):
        """[books, batch * frames] codes, and their sum [batch, frames, size]; learns while training."""
        residual = latents.detach().float().flatten(0, 1)
        total, chosen = torch.zeros_like(residual), []
        learning = self.training
        for book in range(len(self.codes) if learning and not self.is_started else books):
            index = self.nearest(residual, book)
            code = self.codes[book][index]
            if learning:
                self._update(book, residual, index)
            if book < books:
                total = total + code
                chosen.append(index)
            residual = residual - code
        if learning:
            self.is_started.fill_(True)
        return torch.stack(chosen), total.view(latents.shape)

    def forward(self, latents, books):
        """latents [batch, frames, size]. Returns them quantised by the first `books`, and the commitment loss; the
        derivative passes the codes unchanged."""
        with full_precision(latents):
            latents = latents.float()
            quantised = self.encode(latents, books)[1]
            return latents + (quantised - latents).detach(), functional.mse_loss(latents, quantised)
