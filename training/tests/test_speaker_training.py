# SPDX-License-Identifier: Apache-2.0
"""Speakers in originals, training crops of the speaker model, and its losses."""

import csv
import unittest

import numpy as np

from data.speaker_labels import clips_by_person, people_of_sources, person_of
from data.speaker_sampler import SPEEDS, SpeakerCropSampler
from features.recipe import SAMPLE_RATE_HZ
from tests.support import WithFolder, has_torch, needs_onnx, needs_torch

if has_torch:
    import torch

    from networks.speaker import MarginClassifier, SpeakerNetwork, export_onnx, pair_loss


class Labels(WithFolder):
    def test_one_person_has_one_name_on_all_pages(self):
        names = [
            ("a/a", "vctk_p225"),
            ("b/b", "VCTK-p225"),
            ("c/c", "c.c:VCTK-p225"),
        ]
        self.assertEqual({person_of(*name) for name in names}, {("vctk", "vctk:p225")})
        libri = [("a/a", "ls_1089"), ("b/b", "libri_1089"), ("c/c", "LibriTTS-1089"), ("c/c", "LibriSpeech-1089")]
        self.assertEqual({person_of(*name) for name in libri}, {("libri", "libri:1089")})
        self.assertNotEqual(person_of("a/a", "M04"), person_of("b/b", "M04"))

    def _sources(self, rows):
        fields = ["label", "split", "speaker", "repository", "path", "start_s", "corpus_path"]
        with open(self.folder / "sources.csv", "w", newline="") as table:
            writer = csv.DictWriter(table, fields)
            writer.writeheader()
            writer.writerows({**dict.fromkeys(fields, ""), **row} for row in rows)
        with open(self.folder / "index.csv", "w", newline="") as table:
            writer = csv.writer(table)
            writer.writerows([["path", "speaker_verified"], ["sure.flac", "yes"], ["guess.flac", "no"]])

    def test_labels_count_if_they_name_a_person_and_are_not_guesses(self):
        row = {"label": "bonafide", "split": "train", "repository": "r/r", "speaker": "x"}
        self._sources(
            [
                {**row, "path": "new.wav"},
                {**row, "path": "sure.wav", "corpus_path": "sure.flac"},
                {**row, "path": "guess.wav", "corpus_path": "guess.flac"},
                {**row, "path": "generated.wav", "label": "spoof"},
                {**row, "path": "other-split.wav", "split": "valid"},
                {**row, "path": "nobody.wav", "speaker": ""},
                {**row, "path": "anyone.wav", "speaker": "female"},
                {**row, "path": "language.wav", "repository": "KDE/klettres"},
            ]
        )
        found = people_of_sources(self.folder, "train", self.folder)
        self.assertEqual(set(found), {"r/r/new.wav#", "r/r/sure.wav#"})
        coded = people_of_sources(self.folder, "train", self.folder, only_corpus=True)
        self.assertEqual(set(coded), {"r/r/sure.wav#"})

    def test_people_who_judge_are_left_out(self):
        people = {"a": ("c", "c:1"), "b": ("c", "c:2")}
        clips = [{"path": path, "label": "bonafide"} for path in ("a", "b", "unknown")]
        self.assertEqual(clips_by_person(clips, people, {"c:2"}), {("c", "c:1"): [clips[0]]})


class NotingCache:
    variants = 2

    def __init__(self):
        self.drawn = []

    def samples(self, clip, variant=0, start=0, count=None):
        self.drawn.append((clip["path"], variant))
        count = clip["samples"] - start if count is None else count
        return np.random.default_rng(clip["number"]).standard_normal(start + count).astype(np.float32)[start:]


def people_of_campaigns(campaigns=4, people=8, clips=4, seconds=6):
    return {
        (f"c{campaign}", f"c{campaign}:{person}"): [
            {
                "path": f"{campaign}/{person}/{clip}",
                "source": f"c{campaign}",
                "samples": seconds * SAMPLE_RATE_HZ,
                "number": 100 * campaign + 10 * person + clip,
            }
            for clip in range(clips)
        ]
        for campaign in range(campaigns)
        for person in range(people)
    }


