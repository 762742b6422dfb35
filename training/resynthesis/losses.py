# SPDX-License-Identifier: Apache-2.0
"""Losses: similarity of a copy to its recording and, by the discriminators, to any recording."""

import torch
from torch.nn import functional

from resynthesis.spectra import Frames, magnitudes, mel_matrix

FFT_SIZES = (256, 512, 1024, 2048)
BANDS = {256: 20, 512: 40, 1024: 80, 2048: 160}


def reconstruction(copy, human, rate_hz):
    """{"mel": L1 of the logarithms of mel energies, "spectral": the same for all bins, and the error of the loud ones},
    means over four resolutions."""
    mel = spectral = 0.0
    for fft_size in FFT_SIZES:
        matrix = mel_matrix(Frames(rate_hz, fft_size, fft_size // 4, BANDS[fft_size]), str(copy.device))
        ours = magnitudes(copy, fft_size, fft_size // 4)
        with torch.no_grad():
            theirs = magnitudes(human, fft_size, fft_size // 4)
        mel = mel + functional.l1_loss(torch.log(matrix @ ours), torch.log(matrix @ theirs))
        spectral = spectral + functional.l1_loss(ours.log(), theirs.log()) + (ours - theirs).norm() / theirs.norm()
    return {"mel": mel / len(FFT_SIZES), "spectral": spectral / len(FFT_SIZES)}


def verdicts_and_inner(outputs):
    """([verdicts], [outputs of the layers before]), in float32."""
    return (
        [network[-1].float() for network in outputs],
        [layer.float() for network in outputs for layer in network[:-1]],
    )


def discriminator_loss(human_verdicts, copy_verdicts):
    """Hinge loss; 2 per network that tells nothing apart."""
    losses = [
        functional.relu(1 - yes).mean() + functional.relu(1 + no).mean()
        for yes, no in zip(human_verdicts, copy_verdicts)
    ]
    return sum(losses) / len(losses)


def fooling_losses(human_inner, copy_verdicts, copy_inner):
    """{"fooling": .., "match": difference of the inner layers, relative to their size}"""
    distances = [
        (theirs.detach() - ours).abs().mean() / (theirs.detach().abs().mean() + 1e-6)
        for theirs, ours in zip(human_inner, copy_inner)
    ]
    return {
        "fooling": -sum(verdict.mean() for verdict in copy_verdicts) / len(copy_verdicts),
        "match": sum(distances) / len(distances),
    }
