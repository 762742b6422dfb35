# SPDX-License-Identifier: Apache-2.0
"""Run with: python3 -m unittest tests.test_originals (from training/; needs git and ffmpeg, no corpus)."""

import csv
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from data.balance import MAX_FACTOR, balanced, rate_band, shares_of
from signals.channel_chain import OPUS_RATES_HZ, RATES_HZ, RESAMPLERS, SWR_FILTERS, draw_chain, pass_through, resample, through_codec
from data.corpus_cache import write_clips
from networks.detector import SIZES, Detector, export_onnx
from judge.originals import inside_pages, recalibrated
from data.mirrors import Absent, Mirror, blob_id, clone, find_mirror
from features.native import FeatureExtractor
from data.near_duplicates import fingerprint, group_duplicates
from data.originals_cache import OriginalsCache, read_table
from data.prepare_chains import choose, is_for_calibration, streams
from features.recipe import RECIPES
from data.sampler import CropSampler
from networks.torch_features import Spectrogram
from train.detector import FeatureBatches

COLUMNS = ["label", "split", "system", "category", "family", "speaker", "repository", "path", "start_s", "end_s", "branch", "commit",
           "blob", "licence", "terms", "language", "original_rate", "original_format", "duration_s", "pair_id", "system_in_training",
           "corpus_path", "flag"]


def git(folder, *arguments):
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=folder, check=True,
                          capture_output=True, text=True).stdout.strip()


def write_wave(path, samples, rate_hz, channels=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate_hz, 0, "NONE", ""))
        file.writeframes(np.repeat(samples, channels).astype("<i2").tobytes())


