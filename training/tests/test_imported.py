# SPDX-License-Identifier: Apache-2.0
"""Public detectors with random weights: networks, checkpoints in every published form, and the resulting files. No real
checkpoint was available.
"""

import json
import os
import pickle
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

from tests.support import WithFolder, has_torch, needs_onnx, needs_torch

if has_torch:
    import torch
    from torch import nn

    from imported.aasist import Aasist, GraphAttention
    from imported.checkpoint import CheckpointError, read_tensors, split_checkpoint
    from imported.convert import tried_inputs
    from imported.encoder import Attention, Layer, Structure, distance_buckets, frames_of
    from imported.families import FAMILIES, FOUR_SECONDS, Options, load
    from imported.heads import Sls
    from imported.nes2net import Nes2Net
    from imported.random_checkpoint import SIZES, random_state, structure_of

    TINY = Options(heads=4)
    NAMES = sorted(FAMILIES)


def detector_of(family, size="tiny", change=lambda state: state):
    return load(family, change(random_state(family, size)), TINY)


def logits_of(detector):
    samples = tried_inputs(FOUR_SECONDS if hasattr(detector.head, "fc0") else 16000)
    with torch.no_grad():
        return detector(samples)


def hugging_face_names(state, prefix):
    """As transformers names the same parameters."""
    is_large = prefix + "feature_extractor.conv_layers.1.2.1.weight" in state
    renamed = {}
    for name, tensor in state.items():
        if name.startswith(prefix):
            own = name[len(prefix) :]
            own = re.sub(r"(conv_layers\.\d+)\.0\.", r"\1.conv.", own)
            own = re.sub(r"(conv_layers\.\d+)\.2(\.1)?\.", r"\1.layer_norm.", own)
            own = re.sub(r"^layer_norm", "feature_projection.layer_norm", own)
            own = own.replace("post_extract_proj", "feature_projection.projection")
            own = own.replace(
                "encoder.pos_conv.0.weight_g", "encoder.pos_conv_embed.conv.parametrizations.weight.original0"
            )
            own = own.replace(
                "encoder.pos_conv.0.weight_v", "encoder.pos_conv_embed.conv.parametrizations.weight.original1"
            )
            own = own.replace("encoder.pos_conv.0", "encoder.pos_conv_embed.conv")
            own = own.replace("self_attn_layer_norm", "layer_norm").replace(
                "self_attn.grep_a", "attention.gru_rel_pos_const"
            )
            own = own.replace("self_attn.grep_linear", "attention.gru_rel_pos_linear")
            own = own.replace("self_attn.relative_attention_bias", "attention.rel_attn_embed")
            own = own.replace("self_attn", "attention").replace(".fc1.", ".feed_forward.intermediate_dense.")
            own = own.replace(".fc2.", ".feed_forward.output_dense.").replace("mask_emb", "masked_spec_embed")
            name = prefix + own
        renamed[name] = tensor
    assert is_large or any("conv_layers.0.layer_norm" in name for name in renamed)
    return renamed


