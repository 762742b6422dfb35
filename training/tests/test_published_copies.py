# SPDX-License-Identifier: Apache-2.0
"""Copies of recordings on the pages that publish both."""

import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
from scipy import signal

from data.corpus_cache import CorpusCache, write_clips
from data.sampler import CropSampler
from features.recipe import SAMPLE_RATE_HZ
from tests.support import WithFolder, syllables

TRAINING = Path(__file__).parents[1]
SECONDS = 4
DELAY_S = 0.02


def clip(path, label, source="owner/page", split="train", category="vocoder"):
    return {
        "path": path,
        "label": label,
        "split": split,
        "source": source,
        "speaker": "",
        "system": path if label == "spoof" else "",
        "category": category if label == "spoof" else "",
        "original_format": "",
        "pair_id": "",
        "language": "en",
        "rate_hz": "16000",
        "family": "",
        "recording": path,
    }


def words(seed):
    return syllables(SECONDS, SAMPLE_RATE_HZ, seed)


def copied(samples, seed):
    """Half as loud, through an equaliser, with noise, and with a later start: the same words at the same pace."""
    noise = 1e-4 * np.random.default_rng(seed).standard_normal(len(samples))
    return np.roll(0.5 * signal.lfilter([1, -0.4], [1], samples) + noise, int(DELAY_S * SAMPLE_RATE_HZ))


def as_pcm(samples):
    return np.round(samples * 32767).astype(np.int16)


class FoundCopies(WithFolder):
    def setUp(self):
        super().setUp()
        made = [
            (clip("recording", "bonafide"), words(1)),
            (clip("other-words", "bonafide"), words(2)),
            (clip("same-words-on-another-page", "bonafide", "owner/other"), words(3)),
            (clip("copy", "spoof"), copied(words(1), 11)),
            (clip("converted", "spoof", category="vc"), copied(words(1), 15)),
            (clip("shorter-copy", "spoof"), copied(words(2), 12)[: -int(0.5 * SAMPLE_RATE_HZ)]),
            (clip("copy-of-another-page", "spoof"), copied(words(3), 13)),
            (clip("new-words", "spoof"), words(4)),
            (clip("judged-copy", "spoof", split="valid"), copied(words(1), 14)),
        ]
        write_clips(self.folder, [row for row, _ in made], [as_pcm(samples) for _, samples in made])
        # The sampler needs a coded variant.
        (self.folder / "codec1.i16").write_bytes((self.folder / "clean.i16").read_bytes())

    def find(self):
        command = [sys.executable, "-m", "data.published_copies", "--cache", str(self.folder)]
        subprocess.run(command, cwd=TRAINING, check=True, capture_output=True)
        return CorpusCache(self.folder)

    def test_only_a_copy_of_a_recording_of_its_page_is_found_with_its_delay(self):
        behind = -int(DELAY_S * SAMPLE_RATE_HZ)
        self.assertEqual(self.find().originals, dict.fromkeys(("copy", "converted"), ("recording", behind)))

    def share_in_time(self, copy="copy", batches=20):
        """Pairs of `copy` and its recording over the same words, from all pairs."""
        cache, cuts = self.find(), []
        sampler = CropSampler(cache, 1, 32, ["augmentation"])
        read = cache.samples

        def noting(drawn, variant=0, start=0, count=None):
            cuts.append((drawn["path"], start, count))
            return read(drawn, variant, start, count)

        cache.samples = noting
        for index in range(batches):
            sampler.batch(index)
        delay = int(DELAY_S * SAMPLE_RATE_HZ)
        in_time = [
            start > delay and human == ("recording", start - delay, count)
            for human, (path, start, count) in zip(cuts[::2], cuts[1::2])
            if path == copy
        ]
        return sum(in_time) / (len(cuts) / 2)

    def test_a_pair_is_cut_at_the_same_words(self):
        self.assertGreater(self.share_in_time(), 0.1)

    def test_copies_by_a_vocoder_are_drawn_more(self):
        by_vocoder, converted = (self.share_in_time(copy=name, batches=60) for name in ("copy", "converted"))
        self.assertGreater(by_vocoder, 1.5 * converted)
        self.assertGreater(converted, 0)


if __name__ == "__main__":
    unittest.main()
