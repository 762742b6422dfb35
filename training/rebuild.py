#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rebuild the shipped models, from recordings to files with calibration and known answers.

    ./rebuild.py --list
    ./rebuild.py --sources SOURCES --mirrors MIRRORS --corpus CORPUS --work WORK [STEP ..]

Runs the named steps, or all, in the order of --list. WORK/steps notes finished ones; an interrupted run goes on there.
To repeat a step, delete its note and what it wrote. The models are in WORK/models; the voice activity network is
written into native/vad.
"""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

TRAINING = Path(__file__).resolve().parent
# Weights of these were not kept: their files are read from the commits that had them.
STARTS = {
    "small": ("e0a041ec", "detector-small-2026-11-22"),
    "speaker": ("c9ff9d90", "voiceprint-1-2026-11-21"),
}
# The rounds of each network: steps, peak learning rate, seed and, in the last one, frequencies stretched. The second
# round of `middle` was planned longer.
ROUNDS = {
    "small": [
        (2400, "6e-4", 20261122, ""),
        (2000, "6e-4", 20261126, ""),
        (18272, "1e-3", 20261125, ""),
        (25801, "1e-3", 20261202, ""),
        (10238, "8e-4", 20261203, " --stretch 0.1"),
    ],
    "middle": [
        (4200, "1.5e-3", 20261127, ""),
        (4153, "1e-3", 20261123, ""),
        (10828, "1e-3", 20261124, ""),
        (18224, "1e-3", 20261201, ""),
        (5386, "8e-4", 20261204, " --stretch 0.1"),
    ],
}
DETECTORS = {"large": ("middle", "small"), "medium": ("middle",), "small": ("small",)}
OPERATING_POINTS = {"large": 0.75, "medium": 0.76, "small": 0.72}
# Crops of a window's curves by what they went through: seed, number, changes.
BANKS = {
    "disturbed": (1, 96000, "high-pass=0.25 noise=0.2 hum=0.3 tones=0.15"),
    "plain": (3, 64000, ""),
    "roomy": (61, 32000, "room=0.6 high-pass=0.2 noise=0.2 hum=0.2 tones=0.1"),
    "echoes": (63, 12800, "echoes=1 high-pass=0.1 noise=0.1 hum=0.1 tones=0.1"),
    "mixed": (62, 32000, "high-pass=0.15 noise=0.15 hum=0.15 tones=0.1"),
}
# Each kind's run before rooms and in rooms: steps, seed, shares of the banks.
CURVES = {
    "phase_coherence": {"share": 0.25, "stretch": 0.1, "runs": [(2500, 9, "1 1"), (1200, 65, "2 1 3")]},
    "long_phase_coherence": {"share": 0.55, "stretch": 0.15, "runs": [(4000, 51, "2 1"), (1200, 69, "2 1 3")]},
}
BANKS_OF_RUNS = [("disturbed", "plain"), ("roomy", "echoes", "mixed")]
# Tensors before the last sums of a detector's graph.
VECTORS = {
    "large": "/head/head.0/BatchNormalization_output_0 /head/head.0_1/BatchNormalization_output_0",
    "medium": "/head/head.0/BatchNormalization_output_0",
    "small": "/head/head.0/BatchNormalization_output_0",
}


def material(name):
    return {
        "originals": [
            "{python} -m data.prepare_originals --sources {sources} --mirrors {mirrors} --corpus {corpus}"
            " --out {work}/originals"
        ],
        "cache": [
            "{python} -m data.prepare_chains --originals {work}/originals --cache {work}/cache --variants 1"
            " --copies 2100 --max-seconds 7",
            "{python} -m data.published_copies --cache {work}/cache",
        ],
    }[name]


def start(size):
    commit, model = STARTS[size]
    file = f"{{work}}/starts/{model}.onnx"
    return [
        "mkdir -p {work}/starts",
        f"git show {commit}:models/{model}.onnx > {file}",
        f"{{python}} -m export.recover_weights --model {file} --size {size} --cache {{work}}/cache"
        f" --out {{work}}/runs/{size}-0",
    ]


def training_round(size, number):
    steps, rate, seed, more = ROUNDS[size][number - 1]
    has_start = number > 1 or size in STARTS
    before = f" --start-from {{work}}/runs/{size}-{number - 1}/last.pt" if has_start else ""
    return [
        f"{{python}} -m train.detector --size {size} --cache {{work}}/cache --run {{work}}/runs/{size}-{number}"
        f" --steps {steps} --peak-rate {rate} --seed {seed} --without enhancement --compile{more}{before}"
    ]


def bank(kind, name):
    seed, crops, changes = BANKS[name]
    return [
        f"{{python}} -m window_curves.bank --kind {kind} --cache {{work}}/cache --out {{work}}/banks/{kind}/{name}"
        f" --crops {crops} --seed {seed} --without enhancement augmentation"
        + (f" --changes {changes}" if changes else "")
    ]


def curve_round(kind, number):
    described = CURVES[kind]
    steps, seed, shares = described["runs"][number - 1]
    banks = " ".join(f"{{work}}/banks/{kind}/{name}" for name in BANKS_OF_RUNS[number - 1])
    before = f" --start-from {{work}}/runs/{kind}-{number - 1}/last.pt" if number > 1 else ""
    return [
        f"{{python}} -m window_curves.train --kind {kind} --run {{work}}/runs/{kind}-{number} --banks {banks}"
        f" --shares {shares} --steps {steps} --seed {seed} --stretch {described['stretch']}{before}"
    ]


def bands(size):
    weights = " ".join(f"{{work}}/runs/{network}-{len(ROUNDS[network])}/last.pt" for network in DETECTORS[size])
    shares = " --shares 2 1" if len(DETECTORS[size]) > 1 else ""
    return [
        "mkdir -p {work}/bands",
        f"{{python}} -m export.detector --quantise {{work}}/cache --models {{work}}/bands --model-id {size}"
        f" --weights {weights}{shares}",
    ]


def join(size, more=""):
    curves = " ".join(
        f"--{kind.replace('_', '-')} {{work}}/runs/{kind}-{len(of['runs'])}/last.pt"
        f" --{kind.replace('_', '-')}-share {of['share']}"
        for kind, of in CURVES.items()
    )
    return (
        f"{{python}} -m export.join_curves --detector {{work}}/bands/{size}.onnx --models {{work}}/models"
        f" --model-id detector-{size}-{{date}} --operating-point {OPERATING_POINTS[size]} {curves}{more}"
    )


def measure(listed, out):
    models = " ".join(f"--model detector-{size}-{{date}}" for size in DETECTORS)
    return (
        f"VERAVOX_MODELS_DIR={{work}}/models node ../scripts/bench.mjs clip-measures {{work}}/{listed}/list.csv"
        f" --out {{work}}/{out}.csv {models}"
    )


def on_detectors(command):
    return [command.replace("SIZE", size) for size in DETECTORS]


def steps():
    """{name: shell commands with {places}}, in order."""
    found = {name: material(name) for name in ("originals", "cache")}
    found["start-small"] = start("small")
    for size, rounds in ROUNDS.items():
        found |= {f"{size}-{number}": training_round(size, number) for number in range(1, len(rounds) + 1)}
    for kind, of in CURVES.items():
        found |= {f"bank-{kind}-{name}": bank(kind, name) for name in BANKS}
        found |= {f"{kind}-{number}": curve_round(kind, number) for number in range(1, len(of["runs"]) + 1)}
    found |= {f"bands-{size}": bands(size) for size in DETECTORS}
    found["detectors"] = ["mkdir -p {work}/models", "cp -r ../models/known-answers {work}/models"]
    found["detectors"] += [join(size) for size in DETECTORS]
    found["judge"] = [
        "{python} -m judge.originals files --originals {work}/originals --out {work}/judge",
        "{python} -m judge.make_conditions --list {work}/judge/list.csv --part all --codecs --clips 600"
        " --out {work}/codecs",
        measure("judge", "raw-measures"),
    ]
    calibration = " --calibration {work}/calibration-%s.json"
    found["calibration"] = [
        *on_detectors(
            "{python} -m judge.calibrate_detector {work}/raw-measures.csv --models {work}/models"
            " --model-id detector-SIZE-{date} --out {work}/calibration-SIZE.json"
        ),
        *(join(size, calibration % size) for size in DETECTORS),
    ]
    judged = "--models {work}/models --model-id detector-SIZE-{date} --write"
    found["reasons"] = [
        measure("judge", "measures"),
        measure("codecs", "codec-measures"),
        *on_detectors(f"{{python}} -m judge.calibrate_codecs {{work}}/codec-measures.csv {judged}"),
        *on_detectors(f"{{python}} -m judge.abstention {{work}}/measures.csv {judged}"),
    ]
    heads = " ".join(f"{kind}//networks.0/head/head.0/Flatten_output_0" for kind in CURVES)
    found["vectors"] = [
        f"{{python}} -m export.generated_vectors --cache {{work}}/cache --models {{work}}/models"
        f" --model-id detector-{size}-{{date}} --outputs {outputs} {heads}"
        for size, outputs in VECTORS.items()
    ]
    found["start-speaker"] = start("speaker")
    speaker = (
        "{python} -m export.speaker --models {work}/models --model-id voiceprint-1-{date}"
        " --weights {work}/runs/speaker-1/last.pt"
    )
    found["speaker-1"] = [
        "{python} -m train.speaker --cache {work}/cache --sources {sources} --run {work}/runs/speaker-1 --steps 750"
        " --peak-rate 8e-4 --start-from {work}/runs/speaker-0/last.pt"
    ]
    trials = "{work}/trials --model {work}/models/voiceprint-1-{date}.onnx"
    found["voiceprint"] = [
        speaker,
        "{python} -m judge.speaker_originals recordings --originals {work}/originals --sources {sources}"
        " --out {work}/trials",
        f"{{python}} -m judge.speaker_originals figures {trials} --json {{work}}/voiceprint.json",
        f"{{python}} -m judge.strangers {trials} > {{work}}/strangers.txt",
        f"{speaker} --figures {{work}}/voiceprint.json",
    ]
    found["known-answers"] = [
        "node ../dist/cli/main.js models record --models-dir {work}/models --tolerance 0.008",
        "{python} -m export.gpu_twins --models {work}/models",
        "node ../dist/cli/main.js models check --models-dir {work}/models",
    ]
    found["voice-activity"] = ["{python} -m vad.train --corpus {corpus}"]
    return found


def run_step(name, commands, notes, environment):
    """Runs what is not noted as finished. Refuses to go on with other commands than those a step began with."""
    note, text = notes / name, "\n".join(commands) + "\n"
    if note.exists() and note.read_text() == text + "finished\n":
        print(f"{name}: finished before")
        return
    if note.exists() and note.read_text() != text:
        raise SystemExit(f"{note} is of other commands. Delete it, and what the step wrote, to repeat the step.")
    note.write_text(text)
    for command in commands:
        print(f"{name}: {command}", flush=True)
        if status := subprocess.run(command, shell=True, cwd=TRAINING, env=environment).returncode:
            raise SystemExit(f"{name} ended with {status}. The same command goes on from there.")
    note.write_text(text + "finished\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the steps and their commands")
    parser.add_argument("--sources", default="SOURCES", help="folder of sources.csv")
    parser.add_argument("--mirrors", default="MIRRORS", help="folder of bare git mirrors, OWNER+NAME")
    parser.add_argument("--corpus", default=os.environ.get("VERAVOX_CORPUS", "CORPUS"), help="folder of index.csv")
    parser.add_argument("--work", default="WORK")
    parser.add_argument("--date", default="DATE", help="the day on which training ends, in the models' ids")
    parser.add_argument("steps", nargs="*", metavar="STEP")
    options = parser.parse_args()
    known = steps()
    if unknown := [name for name in options.steps if name not in known]:
        parser.error(f"no such step: {' '.join(unknown)}; --list has all")
    needed = ("sources", "mirrors", "corpus", "work", "date")
    if not options.list and (missing := [name for name in needed if getattr(options, name) == name.upper()]):
        parser.error(f"needed: {' '.join(f'--{name}' for name in missing)}")
    asis = (lambda path: path) if options.list else (lambda path: str(Path(path).resolve()))
    places = {name: shlex.quote(asis(getattr(options, name))) for name in needed if name != "date"}
    places |= {"date": options.date, "python": "python3" if options.list else shlex.quote(sys.executable)}
    chosen = {
        name: [command.format(**places) for command in commands]
        for name, commands in known.items()
        if not options.steps or name in options.steps
    }
    if options.list:
        for name, commands in chosen.items():
            print(f"{name}:", *commands, sep="\n  ")
        return
    notes = Path(options.work) / "steps"
    notes.mkdir(parents=True, exist_ok=True)
    for name, commands in chosen.items():
        run_step(name, commands, notes, {**os.environ, "VERAVOX_CORPUS": str(Path(options.corpus).resolve())})


if __name__ == "__main__":
    main()
