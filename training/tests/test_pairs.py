# SPDX-License-Identifier: Apache-2.0
"""Training on pairs: a crop and its coded or noisy copy. Needs ffmpeg."""

import csv
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from data import add_variant
from data.corpus_cache import CorpusCache, write_clips
from data.originals_cache import write_table
from data.pair_sampler import AUGMENTED_SHARE, NOISE_SHARE, PairSampler
from judge.condition_check import CHECKED, ConditionCheck, errors_by_condition, mean_error
from tests.support import WithFolder, has_torch, needs_torch, syllables, write_wave

if has_torch:
    import torch

    from networks.detector import SIZES, Detector
    from train.detector import hide_parts
    from train.pairs import PairLosses, hide_alike, pair_loss

TRAINING = Path(__file__).parents[1]


def clip(name, label, split="train", **more):
    return {
        "path": name,
        "label": label,
        "split": split,
        "source": "owner/page",
        "speaker": "",
        "system": "tts" if label == "spoof" else "",
        "category": "tts" if label == "spoof" else "",
        "family": "",
        "language": "en",
        "rate_hz": 16000,
        **more,
    }


def write_cache(folder, seconds=3.0):
    """Four training clips, one of them a copy, and two validation clips."""
    folder.mkdir(exist_ok=True)
    clips = [
        clip("page/human", "bonafide"),
        clip("page/other", "bonafide"),
        clip("page/spoken", "spoof"),
        clip("copy-x:page/human", "spoof", system="copy-x", category="own-copy-synthesis"),
        clip("page/valid-human", "bonafide", "valid"),
        clip("page/valid-spoken", "spoof", "valid"),
    ]
    audio = [(32767 * syllables(seconds, 16000, seed)).astype(np.int16) for seed in range(len(clips))]
    write_clips(folder, clips, audio)
    return clips, audio


class SixDecibelsLouder:
    """Clips of noise; the only variant is twice as loud."""

    variants = 2

    def __init__(self):
        self.originals = {}
        self.clips = [
            {**clip(f"{label}-{number}", label), "samples": 5 * 16000}
            for number in range(6)
            for label in ("bonafide", "spoof")
        ]

    def samples(self, of, variant=0, start=0, count=None):
        whole = np.random.default_rng([len(of["path"]), int(of["path"][-1])]).standard_normal(of["samples"])
        return (0.1 * (1 + variant) * whole[start : start + count]).astype(np.float32)


class Pairs(unittest.TestCase):
    def test_the_second_half_of_a_batch_has_copies_of_the_first(self):
        sampler, same, unlike = PairSampler(SixDecibelsLouder(), 1, 16), 0, 0
        for index in range(12):
            samples, labels = sampler.batch(index)
            np.testing.assert_array_equal(labels, [0, 1] * 8)
            published, copies = np.split(samples, 2)
            for one, copy in zip(published, copies):
                # Pairs that differ only in the variant become equal: levels are equalised.
                same += np.allclose(one, copy, atol=1e-5)
            unlike += sum(np.allclose(one, copy, atol=1e-5) for one, copy in zip(published, np.roll(copies, 1, 0)))
        self.assertAlmostEqual(same / 96, (1 - NOISE_SHARE) * (1 - AUGMENTED_SHARE), delta=0.2)
        self.assertEqual(unlike, 0)

    def test_copies_keep_the_place_of_the_crop(self):
        sampler, correlations = PairSampler(SixDecibelsLouder(), 2, 16), []
        for index in range(6):
            published, copies = np.split(sampler.batch(index)[0], 2)
            correlations += [np.corrcoef(one, copy)[0, 1] for one, copy in zip(published, copies)]
        # Some were muffled or drowned; differently cut ones would have a correlation of about 0.
        self.assertGreater(np.quantile(correlations, 0.25), 0.6)

    def test_a_batch_depends_on_its_number_alone(self):
        samplers = [PairSampler(SixDecibelsLouder(), 3, 8) for _ in range(2)]
        samplers[0].batch(0)
        np.testing.assert_array_equal(samplers[0].batch(5)[0], samplers[1].batch(5)[0])

    def test_batches_and_caches_without_pairs_are_refused(self):
        with self.assertRaisesRegex(ValueError, "multiple of 4"):
            PairSampler(SixDecibelsLouder(), 1, 6)
        cache = SixDecibelsLouder()
        cache.variants = 1
        with self.assertRaisesRegex(ValueError, "coded variant"):
            PairSampler(cache, 1, 8)


