# SPDX-License-Identifier: Apache-2.0
"""Train one generator of settings/*.json.

    python3 -m resynthesis.train NAME --material MATERIAL --run RUN [--size cpu] [--seed 1] [--steps N]
        [--device cuda] [--minutes M]

Writes weights-STEP.pt after shares of the steps (generators that converged differently are different systems), log.csv,
settings.json and state.pt. A restart continues from state.pt, to the bit on the same machine. --minutes ends a run
early, for a later restart.
"""

import argparse
import csv
import json
import math
import time
from pathlib import Path

import torch

from resynthesis.discriminators import Discriminators
from resynthesis.generators import make_generator
from resynthesis.losses import discriminator_loss, fooling_losses, reconstruction, verdicts_and_inner
from resynthesis.material import Crops, Material
from resynthesis.settings import SIZES, load, names
from resynthesis.spectra import Analysis

KEPT_SHARES = (0.15, 0.3, 0.5, 0.75, 1.0)  # shares of the steps after which weights are kept
WEIGHTS = {"mel": 10.0, "spectral": 2.0, "codes": 0.25, "energies": 1.0, "flow": 1.0, "fooling": 1.0, "match": 2.0}
LOGGED = (*WEIGHTS, "discriminator")
WARM_UP_STEPS, GRADIENT_NORM = 100, 20.0
DEFAULTS = {
    "crop_frames": 64,
    "batch": 8,
    "rate": 1e-3,
    "average": 0.999,  # of the weights that are kept
    "regression_share": 0.35,  # of the steps, before the discriminators join
    "discriminator_share": 0.5,  # of a batch, for the discriminators
    "log_every": 25,
    "save_minutes": 3.0,
}


def draw_analysis(rng):
    return Analysis(bands=int(rng.choice([0, 40, 60], p=[0.8, 0.08, 0.12])))


def save(content, path):
    """Atomic write."""
    partial = path.with_suffix(".partial")
    torch.save(content, partial)
    partial.replace(path)


class Training:
    """All state that changes from step to step: randomness depends only on seed and step."""

    def __init__(self, settings, seed, device="cpu"):
        self.settings, self.seed, self.device = settings, seed, torch.device(device)
        self.options = {**DEFAULTS, **settings["training"]}
        torch.manual_seed(seed)
        self.generator = make_generator(settings).to(self.device)
        self.average = {name: value.clone() for name, value in self.generator.state_dict().items()}
        own = settings["discriminators"]
        self.discriminators = Discriminators(**own).to(self.device) if own else None
        self.optimisers = [
            torch.optim.AdamW(network.parameters(), self.options["rate"], betas=(0.8, 0.98), weight_decay=1e-3)
            for network in (self.generator, self.discriminators)
            if network
        ]
        self.step, self.totals = 0, dict.fromkeys(LOGGED, 0.0)

    def state(self):
        return {
            "step": self.step,
            "totals": self.totals,
            "average": self.average,
            "generator": self.generator.state_dict(),
            "discriminators": self.discriminators and self.discriminators.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }

    def restore(self, state):
        self.step, self.totals = state["step"], state["totals"]
        self.average = {name: value.to(self.device) for name, value in state["average"].items()}
        self.generator.load_state_dict(state["generator"])
        if self.discriminators:
            self.discriminators.load_state_dict(state["discriminators"])
        for optimiser, own in zip(self.optimisers, state["optimisers"]):
            optimiser.load_state_dict(own)

    def _low_precision(self):
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def _heard(self, samples):
        with self._low_precision():
            return verdicts_and_inner(self.discriminators(samples))

    def _against_discriminators(self, copy, human):
        """Moves the discriminators; returns the losses."""
        human_verdicts, human_inner = self._heard(human)
        own_loss = discriminator_loss(human_verdicts, self._heard(copy.detach())[0])
        self._move(1, own_loss)
        self.discriminators.requires_grad_(False)
        losses = fooling_losses(human_inner, *self._heard(copy))
        self.discriminators.requires_grad_(True)
        return {**losses, "discriminator": own_loss.detach()}

    def _move(self, index, loss):
        optimiser = self.optimisers[index]
        optimiser.zero_grad()
        loss.backward()
        for group in optimiser.param_groups:
            torch.nn.utils.clip_grad_norm_(group["params"], GRADIENT_NORM)
        optimiser.step()

    def _keep_average(self):
        share = min(self.options["average"], self.step / (self.step + 10))
        for name, value in self.generator.state_dict().items():
            if value.is_floating_point() and not name.startswith("quantiser"):
                self.average[name].lerp_(value, 1 - share)
            else:
                self.average[name].copy_(value)

    def take_step(self, crops, steps):
        human, pulses, rng = crops.batch(self.step)
        torch.manual_seed(self.seed * 1_000_003 + self.step)
        share = self.step / steps
        rate = self.options["rate"] * min(1.0, (self.step + 1) / WARM_UP_STEPS)
        for optimiser in self.optimisers:
            optimiser.param_groups[0]["lr"] = rate * (0.1 + 0.9 * math.cos(share * math.pi / 2))
        human, pulses = human.to(self.device), pulses.to(self.device)
        books = None
        if hasattr(self.generator, "quantiser"):
            books = int(rng.integers(1, len(self.generator.quantiser.codes) + 1))
        self.generator.train()
        with self._low_precision():
            copy, losses = self.generator(human, pulses, draw_analysis(rng), books)
        if copy is not None:
            losses.update(reconstruction(copy, human, self.settings["frames"]["rate_hz"]))
            if self.discriminators and share >= self.options["regression_share"]:
                part = slice(0, max(1, round(len(human) * self.options["discriminator_share"])))
                losses.update(self._against_discriminators(copy[part], human[part]))
        self._move(0, sum(WEIGHTS[name] * value for name, value in losses.items() if name in WEIGHTS))
        self.step += 1
        self._keep_average()
        for name, value in losses.items():
            self.totals[name] += float(value.detach())