@needs_torch
class Networks(unittest.TestCase):
    def test_a_layer_is_that_of_pytorch_with_normalisation_before_or_after(self):
        torch.manual_seed(1)
        for size in ("tiny", "tiny-base"):
            structure = Structure(**SIZES[size])
            layer = Layer(structure, has_bias=False).eval()
            other = nn.TransformerEncoderLayer(
                structure.width, structure.heads, structure.inner_width, activation="gelu", batch_first=True,
                norm_first=structure.is_large,
            ).eval()  # fmt: skip
            attention = layer.self_attn
            parts = (attention.q_proj, attention.k_proj, attention.v_proj)
            with torch.no_grad():
                other.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
                other.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
            for mine, theirs in (
                (attention.out_proj, other.self_attn.out_proj),
                (layer.fc1, other.linear1),
                (layer.fc2, other.linear2),
                (layer.self_attn_layer_norm, other.norm1),
                (layer.final_layer_norm, other.norm2),
            ):
                theirs.load_state_dict(mine.state_dict())
            x = torch.randn(2, 30, structure.width)
            with torch.no_grad():
                np.testing.assert_allclose(layer(x, None), other(x), atol=2e-5)

    def test_distances_fall_into_the_buckets_of_the_paper(self):
        found = distance_buckets(1000, 320).numpy()
        for query, key in ((0, 0), (5, 3), (3, 5), (0, 79), (0, 80), (80, 0), (0, 200), (0, 799), (0, 999), (999, 0)):
            distance, half, near = abs(key - query), 160, 80
            bucket = distance
            if distance >= near:
                bucket = min(near + int(np.log(distance / near) / np.log(800 / near) * (half - near)), half - 1)
            self.assertEqual(found[query, key], bucket + (half if key > query else 0), (query, key))

    def test_the_gate_of_wavlm_scales_the_bias_by_the_frame(self):
        torch.manual_seed(1)
        structure = structure_of("wavlm-mhfa", "tiny")
        attention = Attention(structure, has_bias=True).eval()
        x = torch.randn(1, 6, structure.width)
        with torch.no_grad():
            attention.grep_a.uniform_(0.5, 1.5)
            gate = attention._gate(x)[0, :, :, 0].numpy()
            for head in range(structure.heads):
                part = x[0, 4, head * attention.depth : (head + 1) * attention.depth]
                made = attention.grep_linear(part).numpy()
                first, second = (1 / (1 + np.exp(-made[at : at + 4].sum())) for at in (0, 4))
                expected = first * (second * float(attention.grep_a[0, head, 0, 0]) - 1) + 2
                self.assertAlmostEqual(gate[head, 4], expected, places=5)

    def test_a_node_of_a_graph_takes_up_the_others(self):
        torch.manual_seed(1)
        layer = GraphAttention(8, 6).eval()
        nodes = torch.randn(1, 5, 8)
        with torch.no_grad():
            found = layer(nodes)[0]
            for i in range(5):
                likeness = [
                    (torch.tanh(layer.att_proj(nodes[0, i] * nodes[0, j])) @ layer.att_weight).item() / 2
                    for j in range(5)
                ]
                shares = np.exp(likeness) / np.sum(np.exp(likeness))
                taken = sum(float(share) * nodes[0, j] for j, share in enumerate(shares))
                both = layer.proj_with_att(taken) + layer.proj_without_att(nodes[0, i])
                expected = nn.functional.selu(both / np.sqrt(1 + layer.bn.eps))
                np.testing.assert_allclose(found[i], expected, atol=1e-5)

    def test_sizes_are_those_of_the_published_checkpoints(self):
        self.assertEqual(frames_of(FOUR_SECONDS), 201)
        self.assertEqual(list(Sls(1024, 201, 1024).fc1.weight.shape), [1024, 22847])
        aasist = Aasist(1024).state_dict()
        self.assertEqual(list(aasist["pos_S"].shape), [1, 42, 64])
        self.assertEqual(list(aasist["out_layer.weight"].shape), [2, 160])
        # In thousands, rounded as in the papers.
        for head, published in (
            (Aasist(1024), 447),
            (Sls(1024, 201, 1024), 23_399),
            (Nes2Net(width=1024, parts=8, inner_parts=8, kernel=3, dilation=2, reduced=128, pooling_bottleneck=0), 511),
        ):
            self.assertAlmostEqual(sum(tensor.numel() for tensor in head.parameters()) / 1000, published, delta=1.1)


