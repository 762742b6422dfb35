# SPDX-License-Identifier: Apache-2.0
"""Generators, their material and their training; failures first."""

import pickle
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

from data import prepare_chains
from data.originals_cache import OriginalsCache, write_table
from tests.support import WithFolder, babble, has_torch, needs_torch

if has_torch:
    import torch

    from data.make_neural_copies import lag_samples
    from resynthesis import copier, make_copies, material, settings, source, spectra, train
    from resynthesis.blocks import Body, SmoothSnake, Snake
    from resynthesis.discriminators import Discriminators
    from resynthesis.generators import Codec, MelDecoder, MelVocoder, SpectrumFlow, make_generator
    from resynthesis.heads import UpsamplingHead
    from resynthesis.quantiser import ResidualQuantiser

RATE_HZ = 16000


def clip_row(path, samples, repository="o/n", rate_hz=RATE_HZ):
    return {
        "repository": repository,
        "path": path,
        "start_s": "",
        "speaker": path,
        "label": "bonafide",
        "split": "train",
        "terms": "open",
        "system": "",
        "category": "",
        "family": "",
        "origin": "mirror",
        "rate_hz": rate_hz,
        "offset": 0,
        "samples": len(samples),
    }


class Straight:
    """A pool of no processes."""

    @staticmethod
    def map(function, tasks, _):
        return [function(task) for task in tasks]


def make_material(folder, count=3):
    voices = {f"{seed}.wav": babble(1.5, seed) for seed in range(count)}
    clips = [clip_row(path, samples) for path, samples in voices.items()]
    material.prepare(folder, clips, lambda clip: voices[clip["path"]], RATE_HZ, Straight)
    return material.Material(folder)


def tiny(name="spectrum-16k", **training):
    """The settings of a system, with narrow networks."""
    made = settings.load(name, "cpu")
    made["network"].update(width=16, blocks=1)
    made["discriminators"] = {"periods": [2], "scales": [2], "fft_sizes": [256], "width": 4}
    made["training"] = {"crop_frames": 16, "batch": 2, "regression_share": 0.5, "log_every": 3, **training}
    return made


@needs_torch
class Refusals(WithFolder):
    def test_factors_that_do_not_make_a_hop(self):
        with self.assertRaisesRegex(ValueError, "leave 2 samples"):
            UpsamplingHead(spectra.Frames(RATE_HZ), 8, factors=(8, 16), channels=16)

    def test_a_decoder_of_other_mel_energies(self):
        vocoder = MelVocoder(spectra.Frames(24000), {"kind": "spectrum"}, 8, 1)
        with self.assertRaisesRegex(ValueError, "different frames"):
            copier.Copier(vocoder, 24000, MelDecoder(spectra.Frames(RATE_HZ), 8, 1))

    def test_other_settings_for_a_run_that_has_begun(self):
        train.check_settings(self.folder, {"seed": 1})
        train.check_settings(self.folder, {"seed": 1})
        with self.assertRaisesRegex(SystemExit, "other settings"):
            train.check_settings(self.folder, {"seed": 2})

    def test_material_of_which_nothing_is_left(self):
        low = {"a.wav": babble(1.5, 1)}
        clips = [clip_row("a.wav", low["a.wav"]), clip_row("a.wav", low["a.wav"][:9000])]
        with self.assertRaisesRegex(SystemExit, "24000 Hz"):
            material.prepare(self.folder, clips, lambda clip: low[clip["path"]], 24000, Straight)
        self.assertFalse((self.folder / "clips.csv").exists())

    def test_crops_longer_than_every_clip(self):
        with self.assertRaisesRegex(ValueError, "as long as a crop"):
            material.Crops(make_material(self.folder, 1), 30000, 1, 1)


class Shipped(unittest.TestCase):
    @needs_torch
    def test_every_settings_file_makes_a_generator_whose_head_fits_the_hop(self):
        for name in settings.names():
            for size in settings.SIZES:
                described = settings.load(name, size)
                head = described["network"].get("head", {})
                # The real settings, except for costly ones.
                described["network"].update(width=8, blocks=1)
                if head.get("kind") == "upsampling":
                    head["channels"] = 2 ** len(head["factors"]) * 2
                generator, hop = make_generator(described).eval(), described["frames"]["hop"]
                samples = 0.06 * torch.randn(1, 24 * hop)
                pulses = torch.zeros(1, 2, 24 * hop)
                with torch.no_grad():
                    copy, losses = generator(samples, pulses)
                if described["kind"] == "mel-decoder":
                    self.assertIsNone(copy)
                    self.assertGreater(len(losses), 1)
                else:
                    self.assertEqual(copy.shape, samples.shape, name)
                    self.assertTrue(torch.isfinite(copy).all(), name)


