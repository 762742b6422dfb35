# SPDX-License-Identifier: Apache-2.0
"""Conditions of judged clips. Needs ffmpeg with rubberband."""

import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

from data.originals_cache import read_table, write_table
from judge.make_conditions import PROCESSING, chosen_clips, humming, in_turns, noisy, read_wave, room_response
from tests.support import WithFolder, syllables, write_wave

HERE = Path(__file__).parent


def of_source(name):
    return {"label": "bonafide", "source": name, "system": name}


class Conditions(unittest.TestCase):
    def test_systems_and_sources_take_turns(self):
        clips = [of_source("a") for _ in range(50)] + [of_source("b")]
        chosen = in_turns(clips, 3, np.random.default_rng(0))
        self.assertEqual([clip["source"] for clip in chosen], ["a", "a", "b"])

    def test_only_clips_of_the_asked_part_are_taken_half_of_each_class(self):
        clips = [
            {**of_source("g"), "label": label, "part": part}
            for label in ("bonafide", "spoof")
            for part in ("judging", "calibration")
            for _ in range(3)
        ]
        for arguments, part in (((), "judging"), (("calibration",), "calibration")):
            chosen = chosen_clips(clips, 4, *arguments)
            self.assertEqual([clip["part"] for clip in chosen], [part] * 4)
            self.assertEqual([clip["label"] for clip in chosen], ["bonafide"] * 2 + ["spoof"] * 2)
        self.assertEqual({clip["part"] for clip in chosen_clips(clips, 12, "all")}, {"judging", "calibration"})

    def test_noise_has_the_ratio_below_8_khz_at_every_rate(self):
        for rate_hz in (8000, 48000):
            speech = 0.1 * np.sin(2 * np.pi * 440 * np.arange(rate_hz) / rate_hz)
            noise = noisy(10)(speech, rate_hz, np.random.default_rng(0)) - speech
            heard = np.fft.rfftfreq(rate_hz, 1 / rate_hz) <= 8000
            power = lambda samples: np.sum(np.abs(np.fft.rfft(samples)[heard]) ** 2)  # noqa: B023
            self.assertAlmostEqual(10 * np.log10(power(speech) / power(noise)), 10, places=6)

    def test_pink_noise_has_the_ratio_too_and_as_much_power_in_every_octave(self):
        speech = 0.1 * np.sin(2 * np.pi * 440 * np.arange(48000) / 48000)
        noise = noisy(15, slope=1.0)(speech, 48000, np.random.default_rng(0)) - speech
        powers = np.abs(np.fft.rfft(noise)) ** 2
        self.assertAlmostEqual(10 * np.log10(np.sum(speech**2) / powers[:8001].sum() * 48000 / 2), 15, places=1)
        octaves_db = [10 * np.log10(powers[hz : 2 * hz].sum()) for hz in (250, 500, 1000, 2000, 4000)]
        self.assertLess(np.ptp(octaves_db), 1)

    def test_a_room_answers_at_once_and_falls_silent(self):
        for seed in range(5):
            for rate_hz in (8000, 48000):
                response = room_response(rate_hz, np.random.default_rng(seed))
                self.assertGreater(response[0], 0)
                self.assertTrue(0.4 < len(response) / rate_hz < 0.65)
                left = np.cumsum(response[::-1] ** 2)[::-1] / np.sum(response**2)
                t60_s = 3 * (np.argmax(left < 10**-2.5) - np.argmax(left < 10**-0.5)) / rate_hz
                self.assertTrue(0.15 < t60_s < 1.2, t60_s)

    def test_hum_has_the_ratio_and_lies_at_multiples_of_50_hz(self):
        speech = 0.1 * np.sin(2 * np.pi * 440 * np.arange(48000) / 48000)
        hum = humming(20)(speech, 48000, np.random.default_rng(0)) - speech
        self.assertAlmostEqual(10 * np.log10(np.sum(speech**2) / np.sum(hum**2)), 20, places=6)
        strongest = np.argsort(np.abs(np.fft.rfft(hum)))[: -1 - 11 : -1]
        self.assertEqual(list(strongest), [50 * order for order in range(1, 12)])


class Processing(WithFolder):
    def test_every_tool_leaves_another_recording_of_the_same_rate(self):
        rates_hz = {"human.wav": 16000, "generated.wav": 44100}
        for name, rate_hz in rates_hz.items():
            hiss = 0.02 * np.random.default_rng(0).standard_normal(2 * rate_hz)
            samples = 1.5 * syllables(2, rate_hz, seed=0) + hiss
            samples[rate_hz:][: rate_hz // 2] = 0  # a pause
            write_wave(self.folder / name, 32767 * samples, rate_hz)
        clips = [
            {"path": name, "part": "judging", **of_source("g"), "label": label}
            for name, label in zip(rates_hz, ("bonafide", "spoof"))
        ]
        write_table(self.folder / "list.csv", [*clips[0]], clips)
        arguments = ["--list", self.folder / "list.csv", "--out", self.folder / "out", "--processing"]
        subprocess.run([sys.executable, "-m", "judge.make_conditions", *arguments], cwd=HERE.parent, check=True)
        made = read_table(self.folder / "out" / "list.csv")
        self.assertEqual(
            [(clip["condition"], clip["clip"]) for clip in made], [(c, name) for c in PROCESSING for name in rates_hz]
        )
        for clip in made:
            before, _ = read_wave(self.folder / clip["clip"])
            after, rate_hz = read_wave(self.folder / "out" / clip["path"])
            self.assertEqual(rate_hz, rates_hz[clip["clip"]], clip["condition"])
            self.assertGreater(np.abs(after).max(), 0.1, clip["condition"])
            self.assertEqual(np.array_equal(before, after), clip["condition"] == "clean", clip["condition"])
            times = {"10 % faster": 1 / 1.1, "10 % slower": 1 / 0.9, "pauses cut": 1.5 / 2}.get(clip["condition"], 1)
            self.assertAlmostEqual(len(after) / len(before), times, delta=0.03, msg=clip["condition"])


if __name__ == "__main__":
    unittest.main()