class Sampler(unittest.TestCase):
    def test_a_batch_has_pairs_of_different_clips_among_strangers_of_their_campaign(self):
        cache = NotingCache()
        sampler = SpeakerCropSampler(cache, people_of_campaigns(), 1, 24)
        for index in range(4):
            cache.drawn.clear()
            samples, classes = sampler.batch(index)
            self.assertEqual(len(samples), 24)
            np.testing.assert_array_equal(classes[:12], classes[12:])
            people = classes[:12] // len(SPEEDS)
            campaigns = [sampler.names[person][0] for person in people]
            for first in (0, 6):
                self.assertEqual(len(set(campaigns[first : first + 6])), 1)
                self.assertEqual(len(set(people[first : first + 6])), 6)
            paths = [path for path, _ in cache.drawn]
            for first, second in zip(paths[::2], paths[1::2]):
                self.assertEqual(first.rsplit("/", 1)[0], second.rsplit("/", 1)[0])
                self.assertNotEqual(first, second)

    def test_both_the_recording_and_its_chain_are_drawn_and_a_batch_can_be_drawn_again(self):
        cache = NotingCache()
        sampler = SpeakerCropSampler(cache, people_of_campaigns(), 1, 24)
        first = sampler.batch(3)
        self.assertEqual({variant for _, variant in cache.drawn}, {0, 1})
        again = SpeakerCropSampler(NotingCache(), people_of_campaigns(), 1, 24).batch(3)
        np.testing.assert_array_equal(first[0], again[0])
        np.testing.assert_array_equal(first[1], again[1])

    def test_a_speaker_of_one_short_word_is_no_class(self):
        people = people_of_campaigns(1, 2)
        people["c0", "short"] = [{"path": "short", "source": "c0", "samples": 16000, "number": 0}]
        self.assertEqual(SpeakerCropSampler(NotingCache(), people, 1, 4).classes, 2 * len(SPEEDS))


@needs_torch
class Losses(unittest.TestCase):
    def test_pairs_cost_less_the_nearer_they_are_and_the_farther_strangers_are(self):
        axes = torch.eye(4, 256)
        speakers = torch.tensor([0, 1, 2, 3] * 2)
        good = pair_loss(torch.cat([axes, axes]), speakers).item()
        mixed = pair_loss(torch.cat([axes, axes.roll(1, 0)]), speakers).item()
        alike = pair_loss(torch.cat([axes[:1].expand(4, -1)] * 2), speakers).item()
        self.assertLess(good, 0.01)
        self.assertLess(good, alike)
        self.assertLess(alike, mixed)

    def test_a_speaker_who_is_drawn_twice_is_not_pushed_away_from_himself(self):
        axes = torch.eye(2, 256)[[0, 0, 1]]
        twice = torch.cat([axes, axes])
        self.assertLess(pair_loss(twice, torch.tensor([0, 0, 1] * 2)).item(), 0.01)
        self.assertGreater(pair_loss(twice, torch.tensor([0, 1, 2] * 2)).item(), 0.5)

    def test_the_margin_makes_the_same_embedding_dearer(self):
        classifier = MarginClassifier(3)
        centres = classifier.centres.detach()
        embeddings = torch.nn.functional.normalize(centres + 0.9 * centres.roll(1, 0))
        cost = lambda margin: classifier(embeddings, torch.arange(3), margin)[0].item()
        self.assertGreater(cost(0.2), cost(0.0))


@needs_onnx
class Recovery(WithFolder):
    def test_a_speaker_model_taken_out_of_its_file_computes_what_the_file_does(self):
        from export.recover_weights import parameters_of, rebuild

        torch.manual_seed(2)
        windows = np.random.default_rng(2).standard_normal((12, 1, 80, 120)).astype(np.float32)
        network = SpeakerNetwork(80).train()
        with torch.no_grad():
            network(torch.from_numpy(windows))  # its own statistics
            expected = network.eval()(torch.from_numpy(windows)).numpy()
        export_onnx(network, str(self.folder / "model.onnx"), 80, 120)
        rebuilt = rebuild("speaker", parameters_of(self.folder / "model.onnx"), windows).eval()
        with torch.no_grad():
            made = rebuilt(torch.from_numpy(windows)).numpy()
        np.testing.assert_allclose(made, expected, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
