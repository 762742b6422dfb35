# SPDX-License-Identifier: Apache-2.0
"""The server's own native stages for Python, so that training and serving compute the same numbers.

Build the library once from the repository's root:

    cmake -S . -B build/training -DVERAVOX_SHARED=ON && cmake --build build/training -j2

It is found at build/training/libveravox_training.so, or at the path in VERAVOX_TRAINING_LIBRARY or the `library`
argument. Objects are independent of each other; use each one from one thread at a time.
"""

import ctypes
import functools
import os
from pathlib import Path

import numpy as np

_DEFAULT_LIBRARY = Path(__file__).resolve().parents[2] / "build" / "training" / "libveravox_training.so"
_ERROR_BYTES = 1024
_FLOATS = ctypes.POINTER(ctypes.c_float)
_BYTES = ctypes.POINTER(ctypes.c_uint8)
SPEECH_HOP_SAMPLES = 160
SPEECH_BANDS = 24


class NativeError(RuntimeError):
    """An error of a native stage; the message is its sentence."""


@functools.cache
def _load(path):
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"{path} does not exist. Build it with: cmake -S . -B build/training -DVERAVOX_SHARED=ON"
            " && cmake --build build/training -j2"
        )
    library = ctypes.CDLL(path)
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in (
        ("features_create", handle, (text, text, size)),
        ("features_destroy", None, (handle,)),
        ("features_frame_count", size, (handle, size)),
        ("features_output_size", size, (handle, size)),
        ("features_compute", ctypes.c_int, (handle, _FLOATS, size, _FLOATS, size, text, size)),
        ("speech_features", ctypes.c_int, (_FLOATS, size, _FLOATS, text, size)),
        ("speech_scores", ctypes.c_int, (_FLOATS, size, _FLOATS, text, size)),
        ("speech_decisions", ctypes.c_int, (_FLOATS, size, _BYTES, text, size)),
        ("resampler_create", handle, (ctypes.c_int, ctypes.c_int, text, size)),
        ("resampler_destroy", None, (handle,)),
        ("resampler_push", ctypes.c_int64, (handle, _FLOATS, size, text, size)),
        ("resampler_finish", ctypes.c_int64, (handle, text, size)),
        ("resampler_output", _FLOATS, (handle,)),
    ):
        function = getattr(library, f"veravox_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def _open(library):
    return _load(str(library or os.environ.get("VERAVOX_TRAINING_LIBRARY") or _DEFAULT_LIBRARY))


def _pointer(array):
    return array.ctypes.data_as(_FLOATS)


def _mono(samples):
    samples = np.ascontiguousarray(samples, dtype=np.float32)
    if samples.ndim != 1:
        raise ValueError(f"samples must have one dimension but have shape {samples.shape}")
    return samples


def _recipe_text(recipe):
    lines = []
    for field, value in recipe.items():
        if isinstance(value, (bool, np.bool_)):
            value = "true" if value else "false"
        elif isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        line = f"{field}={value}"
        if "\n" in line or "\0" in line:
            raise ValueError(f"{field} must be one line but is {value!r}")
        lines.append(line)
    return "\n".join(lines).encode()


class _Handle:
    """A native object: made by veravox_<kind>_create and freed with this one."""

    def __init__(self, kind, library, *arguments):
        self._handle = None
        self._library = _open(library)
        self._destroy = getattr(self._library, f"veravox_{kind}_destroy")
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        self._handle = getattr(self._library, f"veravox_{kind}_create")(*arguments, error, _ERROR_BYTES)
        if not self._handle:
            raise NativeError(error.value.decode())

    def __del__(self):
        if self._handle:
            self._destroy(self._handle)
            self._handle = None


class FeatureExtractor(_Handle):
    """Turns audio into a model's input by a recipe.

    `recipe` maps the field names of native/features/feature_recipe.h to numbers, lists of numbers, booleans or the
    words listed in docs/models.md; absent fields keep the defaults stated in that header.
    """

    def __init__(self, recipe, library=None):
        super().__init__("features", library, _recipe_text(recipe))
        self._waveform = recipe.get("kind") == "waveform"
        self._frames_first = recipe.get("layout") == "frames_bands"
        self._flat = bool(recipe.get("mean_spectrum_fft_sizes") or recipe.get("phase_coherence_fft_sizes"))

    def frame_count(self, samples):
        """Frames from `samples` samples (waveform: 1)."""
        return self._library.veravox_features_frame_count(self._handle, samples)

    def compute(self, samples):
        """samples: [n], full scale -1..1. Returns float32 [bands, frames], or [frames, bands] when the recipe's layout
        is frames_bands, or [n] for a waveform. With a mean spectrum or phase coherences: these numbers flattened, then
        theirs."""
        samples = _mono(samples)
        output = np.empty(self._library.veravox_features_output_size(self._handle, samples.size), np.float32)
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if self._library.veravox_features_compute(
            self._handle, _pointer(samples), samples.size, _pointer(output), output.size, error, _ERROR_BYTES
        ):
            raise NativeError(error.value.decode())
        if self._waveform or self._flat:
            return output
        frames = self.frame_count(samples.size)
        bands = output.size // frames if frames else 0
        return output.reshape((frames, bands) if self._frames_first else (bands, frames))


def _speech(name, samples, shape, dtype, pointer, library):
    samples = _mono(samples)
    frames = -(-samples.size // SPEECH_HOP_SAMPLES)
    output = np.empty((frames, *shape), dtype)
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    function = getattr(_open(library), f"veravox_speech_{name}")
    if function(_pointer(samples), samples.size, output.ctypes.data_as(pointer), error, _ERROR_BYTES):
        raise NativeError(error.value.decode())
    return output


def speech_features(samples, library=None):
    """The voice activity network's input. samples: [n] at 16 kHz. Returns float32 [ceil(n / 160), 24]."""
    return _speech("features", samples, (SPEECH_BANDS,), np.float32, _FLOATS, library)


def speech_scores(samples, library=None):
    """Log odds of speech per 10 ms frame: float32 [ceil(n / 160)]."""
    return _speech("scores", samples, (), np.float32, _FLOATS, library)


def speech_decisions(samples, library=None):
    """The voice activity detector's decisions, 1 for speech, 0 otherwise: uint8 [ceil(n / 160)]."""
    return _speech("decisions", samples, (), np.uint8, _BYTES, library)


class Resampler(_Handle):
    """Resamples one stream after another, like the server."""

    def __init__(self, input_rate_hz, output_rate_hz, library=None):
        super().__init__("resampler", library, input_rate_hz, output_rate_hz)

    def push(self, samples):
        """samples: [n]. Returns the samples that can be computed so far, float32 [m]."""
        samples = _mono(samples)
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        return self._take(
            self._library.veravox_resampler_push(self._handle, _pointer(samples), samples.size, error, _ERROR_BYTES),
            error,
        )

    def finish(self):
        """Returns the rest of the stream, float32 [m]; push may then begin the next stream."""
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        return self._take(self._library.veravox_resampler_finish(self._handle, error, _ERROR_BYTES), error)

    def resample(self, samples):
        """A whole stream: [n] gives float32 [ceil(n * output rate / input rate)]."""
        return np.concatenate([self.push(samples), self.finish()])

    def _take(self, count, error):
        if count < 0:
            raise NativeError(error.value.decode())
        if count == 0:
            return np.empty(0, np.float32)
        return np.ctypeslib.as_array(self._library.veravox_resampler_output(self._handle), (count,)).copy()