def babble(seconds, rate_hz, seed, syllable_s=0.1):
    """Noise in syllables: what has an envelope, as speech has."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(int(seconds * rate_hz)) / rate_hz
    knots = np.arange(0, seconds + syllable_s, syllable_s)
    made = np.zeros(len(time_s))
    for hz in (200, 350, 700, 1400, 1900, 2800):
        made += np.interp(time_s, knots, rng.uniform(0, 1, len(knots)) ** 3) * np.sin(2 * np.pi * hz * time_s + rng.uniform(0, 6))
    return (0.1 * made).astype(np.float32)


def repository(folder, files):
    """A bare repository OWNER+NAME whose HEAD has `files`; returns {path: blob id}."""
    with tempfile.TemporaryDirectory() as tree:
        git(tree, "init", "-q", "-b", "main")
        for path, content in files.items():
            Path(tree, path).parent.mkdir(parents=True, exist_ok=True)
            Path(tree, path).write_bytes(content)
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "files")
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(tree, "clone", "-q", "--bare", tree, str(folder))
    return {path: blob_id(content) for path, content in files.items()}


class Mirrors(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def test_a_file_is_found_by_its_blob_and_by_branch_or_head_and_path(self):
        ids = repository(self.folder / "a+b", {"x y/ü 1.wav": b"one", "two.wav": b"two"})
        with Mirror(find_mirror(self.folder, "a/b")) as mirror:
            self.assertEqual(mirror.read(ids["two.wav"]), (b"two", ids["two.wav"]))
            self.assertEqual(mirror.read(path="x y/ü 1.wav")[0], b"one")
            self.assertEqual(mirror.read(branch="main", path="two.wav")[0], b"two")

    def test_what_cannot_be_had_is_said_and_the_next_file_is_still_read(self):
        repository(self.folder / "a+b", {"d/x.wav": b"new", "lfs.wav": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"})
        with Mirror(find_mirror(self.folder, "a/b")) as mirror:
            for arguments, reason in (({"blob": "0" * 40, "path": "d/x.wav"}, "other content"), ({"blob": "0" * 40, "path": "y"}, "not in"),
                                      ({"path": "y.wav"}, "not in"), ({"path": "d"}, "a tree"), ({"path": "lfs.wav"}, "large file"),
                                      ({"branch": "gone", "path": "d/x.wav"}, "not in"), ({"path": "a\nb"}, "several lines")):
                with self.assertRaisesRegex(Absent, reason):
                    mirror.read(**arguments)
            self.assertEqual(mirror.read(path="d/x.wav")[0], b"new")

    def test_every_layout_of_a_mirror_is_found_and_a_clone_is_one(self):
        repository(self.folder / "from" / "o" / "n", {"x": b"x"})
        clone(self.folder / "mirrors", "o/n", f"{self.folder}/from/")
        for layout in ("p+q", "r+s/repo", "t+u/repo/.git"):
            repository(self.folder / "mirrors" / layout, {"x": b"x"})
        for name in ("o/n", "p/q", "r/s", "t/u"):
            with Mirror(find_mirror(self.folder / "mirrors", name)) as mirror:
                self.assertEqual(mirror.read(path="x")[0], b"x")
        self.assertIsNone(find_mirror(self.folder / "mirrors", "no/where"))


class Originals(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        self.tone = (8000 * np.sin(2 * np.pi * 440 * np.arange(96000) / 96000)).astype(np.int16)
        files = {}
        for name, rate_hz, channels in (("a.wav", 22050, 1), ("stereo.wav", 48000, 2), ("high.wav", 96000, 1), ("part.wav", 16000, 1)):
            path = self.folder / "wave" / name
            write_wave(path, self.tone[:rate_hz] if rate_hz < 96000 else self.tone, rate_hz, channels)
            files[name] = path.read_bytes()
        files["broken.wav"] = b"no audio at all"
        self.ids = repository(self.folder / "mirrors" / "o+n", files)
        write_wave(self.folder / "corpus" / "copy.wav", self.tone[:16000], 16000)
        self.rows = []
        for path, more in (("a.wav", {}), ("stereo.wav", {}), ("high.wav", {"blob": ""}),
                           ("part.wav", {"start_s": "0.25", "end_s": "0.75"}), ("broken.wav", {"corpus_path": "copy.wav"})):
            self.list_row("o/n", path, **{"blob": self.ids[path], **more})

    def list_row(self, name, path, *, blob="", **more):
        row = dict.fromkeys(COLUMNS, "")
        row.update(repository=name, path=path, blob=blob, label="bonafide", split="train", terms="open")
        self.rows.append({**row, **more})

    def prepare(self, *arguments):
        with open(self.folder / "sources.csv", "w", newline="") as table:
            writer = csv.DictWriter(table, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)
        subprocess.run([sys.executable, "-m", "data.prepare_originals", "--sources", self.folder,
                        "--mirrors", self.folder / "mirrors", "--out", self.folder / "out", "--corpus", self.folder / "corpus",
                        *arguments], check=True, capture_output=True, cwd=Path(__file__).parents[1])
        return {clip["path"]: clip for clip in OriginalsCache(self.folder / "out").clips}

    def test_recordings_keep_their_rate_up_to_48_khz_and_their_samples(self):
        clips = self.prepare()
        self.assertEqual({path: (clip["rate_hz"], clip["samples"], clip["origin"]) for path, clip in clips.items()}, {
            "a.wav": (22050, 22050, "mirror"), "stereo.wav": (48000, 48000, "mirror"), "high.wav": (48000, 48000, "mirror"),
            "part.wav": (16000, 8000, "mirror"), "broken.wav": (16000, 16000, "corpus")})
        cache = OriginalsCache(self.folder / "out")
        samples = {clip["path"]: cache.samples(clip) * 32768 for clip in cache.clips}
        np.testing.assert_array_equal(samples["a.wav"], self.tone[:22050])
        np.testing.assert_array_equal(samples["stereo.wav"], self.tone[:48000])
        np.testing.assert_array_equal(samples["part.wav"], self.tone[4000:12000])
        self.assertLess(np.abs(samples["high.wav"] - self.tone[::2])[100:-100].max(), 8000 * 0.01)
        self.assertEqual(clips["high.wav"]["blob"], self.ids["high.wav"])
        absent = read_table(self.folder / "out" / "absent.csv")
        self.assertEqual([(row["path"], row["reason"], row["taken_from_corpus"]) for row in absent],
                         [("broken.wav", "cannot be decoded", "yes")])

    def test_a_complete_repository_is_not_read_again_and_one_that_lacked_something_is(self):
        self.rows.pop()
        self.list_row("late/comer", "x.wav")
        self.assertNotIn("x.wav", self.prepare())
        before = (self.folder / "out" / "o+n.i16").stat().st_mtime_ns
        repository(self.folder / "mirrors" / "late+comer", {"x.wav": (self.folder / "wave" / "a.wav").read_bytes()})
        self.assertEqual(self.prepare()["x.wav"]["origin"], "mirror")
        self.assertEqual((self.folder / "out" / "o+n.i16").stat().st_mtime_ns, before)

    def test_terms_choose_and_noncommercial_recordings_never_train(self):
        self.rows = self.rows[:1]
        for path, more in (("stereo.wav", {"terms": "none stated"}), ("part.wav", {"terms": "noncommercial", "split": "valid"}),
                           ("high.wav", {"terms": "noncommercial", "split": "train"})):
            self.list_row("o/n", path, **{"blob": self.ids[path], **more})
        self.assertEqual(set(self.prepare("--terms", "open")), {"a.wav"})
        self.assertEqual(set(self.prepare()), {"a.wav", "stereo.wav", "part.wav"})


class Duplicates(unittest.TestCase):
    def test_the_same_sound_is_found_at_another_rate_and_level_and_in_other_silence(self):
        one, other = babble(3, 24000, 1, 0.2), babble(3, 24000, 2, 0.2)
        lower = resample(one, 24000, 16000, "long")
        padded = np.concatenate([np.zeros(9000, np.float32), 0.2 * lower, np.zeros(3000, np.float32)])
        prints = [fingerprint(one, 24000), fingerprint(other, 24000), fingerprint(padded, 16000), fingerprint(one[:12000], 24000)]
        self.assertIsNone(prints[3])  # half a second says too little
        np.testing.assert_array_equal(group_duplicates(prints), [0, 1, 0, 3])

    def test_training_has_nothing_of_valid_and_each_recording_once(self):
        page = next(name for name in map(str, range(99)) if is_for_calibration(name))
        judged = next(name for name in map(str, range(99)) if not is_for_calibration(name))
        clip = lambda split, label, name, system="": {"split": split, "label": label, "repository": name, "system": system}
        clips = [clip("train", "bonafide", "r"), clip("train", "bonafide", "s"), clip("train", "spoof", "s", "x"),
                 clip("train", "bonafide", "t"), clip("valid", "bonafide", page), clip("valid", "bonafide", judged),
                 clip("valid", "bonafide", page)]
        training, calibration, left_out = choose(clips, [1, 1, 1, 2, 3, 2, 2])
        self.assertEqual((training, calibration), ([0, 2], [4]))
        self.assertEqual(sum(left_out.values()), 4)


class Chains(unittest.TestCase):
    def test_every_resampler_keeps_a_tone_its_level_and_its_place(self):
        for kind in RESAMPLERS:
            for rate_hz, wanted_hz in ((24000, 44100), (48000, 11025), (22050, 16000)):
                samples = np.zeros(rate_hz, np.float32)
                time_s = np.arange(rate_hz // 2) / rate_hz
                samples[rate_hz // 4:rate_hz // 4 + len(time_s)] = 0.5 * np.sin(2 * np.pi * 500 * time_s)
                made = resample(samples, rate_hz, wanted_hz, kind)
                self.assertAlmostEqual(len(made), wanted_hz, delta=2)
                middle = made[wanted_hz // 4 + 200:3 * wanted_hz // 4 - 200]
                hz = np.argmax(np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 1 << 16))) * wanted_hz / (1 << 16)
                self.assertAlmostEqual(hz, 500, delta=2, msg=kind)
                self.assertAlmostEqual(np.sqrt(2 * np.mean(middle ** 2)), 0.5, delta=0.03, msg=kind)
                self.assertLess(np.abs(made[:wanted_hz // 5]).max(), 0.02, msg=kind)

    def test_a_chain_keeps_length_and_place_and_repeats_with_its_seed(self):
        clips = [(babble(1.0, 22050, 3), 22050), (babble(1.3, 16000, 4), 16000)]
        for seed in range(6):
            made = [pass_through(clips, draw_chain(np.random.default_rng(seed)), np.random.default_rng(seed)) for _ in range(2)]
            for (samples, rate_hz), one, again in zip(clips, *made):
                np.testing.assert_array_equal(one, again)
                plain = resample(samples, rate_hz, 16000, "long")
                self.assertAlmostEqual(len(one), len(plain), delta=1)
                envelope = lambda x: np.convolve(np.abs(x[:len(plain)]), np.ones(800), "same")[::80]
                count = min(len(one), len(plain)) // 80
                self.assertGreater(np.corrcoef(envelope(one)[:count], envelope(plain)[:count])[0, 1], 0.8, msg=seed)

    def test_every_codec_can_be_run_at_each_of_its_rates(self):
        samples = babble(0.6, 16000, 5)
        encoders = {"mp3": ["-c:a", "libmp3lame", "-b:a", "24k"], "ogg": ["-c:a", "libopus", "-b:a", "12k"]}
        for container, rates in (("mp3", RATES_HZ), ("ogg", OPUS_RATES_HZ)):
            for rate_hz in rates:
                made, made_hz = through_codec(samples, 16000, (container, encoders[container], container, rate_hz), SWR_FILTERS[0])
                self.assertAlmostEqual(len(made) / made_hz, 0.6, delta=0.1)

    def test_streams_mix_the_units_and_lose_none(self):
        units = [[2 * index, 2 * index + 1] for index in range(100)]
        made = streams(units, [3.0] * 200, np.random.default_rng(1))
        self.assertEqual(sorted(row for stream in made for row in stream), list(range(200)))
        for stream in made:
            self.assertTrue(all(stream[index + 1] == stream[index] + 1 for index in range(0, len(stream), 2)))
        self.assertNotEqual(made[0][:4], [0, 1, 2, 3])


class OriginalsInMemory:
    variants = 2

    def __init__(self):
        rng, self.clips = np.random.default_rng(1), []
        for index in range(400):
            label = ("bonafide", "spoof")[index % 2]
            rate_hz = int(rng.choice([8000, 16000, 48000], p=[0.3, 0.5, 0.2]) if label == "bonafide" else rng.choice([16000, 24000]))
            self.clips.append({
                "path": str(index), "label": label, "split": "valid" if index < 40 else "train", "source": f"page-{index % 7}",
                "speaker": "", "system": f"system-{index % 5}" if label == "spoof" else "", "category": "tts", "family": "",
                "language": str(rng.choice(["en", "zh"], p=[0.8, 0.2] if label == "spoof" else [0.3, 0.7])), "rate_hz": str(rate_hz),
                "samples": 48000})
        self.drawn = []

    def samples(self, clip, variant=0, start=0, count=None):
        self.drawn.append(clip)
        return np.random.default_rng(int(clip["path"])).standard_normal(count).astype(np.float32) * 0.1


class Balance(unittest.TestCase):
    def test_rates_and_languages_are_alike_in_both_classes(self):
        clips = [clip for clip in OriginalsInMemory().clips]
        for clip in clips:
            clip["rate_hz"] = int(clip["rate_hz"])
        classes = [[clip for clip in clips if clip["label"] == label] for label in ("bonafide", "spoof")]
        even = [np.full(len(part), 1 / len(part)) for part in classes]
        made = balanced(classes[0], even[0], classes[1], even[1])
        for part, start, probabilities in zip(classes, even, made):
            self.assertAlmostEqual(probabilities.sum(), 1.0)
            self.assertTrue((probabilities <= start * MAX_FACTOR * 1.01).all())
        languages = [shares_of([clip["language"] for clip in part], probabilities) for part, probabilities in zip(classes, made)]
        for language in ("en", "zh"):
            self.assertAlmostEqual(languages[0][language], languages[1][language], delta=0.01)
        rates = [shares_of(map(rate_band, part), probabilities) for part, probabilities in zip(classes, made)]
        self.assertGreater(rates[0][0], 0.2)  # only human clips have 8 kHz: there is nothing to bring it into line with

    def test_the_sampler_draws_by_it_and_nothing_of_valid(self):
        cache = OriginalsInMemory()
        sampler = CropSampler(cache, 1, 32)
        for index in range(40):
            sampler.batch(index)
        self.assertEqual({clip["split"] for clip in cache.drawn}, {"train"})
        english = [np.mean([clip["language"] == "en" for clip in cache.drawn if clip["label"] == label]) for label in ("bonafide", "spoof")]
        self.assertAlmostEqual(*english, delta=0.1)


class Twin(unittest.TestCase):
    def test_pytorch_makes_the_features_of_the_native_stage(self):
        windows = np.stack([babble(5, 16000, seed) for seed in range(4)]) + 1e-4 * np.random.default_rng(1).standard_normal((4, 80000))
        windows = windows.astype(np.float32)
        windows[1, 30000:] = 0
        for recipe in RECIPES.values():
            native = np.stack([FeatureExtractor(recipe).compute(window) for window in windows])
            made = Spectrogram(recipe)(torch.from_numpy(windows))[:, 0].numpy()
            self.assertEqual(made.shape, native.shape)
            self.assertLess(np.abs(made - native).max(), 2e-3)
            self.assertLess(np.abs(made - native).mean(), 1e-4)


    def test_a_batch_for_a_gpu_is_the_batch_for_the_processor(self):
        clips = [{"path": str(index), "label": ("bonafide", "spoof")[index % 2], "split": "train", "source": "page", "speaker": "",
                  "system": "s" * (index % 2), "category": "", "family": "", "language": "en", "rate_hz": 16000} for index in range(4)]
        with tempfile.TemporaryDirectory() as folder:
            write_clips(folder, clips, [(32767 * babble(6, 16000, index)).astype(np.int16) for index in range(4)])
            shutil.copy(Path(folder, "clean.i16"), Path(folder, "codec1.i16"))
            options = SimpleNamespace(cache=folder, seed=1, batch=4, without=(), hold_out=None)
            (native,), labels = next(iter(FeatureBatches(options, [RECIPES["linear"]])))
            (samples,), again = next(iter(FeatureBatches(options, [RECIPES["linear"]], as_samples=True)))
        self.assertEqual(labels.tolist(), again.tolist())
        made = Spectrogram(RECIPES["linear"])(samples)
        self.assertEqual(made.shape, native.shape)
        self.assertLess((made - native).abs().mean().item(), 1e-3)


@unittest.skipUnless(importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxruntime"), "needs onnx and onnxruntime")
class Recovery(unittest.TestCase):
    def test_detectors_taken_out_of_a_file_of_8_bits_compute_what_the_file_does(self):
        import onnxruntime

        from networks.ensemble import Ensemble
        from export.quantise import quantise_blocks
        from export.recover_weights import parameters_of, rebuild

        torch.manual_seed(1)
        sizes, members = ["small", "middle"], []
        windows = np.random.default_rng(1).standard_normal((24, 1, 256, 120)).astype(np.float32)
        for size in sizes:
            network = Detector(**SIZES[size]).train()
            with torch.no_grad():
                network(torch.from_numpy(windows))  # statistics of its own
            members.append((network.eval(), RECIPES["linear"]))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            export_onnx(Ensemble(members), str(path), 256, 120)
            quantise_blocks(path, [window[None] for window in windows])
            session = onnxruntime.InferenceSession(str(path))
            expected = session.run(None, {"features": windows})[0]
            rebuilt = [rebuild(size, found, windows) for size, found in zip(sizes, parameters_of(path, sizes))]
            with self.assertRaises(ValueError):
                parameters_of(path, ["small"])
        with torch.no_grad():
            made = np.mean([network.eval()(torch.from_numpy(windows)).numpy() for network in rebuilt], 0)
            training = rebuilt[0].train()(torch.from_numpy(windows)).numpy()
        self.assertLess(np.abs(made - expected).max(), 0.05 + 0.05 * np.ptp(expected))
        self.assertTrue(np.isfinite(training).all())


class Judging(unittest.TestCase):
    def setUp(self):
        self.clips, logits = [], []
        rng = np.random.default_rng(1)
        for page in range(4):
            for index in range(50):
                spoof = index % 2
                self.clips.append({"source": f"page-{page}", "label": ("bonafide", "spoof")[spoof], "system": "s" * spoof,
                                   "part": "calibration" if page < 2 else "judging"})
                logits.append(rng.standard_normal() + 2 * spoof + page)
        self.logits = np.array(logits)

    def test_inside_a_page_what_differs_between_pages_does_not_count(self):
        spoof = np.array([clip["label"] == "spoof" for clip in self.clips])
        pages = inside_pages(self.logits, self.clips, spoof)
        moved = inside_pages(self.logits + 100 * np.repeat(np.arange(4), 50), self.clips, spoof)
        self.assertEqual(pages, moved)
        self.assertEqual(len(pages), 4)

    def test_calibration_looks_at_its_part_alone(self):
        made = recalibrated(self.logits, self.clips)
        other = self.logits.copy()
        other[100:] = 50.0
        np.testing.assert_allclose(recalibrated(other, self.clips)[:100], made[:100])


if __name__ == "__main__":
    unittest.main()