@needs_torch
class Layers(unittest.TestCase):
    def test_a_frame_reaches_as_far_as_the_body_says(self):
        torch.manual_seed(0)
        for dilations in ((1,), (1, 2, 4)):
            body = Body(4, 8, 3, dilations).eval()
            frames = torch.randn(1, 4, 99)
            changed = frames.clone()
            changed[..., 49] += 1
            with torch.no_grad():
                moved = (body(frames) - body(changed)).abs().amax((0, 2)).nonzero().flatten()
            self.assertEqual((int(moved.min()), int(moved.max())), (49 - body.reach_frames, 49 + body.reach_frames))

    def test_a_smooth_snake_keeps_time_and_folds_back_less(self):
        tone = lambda hz: torch.sin(2 * np.pi * hz * torch.arange(4000) / 16000)[None, None]
        smooth, plain = SmoothSnake(1), Snake(1)
        # Its square is at 12 kHz, beyond the limit at 16 kHz: it would appear at 4 kHz.
        alias = []
        for activation in (smooth, plain):
            with torch.no_grad():
                made = activation(tone(6000))[0, 0, 1000:3000]
            alias.append(torch.fft.rfft(made * torch.hann_window(2000)).abs()[490:510].max().item())
        self.assertLess(alias[0], 0.35 * alias[1])
        with torch.no_grad():
            slow = [activation(tone(200))[0, 0] for activation in (smooth, plain)]
        np.testing.assert_allclose(slow[0][20:-20], slow[1][20:-20], atol=0.01)

    def test_samples_are_never_rounded_to_bfloat16(self):
        # Its rounding is some 50 dB below a sample: louder than the quiet bands of a voice, so that training diverges.
        frames = spectra.Frames(RATE_HZ)
        head = UpsamplingHead(frames, 8, factors=(8, 8, 4), channels=16)
        types = set()
        for level in head.levels:
            level["residual"].register_forward_hook(lambda _, __, made: types.add(made.dtype))
        count = 4 * frames.hop
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            head(torch.randn(1, 5, 8), torch.zeros(1, frames.bands, 5), torch.randn(1, 2, count))
        self.assertEqual(types, {torch.float32})

    def test_discriminators_answer_per_network_with_verdicts_last_and_hear_a_change(self):
        torch.manual_seed(0)
        made = Discriminators(periods=(2, 3), scales=(1, 2), fft_sizes=(256,), width=4)
        samples = 0.06 * torch.randn(2, 4097)
        outputs = made(samples)
        self.assertEqual(len(outputs), 5)
        changed = samples.clone()
        changed[0, 2000:2100] *= -1
        for before, after in zip(outputs, made(changed)):
            self.assertEqual(before[-1].shape[1], 1)
            self.assertGreater((before[-1][0] - after[-1][0]).abs().max(), 0)
            self.assertEqual((before[-1][1] - after[-1][1]).abs().max(), 0)

    def test_a_column_of_a_period_discriminator_is_one_phase_of_the_period(self):
        first = Discriminators(periods=(5,), scales=(), fft_sizes=(), width=4).networks[0]
        samples = torch.zeros(1, 500)
        base = first(samples)[-1]
        samples[0, 252] = 1
        changed = (first(samples)[-1] - base).abs().amax((0, 1, 2)).nonzero().flatten()
        self.assertEqual(changed.tolist(), [252 % 5])


