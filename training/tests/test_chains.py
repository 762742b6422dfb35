# SPDX-License-Identifier: Apache-2.0
"""Rates and codecs in a recording's chain: needs ffmpeg."""

import unittest

import numpy as np

from data.prepare_chains import streams
from signals.channel_chain import (
    OPUS_RATES_HZ,
    RATES_HZ,
    RESAMPLERS,
    SWR_FILTERS,
    draw_chain,
    pass_through,
    resample,
    through_codec,
)
from tests.support import syllables


class Chains(unittest.TestCase):
    def test_every_resampler_keeps_a_tone_its_level_and_its_place(self):
        for kind in RESAMPLERS:
            for rate_hz, wanted_hz in ((24000, 44100), (48000, 11025), (22050, 16000)):
                samples = np.zeros(rate_hz, np.float32)
                time_s = np.arange(rate_hz // 2) / rate_hz
                samples[rate_hz // 4 : rate_hz // 4 + len(time_s)] = 0.5 * np.sin(2 * np.pi * 500 * time_s)
                made = resample(samples, rate_hz, wanted_hz, kind)
                self.assertAlmostEqual(len(made), wanted_hz, delta=2)
                middle = made[wanted_hz // 4 + 200 : 3 * wanted_hz // 4 - 200]
                hz = np.argmax(np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 1 << 16))) * wanted_hz / (1 << 16)
                self.assertAlmostEqual(hz, 500, delta=2, msg=kind)
                self.assertAlmostEqual(np.sqrt(2 * np.mean(middle**2)), 0.5, delta=0.03, msg=kind)
                self.assertLess(np.abs(made[: wanted_hz // 5]).max(), 0.02, msg=kind)

    def test_a_chain_keeps_length_and_place_and_repeats_with_its_seed(self):
        clips = [(syllables(1.0, 22050, 3), 22050), (syllables(1.3, 16000, 4), 16000)]
        for seed in range(6):
            made = [
                pass_through(clips, draw_chain(np.random.default_rng(seed)), np.random.default_rng(seed))
                for _ in range(2)
            ]
            for (samples, rate_hz), one, again in zip(clips, *made):
                np.testing.assert_array_equal(one, again)
                plain = resample(samples, rate_hz, 16000, "long")
                self.assertAlmostEqual(len(one), len(plain), delta=1)
                one, plain = (samples[: min(len(one), len(plain))] for samples in (one, plain))
                envelopes = [np.convolve(np.abs(samples), np.ones(800), "same")[::80] for samples in (one, plain)]
                self.assertGreater(np.corrcoef(envelopes)[0, 1], 0.8, msg=seed)

    def test_every_codec_can_be_run_at_each_of_its_rates(self):
        samples = syllables(0.6, 16000, 5)
        encoders = {"mp3": ["-c:a", "libmp3lame", "-b:a", "24k"], "ogg": ["-c:a", "libopus", "-b:a", "12k"]}
        for container, rates in (("mp3", RATES_HZ), ("ogg", OPUS_RATES_HZ)):
            for rate_hz in rates:
                made, made_hz = through_codec(
                    samples, 16000, (container, encoders[container], container, rate_hz), SWR_FILTERS[0]
                )
                self.assertAlmostEqual(len(made) / made_hz, 0.6, delta=0.1)

    def test_streams_mix_the_units_and_lose_none(self):
        units = [[2 * index, 2 * index + 1] for index in range(100)]
        made = streams(units, [3.0] * 200, np.random.default_rng(1))
        self.assertEqual(sorted(row for stream in made for row in stream), list(range(200)))
        for stream in made:
            self.assertTrue(all(stream[index + 1] == stream[index] + 1 for index in range(0, len(stream), 2)))
        self.assertNotEqual(made[0][:4], [0, 1, 2, 3])
