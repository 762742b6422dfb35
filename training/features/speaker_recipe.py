# SPDX-License-Identifier: Apache-2.0
"""What the speaker model sees of a window. The manifest entry carries these numbers on to the server, word for word."""

from features.recipe import WINDOW_SAMPLES, frames_of  # noqa: F401  same window and frames as the detector

EMBEDDING_SIZE = 256

FEATURES = {
    "kind": "spectrogram", "fft_size": 512, "window_length": 400, "hop_length": 160,
    "window": "hann", "periodic_window": False, "centred": False,
    "pre_emphasis": 0, "remove_dc_offset": False, "input_gain": 1,
    "scale": "mel", "bands": 80, "first_bin": 0,
    "fmin_hz": 20, "fmax_hz": 7600, "mel_formula": "htk", "mel_norm": "none", "triangles_on_mel_axis": False,
    # About the quantisation noise of 16-bit audio in one band: digital silence then looks like a quiet room.
    "power": 2, "log": "natural", "log_floor": 1e-7,
    # Each band's mean over the window goes: with it the level and most of a fixed microphone.
    "normalisation": "mean", "normalise_globally": False, "layout": "bands_frames",
}