@needs_torch
class Codes(unittest.TestCase):
    def test_rates_are_those_of_the_codes_that_a_second_has(self):
        for name, lowest, highest in (("codec-24k", 750, 6000), ("codec-16k", 500, 6000)):
            described = settings.load(name, "cpu")
            described["network"].update(width=8, blocks=1)
            codec, rate_hz = make_generator(described).eval(), described["frames"]["rate_hz"]
            books = len(codec.quantiser.codes)
            samples = torch.randn(1, 2 * rate_hz)
            with torch.no_grad():
                chosen, _ = codec.quantiser.encode(codec.latents(samples), books)
            self.assertEqual(chosen.shape[0], books)
            counted = chosen.shape[0] * (chosen.shape[1] - 1) / 2 * 10  # 1024 codes; one frame is centred on each end
            self.assertAlmostEqual(codec.bits_per_second(books), highest)
            self.assertAlmostEqual(codec.bits_per_second(1), lowest)
            self.assertAlmostEqual(counted / highest, 1, delta=0.02)

    def test_each_codebook_brings_the_codes_nearer(self):
        torch.manual_seed(0)
        quantiser = ResidualQuantiser(4, books=4, codes=32)
        latents = torch.randn(4, 200, 4)
        for _ in range(20):
            quantiser(latents, 4)
        quantiser.eval()
        errors = [float((quantiser(latents, books)[0] - latents).square().mean()) for books in (1, 2, 3, 4)]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertLess(errors[-1], 0.1 * errors[0])

    def test_codes_do_not_move_when_a_copy_is_made(self):
        quantiser = ResidualQuantiser(4, books=2, codes=8)
        quantiser(torch.randn(1, 50, 4), 2)
        before = quantiser.eval().codes.clone()
        quantiser(torch.randn(1, 50, 4), 2)
        self.assertTrue(torch.equal(before, quantiser.codes))

    def test_the_derivative_passes_the_codes(self):
        latents = torch.randn(1, 9, 4, requires_grad=True)
        ResidualQuantiser(4, books=2, codes=8)(latents, 2)[0].sum().backward()
        self.assertTrue(torch.equal(latents.grad, torch.ones_like(latents)))


