# SPDX-License-Identifier: Apache-2.0
"""The speaker model's input from a window. The manifest entry passes these numbers on to the server, word for word."""

from features.recipe import FRAMES

EMBEDDING_SIZE = 256

FEATURES = {
    **FRAMES,
    "scale": "mel",
    "bands": 80,
    "first_bin": 0,
    "fmin_hz": 20,
    "fmax_hz": 7600,
    "mel_formula": "htk",
    "mel_norm": "none",
    "triangles_on_mel_axis": False,
    # About the quantisation noise of 16-bit audio per band: digital silence then looks like a quiet room.
    "power": 2,
    "log": "natural",
    "log_floor": 1e-7,
    # Removes each band's mean over the window: with it the level and most of a fixed microphone.
    "normalisation": "mean",
    "normalise_globally": False,
    "layout": "bands_frames",
}