class Variants(WithFolder):
    def test_every_clip_that_trains_is_coded_in_its_place_and_a_broken_off_run_goes_on(self):
        caches = [self.folder / name for name in ("whole", "broken-off")]
        for folder in caches:
            clips, _ = write_cache(folder)
        a_stream_each = mock.patch.multiple(add_variant, SAVED_STREAMS=1, streams=lambda units, *_: units)
        place = clips[1]["offset"]
        with a_stream_each, mock.patch("builtins.print"):
            add_variant.add_variant(caches[0], 2)
            with mock.patch.object(Path, "replace", side_effect=OSError("full")), self.assertRaises(OSError):
                add_variant.add_variant(caches[1], 2)
            (caches[1] / "codec2.written").write_text("1")
            coded = np.memmap(caches[1] / "codec2.partial", np.int16, mode="r+")
            coded[:place], coded[place:] = 7, 0  # the first stream is there, later ones are lost
            coded.flush()
            add_variant.add_variant(caches[1], 2)
        made = [np.fromfile(folder / "codec2.i16", np.int16) for folder in caches]
        self.assertTrue((made[1][:place] == 7).all())
        until = clips[2]["offset"] + clips[2]["samples"]
        np.testing.assert_array_equal(made[0][place:until], made[1][place:until])
        cache = CorpusCache(caches[0])
        for row in cache.clips:
            clean, coded = (cache.samples(row, variant) for variant in (0, 1))
            if row["split"] == "valid":
                self.assertFalse(coded.any())
                continue
            envelopes = [np.convolve(np.abs(samples), np.ones(800), "same")[::80] for samples in (clean, coded)]
            self.assertGreater(np.corrcoef(envelopes)[0, 1], 0.8, row["path"])
            self.assertFalse(np.array_equal(clean, coded), row["path"])
        self.assertEqual([file.name for file in caches[1].glob("codec2.*")], ["codec2.i16"])

    def test_a_copy_is_in_the_stream_of_its_recording(self):
        clips, _ = write_cache(self.folder)
        with mock.patch.object(add_variant, "streams", lambda units, *_: units):
            self.assertEqual(add_variant.planned_streams(clips, 2), [[0, 3], [1], [2]])


def write_conditions(folder, part="calibration", names=CHECKED):
    rows = []
    for number, label in enumerate(["bonafide", "spoof"] * 2):
        for name in names:
            path = f"{name.replace(' ', '-').replace('/', '-')}/{number}.wav"
            write_wave(folder / path, 32767 * syllables(2, 16000, number), 16000)
            rows.append({"path": path, "label": label, "part": part, "condition": name})
    write_table(folder / "list.csv", list(rows[0]), rows)


class Conditions(WithFolder):
    def test_errors_are_counted_at_the_threshold_of_clean_clips(self):
        logits = np.array([-2, -1, 1, 2, 0, 3, 0.5, 4], float)
        spoof = np.array([False, False, True, True] * 2)
        made = errors_by_condition(logits, spoof, np.array(["clean"] * 4 + ["gsm"] * 4))
        self.assertEqual((made["eer"], made["auc"]), (0, 1))
        self.assertEqual((made["flagged: clean"], made["passed: clean"]), (0, 0))
        self.assertEqual(made["flagged: gsm"], float(np.mean(np.array([0, 3]) > made["threshold"])))
        self.assertEqual(made["passed: gsm"], 0)
        self.assertEqual(mean_error(made), made["flagged: gsm"] / 4)

    def test_clips_that_judge_and_lists_without_a_condition_are_refused(self):
        write_conditions(self.folder / "judging", part="judging")
        write_conditions(self.folder / "few", names=CHECKED[:2])
        with self.assertRaisesRegex(ValueError, "clips that judge"):
            ConditionCheck(self.folder / "judging", {})
        with self.assertRaisesRegex(ValueError, "lacks gsm, noise 15 dB"):
            ConditionCheck(self.folder / "few", {})