@needs_torch
class Source(unittest.TestCase):
    def test_pulses_stay_in_step_with_the_voice(self):
        for rate_hz in (16000, 24000):
            time_s = np.arange(2 * rate_hz) / rate_hz
            phase = 150 * time_s + 2 * np.sin(2 * np.pi * time_s) / (2 * np.pi)
            # A peak whenever the phase is an integer.
            voice = sum(np.cos(2 * np.pi * harmonic * phase) / harmonic for harmonic in range(1, 8))
            made = source.excitation(source.track(np.float32(0.1 * voice), rate_hz), 0, len(voice), rate_hz)
            inside = slice(rate_hz // 4, -rate_hz // 4)
            self.assertGreater(made[1][inside].mean(), 0.99)
            peaks = np.flatnonzero(made[0][inside]) + rate_hz // 4
            off = (phase[peaks] + 0.5) % 1 - 0.5
            self.assertLess(np.abs(off).max(), 0.06)
            self.assertAlmostEqual(np.mean(made[0][inside] ** 2), 0.7, delta=0.3)

    def test_a_crop_has_the_pulses_of_the_whole(self):
        voice = babble(1.0, 3)
        rows = source.track(voice, RATE_HZ)
        whole = source.excitation(rows, 0, len(voice), RATE_HZ)
        np.testing.assert_allclose(source.excitation(rows, 5000, 3000, RATE_HZ), whole[:, 5000:8000], atol=1e-5)

    def test_noise_and_silence_have_no_pulses(self):
        for samples in (np.zeros(16000, np.float32), np.float32(np.random.default_rng(1).standard_normal(16000))):
            made = source.excitation(source.track(samples, RATE_HZ), 0, 16000, RATE_HZ)
            self.assertLess(np.mean(made[0] != 0), 0.01)


@needs_torch
class Copies(WithFolder):
    def test_copies_are_as_long_as_loud_and_as_early_as_their_recording(self):
        torch.manual_seed(0)
        human = np.float32(babble(1.5, 5) * (np.sin(np.arange(24000) / 1500) > 0))
        pulses = source.excitation(source.track(human, RATE_HZ), 0, len(human), RATE_HZ)
        frames = spectra.Frames(RATE_HZ, bands=80)
        upsampling = {"kind": "upsampling", "channels": 16, "kernels": [3], "dilations": [1]}
        generators = {
            "spectrum": MelVocoder(frames, {"kind": "spectrum"}, 16, 1),
            "upsampling": MelVocoder(frames, upsampling, 16, 1),
            "short-istft": MelVocoder(frames, {**upsampling, "factors": (8, 8), "last_fft": 16}, 16, 1),
            "flow": SpectrumFlow(frames, 16, 1, steps=2),
            "codec": Codec(frames, {"kind": "spectrum"}, 16, 1, 1),
        }
        for name, generator in generators.items():
            made = copier.Copier(generator.eval(), RATE_HZ)
            copy = made.copy(human, pulses, 1, copier.draw_analysis(np.random.default_rng(2)))
            self.assertAlmostEqual(copier.rms(copy) / copier.rms(human), 1, delta=1e-3, msg=name)
            if name != "codec":  # untrained codes carry no loudness
                self.assertLessEqual(abs(lag_samples(copy, human)), 80, name)
            np.testing.assert_array_equal(
                copy, made.copy(human, pulses, 1, copier.draw_analysis(np.random.default_rng(2)))
            )
            for odd in (human[:-77], 1e-6 * human, 0 * human, human[:900]):
                copy = made.copy(odd, pulses[:, : len(odd)], 1)
                self.assertEqual(copy.shape, odd.shape, name)
                self.assertTrue(np.all(np.isfinite(copy)) and np.abs(copy).max(initial=0) < 1, name)

    def test_blends_keep_what_they_say_of_the_recording(self):
        rng = np.random.default_rng(1)
        human, copy = (np.float32(0.1 * rng.standard_normal(16000)) for _ in range(2))
        power = lambda samples, low, high: np.abs(np.fft.rfft(samples))[low:high]
        crossed = copier.crossed_over(copy, human, RATE_HZ, 3000, True)
        np.testing.assert_allclose(power(crossed, 0, 2700), power(human, 0, 2700), rtol=1e-3)
        np.testing.assert_allclose(power(crossed, 3300, 8001), power(copy, 3300, 8001), rtol=1e-3)
        echo = np.convolve(human, [1, *[0] * 19, 0.8])[:16000].astype(np.float32)
        logs = lambda samples: spectra.magnitudes(torch.from_numpy(samples)[None], 1024, 256).log()
        apart = lambda samples: float((logs(samples) - logs(human)).abs().mean())
        self.assertLess(apart(copier.with_magnitudes(echo, human, 0.9)), 0.4 * apart(echo))
        self.assertGreater(np.abs(copier.with_magnitudes(echo, human, 0.9) - human).max(), 0.05)

    def test_copies_stand_beside_their_recordings_in_the_tables_of_originals(self):
        heard = make_material(self.folder / "material")
        torch.manual_seed(0)
        generator = MelVocoder(spectra.Frames(RATE_HZ, bands=80), {"kind": "spectrum"}, 16, 1).eval()
        chosen = make_copies.choose_clips(heard, 2, 1)
        made = make_copies.copy_all([copier.Copier(generator, RATE_HZ)], heard, chosen, 1)
        make_copies.write_copies(self.folder / "copies" / "copy-neural-a", "copy-neural-a", made, RATE_HZ)
        written = OriginalsCache(self.folder / "copies" / "copy-neural-a")
        self.assertEqual([clip["path"] for clip in written.clips], [clip["path"] for clip in chosen])
        for clip, human in zip(written.clips, chosen):
            self.assertEqual((clip["label"], clip["system"], clip["split"]), ("spoof", "copy-neural-a", "train"))
            self.assertEqual((clip["rate_hz"], clip["samples"]), (RATE_HZ, human["samples"]))
            ours, theirs = written.samples(clip), heard.samples(human)
            self.assertAlmostEqual(copier.rms(ours) / copier.rms(theirs), 1, delta=0.01)
            self.assertLessEqual(abs(lag_samples(ours, theirs)), 80)


class NeuralCopiesInTheCache(WithFolder):
    def write_clips(self, name, clips):
        """[(row, int16 samples)] of one repository, as a folder of originals."""
        folder, offset, rows = self.folder / name, 0, []
        folder.mkdir()
        for row, samples in clips:
            rows.append({**row, "offset": offset, "samples": len(samples)})
            offset += len(samples)
        np.concatenate([samples for _, samples in clips]).tofile(folder / "o+n.i16")
        write_table(folder / "o+n.csv", list(rows[0]), rows)
        return folder

    def setUp(self):
        super().setUp()
        voices = [np.int16(3000 * babble(3.0, seed)) for seed in range(2)]
        more = dict.fromkeys(("original_format", "pair_id", "language"), "")
        rows = [{**clip_row(f"{number}.wav", voice), **more} for number, voice in enumerate(voices)]
        self.originals = self.write_clips("originals", list(zip(rows, voices)))
        copy = {**rows[1], "label": "spoof", "system": "copy-neural-a", "rate_hz": 24000}
        self.copied = np.int16(resample_poly(voices[1].astype(float), 3, 2))
        self.copies = self.write_clips("copies", [(copy, self.copied)])

    def test_a_copy_of_what_is_not_among_the_originals_is_refused(self):
        clip = {**clip_row("gone.wav", self.copied), "system": "copy-neural-b"}
        other = self.write_clips("other", [(clip, self.copied)])
        with self.assertRaisesRegex(SystemExit, r"copy-neural-b has a copy of .*gone\.wav"):
            prepare_chains.NeuralCopies([other], OriginalsCache(self.originals).clips)

    def test_a_copy_and_its_recording_are_cut_alike_and_stand_beside_each_other(self):
        humans = OriginalsCache(self.originals).clips
        neural = prepare_chains.NeuralCopies([self.copies], humans)
        self.assertEqual(neural.human_of, [1])
        prepare_chains.start_worker(self.originals, 2.0, [self.copies])
        clips = [prepare_chains.table_row(clip, 0, False) for clip in humans]
        audio = [prepare_chains.clean_of(index) for index in (0, 1)]
        beside = prepare_chains.add_neural_copies(clips, audio, [0, 1], neural, 2, Straight)
        self.assertEqual(beside, {2: (2, 1)})
        self.assertEqual(clips[2]["path"], "copy-neural-a:" + clips[1]["path"])
        self.assertEqual((clips[2]["label"], clips[2]["rate_hz"], clips[2]["source"]), ("spoof", 24000, "o/n"))
        self.assertEqual([len(samples) for samples in audio], [32000] * 3)
        self.assertGreater(np.corrcoef(audio[1], audio[2])[0, 1], 0.99)
        self.assertLess(np.corrcoef(audio[0], audio[2])[0, 1], 0.9)


@needs_torch
class Trainings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.material = make_material(Path(cls.temporary.name, "material"))

    def run_steps(self, described, run, stops, steps=6):
        """`stops`: numbers of steps after which the process ends, to be restarted."""
        crops = material.Crops(self.material, 16 * described["frames"]["hop"], 2, 1)
        for stop in (*stops, steps):
            training = train.Training(described, 1)
            state = run / "state.pt"
            if stop < steps:
                if state.exists():
                    training.restore(torch.load(state))
                while training.step < stop:
                    training.take_step(crops, steps)
                run.mkdir(exist_ok=True)
                train.save(training.state(), state)
            else:
                train.run_training(training, crops, steps, run)
        return torch.load(run / f"weights-{steps}.pt")

    def test_a_run_that_was_interrupted_ends_with_the_same_bits(self):
        folder = Path(self.temporary.name)
        for name in ("spectrum-16k", "codec-16k", "mel-flow-16k"):
            described = tiny(name)
            if name == "mel-flow-16k":
                described["discriminators"] = None
            once = self.run_steps(described, folder / f"{name}-once", ())
            again = self.run_steps(described, folder / f"{name}-again", (2, 4))
            self.assertEqual(set(once), set(again))
            for key, value in once.items():
                self.assertTrue(torch.equal(value, again[key]), f"{name} {key}")
            other = train.Training(described, 2)
            self.assertFalse(all(torch.equal(value, once[key]) for key, value in other.average.items()))

    def test_the_log_of_an_interrupted_run_has_every_step_once(self):
        run = Path(self.temporary.name, "log")
        self.run_steps(tiny(), run, ())
        (run / "log.csv").write_text((run / "log.csv").read_text() + "9,0,0\n")
        train.shorten_log(run / "log.csv", 6)
        rows = (run / "log.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["step", "3", "6"])

    def test_a_few_steps_bring_copies_nearer_and_the_weights_can_be_used(self):
        run = Path(self.temporary.name, "short")
        described = tiny(rate=5e-3, average=0.5, regression_share=1.0)
        train.check_settings(run, {**described, "seed": 1})
        crops = material.Crops(self.material, 16 * 256, 2, 1)
        training = train.Training(described, 1)
        train.run_training(training, crops, 60, run)
        rows = [row.split(",") for row in (run / "log.csv").read_text().splitlines()[1:]]
        mel = [float(row[2]) for row in rows]
        self.assertLess(np.mean(mel[-4:]), 0.85 * np.mean(mel[:4]))
        generator, loaded = copier.load_generator(run)
        self.assertEqual(loaded["name"], "spectrum-16k")
        self.assertEqual(copier.kept_steps(run), [9, 18, 30, 45, 60])
        for key, value in generator.state_dict().items():
            self.assertTrue(torch.equal(value, training.average[key]), key)

    def test_nothing_half_written_is_left_by_save(self):
        run = Path(self.temporary.name, "half")
        run.mkdir()
        train.save({"a": 1}, run / "state.pt")
        with self.assertRaises((AttributeError, pickle.PicklingError)):
            train.save({"a": lambda: 1}, run / "state.pt")
        self.assertEqual(torch.load(run / "state.pt"), {"a": 1})
        shutil.rmtree(run)