def log_row(training, path, minutes):
    """Adds the means since the last row, and returns them."""
    is_new = not path.exists()
    with open(path, "a", newline="") as log:
        writer = csv.writer(log)
        if is_new:
            writer.writerow(["step", "minutes", *LOGGED])
        means = {name: total / training.options["log_every"] for name, total in training.totals.items()}
        writer.writerow([training.step, f"{minutes:.2f}", *(f"{means[name]:.4f}" for name in LOGGED)])
    training.totals = dict.fromkeys(LOGGED, 0.0)
    return means


def shorten_log(path, step):
    """Removes rows that a run wrote after its last state.pt, since it will write them again."""
    if path.exists():
        header, *rows = path.read_text().splitlines(keepends=True)
        path.write_text("".join([header, *(row for row in rows if int(row.split(",")[0]) <= step)]))


def print_losses(step, means):
    print(step, *(f"{name} {value:.3f}" for name, value in means.items() if value), flush=True)


def run_training(training, crops, steps, run, minutes=math.inf, report=lambda step, means: None):
    """True when all steps are done."""
    run.mkdir(parents=True, exist_ok=True)
    kept, state = {max(1, round(steps * share)) for share in KEPT_SHARES}, run / "state.pt"
    if state.exists():
        training.restore(torch.load(state, map_location="cpu"))
        shorten_log(run / "log.csv", training.step)
    started = saved = time.monotonic()
    while training.step < steps and time.monotonic() - started < 60 * minutes:
        training.take_step(crops, steps)
        if training.step % training.options["log_every"] == 0:
            report(training.step, log_row(training, run / "log.csv", (time.monotonic() - started) / 60))
        if training.step in kept:
            save(training.average, run / f"weights-{training.step}.pt")
        if time.monotonic() - saved > 60 * training.options["save_minutes"]:
            save(training.state(), state)
            saved = time.monotonic()
    save(training.state(), state)
    return training.step >= steps


def check_settings(run, settings):
    """Writes the settings, or refuses to continue a run with other settings."""
    path, text = run / "settings.json", json.dumps(settings, indent=2) + "\n"
    if path.exists() and path.read_text() != text:
        raise SystemExit(f"{path} has other settings: continue with those, or name another run")
    run.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=names())
    parser.add_argument("--material", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--size", choices=SIZES, default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, help="instead of those of the settings")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings, run = load(options.name, options.size), Path(options.run)
    steps = options.steps or settings["training"]["steps"]
    check_settings(run, {**settings, "seed": options.seed, "steps": steps, "torch": torch.__version__})
    frames = settings["frames"]
    training = Training(settings, options.seed, options.device)
    crops = Crops(
        Material(Path(options.material, str(frames["rate_hz"]))),
        training.options["crop_frames"] * frames["hop"],
        training.options["batch"],
        options.seed,
    )
    is_done = run_training(training, crops, steps, run, options.minutes, print_losses)
    print("done" if is_done else f"{training.step} of {steps} steps: start it again to go on")


if __name__ == "__main__":
    main()