@needs_torch
class Losses(unittest.TestCase):
    def test_copies_are_drawn_to_their_originals_and_not_the_other_way(self):
        published, copies = (torch.tensor(values, requires_grad=True) for values in ([1.0, -1.0], [2.0, 2.0]))
        loss = pair_loss(published, copies)
        self.assertEqual(loss.item(), 5.0)
        loss.backward()
        self.assertIsNone(published.grad)
        self.assertEqual(copies.grad.tolist(), [1.0, 3.0])

    def test_weights_apply_and_means_are_without_them(self):
        losses = PairLosses(None, 0.5, 0.25)
        made = losses.loss(torch.tensor([1.0, -1.0, 2.0, 2.0]), torch.tensor([1.0, 1.0]))
        self.assertAlmostEqual(made.item(), 0.5 * 5 + 0.25 * 2)
        self.assertEqual(losses.means(), {"pair_loss": 5.0, "keep_loss": 2.0})
        self.assertEqual(losses.means(), {"pair_loss": 0.0, "keep_loss": 0.0})

    def test_the_same_places_are_hidden_in_both_halves(self):
        views = hide_alike(hide_parts, torch.ones(32, 2, 40, 50), np.random.default_rng(1))
        published, copies = (half == 0 for half in views.chunk(2))
        self.assertTrue(published.any())
        self.assertTrue(torch.equal(published, copies))
        self.assertFalse(torch.equal(published[0], published[1]))


@needs_torch
class Runs(WithFolder):
    def train(self, *more):
        return subprocess.run(
            [
                *(sys.executable, "-W", "ignore", "-m", "train.detector", "--size", "small", "--workers", "0"),
                *("--cache", self.folder / "cache", "--run", self.folder / "run", "--batch", "4"),
                *("--peak-rate", "1e-3", *more),
            ],
            cwd=TRAINING,
            capture_output=True,
            text=True,
        )

    def test_a_run_on_pairs_logs_conditions_and_goes_on_where_it_was_broken_off(self):
        write_cache(self.folder / "cache", seconds=1.5)
        np.fromfile(self.folder / "cache/clean.i16", np.int16)[::-1].tofile(self.folder / "cache/codec1.i16")
        write_conditions(self.folder / "conditions")
        start = self.folder / "start.pt"
        torch.manual_seed(1)
        torch.save(Detector(**SIZES["small"]).state_dict(), start)
        pairs = ["--pairs", "0.2", "--keep", "0.2", "--start-from", start, "--conditions", self.folder / "conditions"]
        for steps in ("1", "2"):
            made = self.train(*pairs, "--steps", steps, "--validate-steps", "1")
            self.assertEqual(made.returncode, 0, made.stderr)
        with open(self.folder / "run/conditions.csv", newline="") as table:
            rows = list(csv.DictReader(table))
        self.assertEqual([row["step"] for row in rows], ["0", "1", "2"])
        self.assertTrue(all(float(row["pair_loss"]) > 0 and float(row["keep_loss"]) > 0 for row in rows[1:]))
        self.assertIn("flagged: opus 16 kbit/s", rows[0])
        weights = [torch.load(path) for path in (start, self.folder / "run/last.pt")]
        self.assertFalse(torch.equal(*(state["stem.0.weight"] for state in weights)))

    def test_a_stretched_run_repeats_itself_and_differs_from_a_plain_one(self):
        write_cache(self.folder / "cache", seconds=1.5)
        weights, plain = [], ["--without", "codecs"]
        for more in (["--stretch", "0.2"], ["--stretch", "0.2"], []):
            made = self.train("--steps", "2", *more, *plain)
            self.assertEqual(made.returncode, 0, made.stderr)
            weights.append(torch.load(self.folder / "run/last.pt")["stem.0.weight"])
            shutil.rmtree(self.folder / "run")  # the next run would continue from it
        self.assertTrue(torch.equal(weights[0], weights[1]))
        self.assertFalse(torch.equal(weights[0], weights[2]))

    def test_pairs_are_not_stretched(self):
        made = self.train("--pairs", "0.2", "--start-from", "x", "--stretch", "0.1", "--steps", "1")
        self.assertEqual(made.returncode, 2)
        self.assertIn("does without --pairs", made.stderr)

    def test_changes_beside_pairs_or_teachers_are_refused(self):
        for beside in (["--pairs", "0.2", "--start-from", "x.pt"], ["--taught", "x.npy"]):
            made = self.train("--changes", "room=0.5", *beside)
            self.assertEqual(made.returncode, 2)
            self.assertIn("--changes excludes", made.stderr)

    def test_pairs_without_a_start_are_refused(self):
        made = self.train("--pairs", "0.2", "--steps", "1")
        self.assertEqual(made.returncode, 2)
        self.assertIn("needs --start-from", made.stderr)