@needs_torch
class Checkpoints(WithFolder):
    def test_every_family_loads_and_tells_two_inputs_apart(self):
        for family in NAMES:
            made = logits_of(detector_of(family))
            self.assertEqual(list(made.shape), [2, 2], family)
            self.assertTrue(bool(torch.isfinite(made).all()), family)
            self.assertGreater(float((made[0] - made[1]).abs().max()), 1e-4, family)

    def test_names_of_fairseq_and_hugging_face_and_prefixes_mean_the_same(self):
        for family, size in (("xlsr-aasist", "tiny"), ("nii-antideepfake", "tiny-base"), ("wavlm-mhfa", "tiny")):
            prefix = FAMILIES[family].encoder_name
            expected = logits_of(detector_of(family, size))
            changes = {
                "prefix": lambda state: {f"module.{name}": tensor for name, tensor in state.items()},
                "names": lambda state, prefix=prefix: hugging_face_names(state, prefix),
                "half": lambda state: {name: tensor.half().float() for name, tensor in state.items()},
            }
            for what, change in changes.items():
                made = logits_of(detector_of(family, size, change))
                np.testing.assert_allclose(
                    made, expected, atol=2e-2 if what == "half" else 1e-6, err_msg=f"{family} {what}"
                )

    def test_weight_normalisation_is_multiplied_out(self):
        conv = nn.utils.weight_norm(nn.Conv1d(8, 8, 4, groups=2), dim=2)
        with torch.no_grad():
            conv.weight_g.uniform_(0.5, 2)
        start = "ssl_model.model.encoder.pos_conv.0."
        state = {start + name: tensor for name, tensor in conv.state_dict().items()}
        state["ssl_model.model.feature_extractor.conv_layers.0.0.weight"] = torch.zeros(1)
        conv(torch.zeros(1, 8, 9))
        encoder, _ = split_checkpoint(state, "ssl_model.model.")
        np.testing.assert_allclose(encoder["encoder.pos_conv.0.weight"], conv.weight.detach(), atol=1e-6)

    def test_all_that_does_not_fit_is_listed(self):
        def spoil(state):
            state["LL.weight"] = torch.zeros(128, 47)
            del state["out_layer.bias"], state["ssl_model.model.encoder.layers.1.fc1.bias"]
            state["proj_fc.weight"] = torch.zeros(2, 2)
            state["pos_S"][0, 0, 0] = float("nan")
            return state

        with self.assertRaises(CheckpointError) as raised:
            detector_of("xlsr-aasist", change=spoil)
        text = str(raised.exception)
        self.assertIn("1 missing: ssl_model.model.encoder.layers.1.fc1.bias.", text)
        self.assertIn("1 missing: out_layer.bias.", text)
        self.assertIn("1 unexpected: proj_fc.weight.", text)
        self.assertIn("1 of another shape: LL.weight [128, 47] instead of [128, 48].", text)
        self.assertIn("1 with numbers that are not finite: pos_S.", text)

    def test_a_checkpoint_of_another_family_is_refused(self):
        for family in NAMES:
            for other in NAMES:
                if other != family:
                    with self.assertRaises(CheckpointError, msg=f"{other} as {family}"):
                        load(family, random_state(other, "tiny"), TINY)

    def test_an_encoder_of_no_published_size_needs_its_heads(self):
        with self.assertRaisesRegex(CheckpointError, "48 numbers: say with --heads"):
            load("xlsr-aasist", random_state("xlsr-aasist", "tiny"), Options())

    def test_files_of_pytorch_and_safetensors_have_the_same_tensors(self):
        state = {"b.weight": torch.randn(3, 5), "a": torch.arange(4), "h": torch.randn(7).half()}
        for content in (state, {"state_dict": state, "epoch": 3}, {"model": state}):
            torch.save(content, self.folder / "c.pth")
            for name, tensor in read_tensors(self.folder / "c.pth").items():
                self.assertTrue(torch.equal(tensor, state[name]))
        header, content = {}, b""
        for name, tensor in state.items():
            own = tensor.numpy().tobytes()
            kind = {"float32": "F32", "int64": "I64", "float16": "F16"}[str(tensor.dtype).split(".")[1]]
            header[name] = {
                "dtype": kind,
                "shape": list(tensor.shape),
                "data_offsets": [len(content), len(content) + len(own)],
            }
            content += own
        text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
        (self.folder / "c.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + content)
        found = read_tensors(self.folder / "c.safetensors")
        self.assertEqual(sorted(found), sorted(state))
        for name, tensor in found.items():
            self.assertTrue(torch.equal(tensor, state[name]))

    def test_files_that_are_no_checkpoints_are_refused_and_none_runs_code(self):
        proof = self.folder / "proof"

        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {proof}",)

        (self.folder / "evil.pth").write_bytes(pickle.dumps({"x": Evil()}, protocol=2))
        torch.save({"x": torch.zeros(1), "y": Evil()}, self.folder / "evil2.pth")
        (self.folder / "text.pth").write_text("<!doctype html>")
        (self.folder / "empty.pth").write_bytes(b"")
        torch.save({"epoch": 1}, self.folder / "nothing.pth")
        (self.folder / "short.safetensors").write_bytes(struct.pack("<Q", 1 << 40))
        text = json.dumps({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}).encode()
        (self.folder / "cut.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"1234")
        for file in (
            "evil.pth",
            "evil2.pth",
            "text.pth",
            "empty.pth",
            "nothing.pth",
            "short.safetensors",
            "cut.safetensors",
            "gone.pth",
        ):
            with self.assertRaises(CheckpointError, msg=file):
                read_tensors(self.folder / file)
        self.assertFalse(proof.exists())


@needs_onnx
class Files(WithFolder):
    def convert(self, family, *options, size="tiny"):
        checkpoint = self.folder / f"{family}.pth"
        torch.save(random_state(family, size), checkpoint)
        arguments = [
            "--family",
            family,
            "--checkpoint",
            str(checkpoint),
            "--name",
            "m",
            "--out",
            str(self.folder),
            "--heads",
            "4",
        ]
        run = subprocess.run(
            [sys.executable, "-m", "imported.convert", *arguments, *options],
            cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads((self.folder / "report.json").read_text())

    def run_file(self, report):
        from export import telemetry_off  # noqa: F401

        # isort: split
        import onnxruntime

        samples = np.fromfile(self.folder / "inputs.f32", "<f4").reshape(-1, report["window_samples"])
        return onnxruntime.InferenceSession(str(self.folder / "m.onnx")).run(None, {"waveform": samples})[0]

    def test_the_file_of_every_family_gives_the_logits_of_pytorch(self):
        for family in NAMES:
            report = self.convert(family)
            np.testing.assert_allclose(self.run_file(report), report["logits"], atol=1e-5, err_msg=family)
            self.assertEqual(report["spoof_index"], 1 if family == "wavlm-mhfa" else 0)

    def test_half_precision_and_weights_beside_the_graph(self):
        import onnx

        report = self.convert("xlsr-nes2net", "--precision", "float16", "--max-inside-bytes", "0")
        np.testing.assert_allclose(self.run_file(report), report["logits"], atol=1e-2)
        graph = onnx.load(str(self.folder / "m.onnx"), load_external_data=False).graph
        places = {
            entry.value for tensor in graph.initializer for entry in tensor.external_data if entry.key == "location"
        }
        self.assertEqual(places, {"m.onnx.data"})
        kinds = {tensor.data_type for tensor in graph.initializer}
        self.assertEqual(kinds, {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16})


class Command(WithFolder):
    def test_packages_that_are_missing_are_named(self):
        run = subprocess.run(
            f"{sys.executable} -S -m imported.convert --family x --checkpoint c --name n --out .".split(),
            cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, env={},
        )  # fmt: skip
        self.assertEqual((run.returncode, run.stderr.split()), (4, ["numpy", "onnx", "torch"]))
