# SPDX-License-Identifier: Apache-2.0
"""The sampler's choice of crops."""

import unittest

import numpy as np

from data.balance import MAX_FACTOR, balanced, rate_band, shares_of
from data.sampler import CropSampler
from features.recipe import SAMPLE_RATE_HZ


class NotingCache:
    """Noise for every clip, and a record of the drawn clips."""

    variants = 3

    def __init__(self):
        self.clips, self.originals = [], {}
        self.drawn = []
        for source in ("a", "b", "c", "d"):
            human = self._add(f"{source}/human", "bonafide", "", source, "")
            self._add(f"{source}/tts", "spoof", f"system-{source}", source, "tts")
            self._add(f"{source}/engine", "spoof", "engine", source, "speech-engine")
            for system in ("copy-griffin-lim", "copy-neural-istft"):
                self._add(f"{system}:{human['path']}", "spoof", system, source, "own-copy-synthesis")

    def _add(self, path, label, system, source, category):
        clip = {
            "path": path,
            "label": label,
            "split": "train",
            "system": system,
            "source": source,
            "speaker": source,
            "category": category,
            "samples": 6 * SAMPLE_RATE_HZ,
        }
        self.clips.append(clip)
        return clip

    def samples(self, clip, variant=0, start=0, count=None):
        self.drawn.append((clip["path"], variant))
        return np.random.default_rng(len(clip["path"])).standard_normal(count).astype(np.float32)


class Crops(unittest.TestCase):
    def test_every_kind_of_clip_is_drawn_clean_and_coded(self):
        cache = NotingCache()
        sampler = CropSampler(cache, 1, 32)
        for index in range(20):
            sampler.batch(index)
        drawn = {
            (clip["system"], variant) for clip in cache.clips for path, variant in cache.drawn if path == clip["path"]
        }
        self.assertEqual(drawn, {(clip["system"], variant) for clip in cache.clips for variant in range(3)})

    def test_enhanced_speech_can_be_left_out(self):
        for without in ([], ["enhancement"]):
            cache = NotingCache()
            enhanced = {clip["path"] for clip in cache.clips if clip["system"] == "system-b"}
            for clip in cache.clips:
                clip["category"] = "enhancement" if clip["path"] in enhanced else clip["category"]
            CropSampler(cache, 1, 64, without).batch(0)
            self.assertEqual(not enhanced & {path for path, _ in cache.drawn}, bool(without))


class OriginalsInMemory:
    variants = 2

    def __init__(self):
        rng, self.clips, self.originals = np.random.default_rng(1), [], {}
        for index in range(400):
            label = ("bonafide", "spoof")[index % 2]
            rate_hz = int(
                rng.choice([8000, 16000, 48000], p=[0.3, 0.5, 0.2])
                if label == "bonafide"
                else rng.choice([16000, 24000])
            )
            self.clips.append(
                {
                    "path": str(index),
                    "label": label,
                    "split": "valid" if index < 40 else "train",
                    "source": f"page-{index % 7}",
                    "speaker": "",
                    "system": f"system-{index % 5}" if label == "spoof" else "",
                    "category": "tts",
                    "family": "",
                    "language": str(rng.choice(["en", "zh"], p=[0.8, 0.2] if label == "spoof" else [0.3, 0.7])),
                    "rate_hz": str(rate_hz),
                    "samples": 48000,
                }
            )
        self.drawn = []

    def samples(self, clip, variant=0, start=0, count=None):
        self.drawn.append(clip)
        return np.random.default_rng(int(clip["path"])).standard_normal(count).astype(np.float32) * 0.1


class Balance(unittest.TestCase):
    def test_rates_and_languages_are_alike_in_both_classes(self):
        clips = list(OriginalsInMemory().clips)
        for clip in clips:
            clip["rate_hz"] = int(clip["rate_hz"])
        classes = [[clip for clip in clips if clip["label"] == label] for label in ("bonafide", "spoof")]
        even = [np.full(len(part), 1 / len(part)) for part in classes]
        made = balanced(classes[0], even[0], classes[1], even[1])
        for start, probabilities in zip(even, made):
            self.assertAlmostEqual(probabilities.sum(), 1.0)
            self.assertTrue((probabilities <= start * MAX_FACTOR * 1.01).all())
        languages = [
            shares_of([clip["language"] for clip in part], probabilities) for part, probabilities in zip(classes, made)
        ]
        for language in ("en", "zh"):
            self.assertAlmostEqual(languages[0][language], languages[1][language], delta=0.01)
        rates = [shares_of(map(rate_band, part), probabilities) for part, probabilities in zip(classes, made)]
        self.assertGreater(rates[0][0], 0.2)  # only human clips have 8 kHz: there is no counterpart to balance with

    def test_the_sampler_draws_by_it_and_nothing_of_valid(self):
        cache = OriginalsInMemory()
        sampler = CropSampler(cache, 1, 32)
        for index in range(40):
            sampler.batch(index)
        self.assertEqual({clip["split"] for clip in cache.drawn}, {"train"})
        english = [
            np.mean([clip["language"] == "en" for clip in cache.drawn if clip["label"] == label])
            for label in ("bonafide", "spoof")
        ]
        self.assertAlmostEqual(*english, delta=0.1)
