# SPDX-License-Identifier: Apache-2.0
"""The commands that rebuild the shipped models."""

import argparse
import csv
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import rebuild
from judge.detector_card import SHIPPED
from tests.support import WithFolder, needs_onnx

PLACES = {name: name.upper() for name in ("python", "sources", "mirrors", "corpus", "work", "date")}
COMMANDS = [command.format(**PLACES) for commands in rebuild.steps().values() for command in commands]


class ParsedError(Exception):
    """Ends a program once its options are read."""


def parse_and_stop(parser, *arguments):
    _, unknown = parser.parse_known_args(*arguments)
    if unknown:
        raise ValueError(f"unknown: {unknown}")
    raise ParsedError


class Recipe(unittest.TestCase):
    @needs_onnx
    def test_every_command_has_options_that_its_program_knows(self):
        for command in COMMANDS:
            if not command.startswith("PYTHON"):
                continue
            _, _, module, *arguments = shlex.split(command.partition(" > ")[0])
            with (
                self.subTest(command),
                mock.patch.object(sys, "argv", [module, *arguments]),
                mock.patch.object(argparse.ArgumentParser, "parse_args", parse_and_stop),
                self.assertRaises(ParsedError),
            ):
                importlib.import_module(module).main()

    def test_what_a_command_reads_an_earlier_one_has_written(self):
        written, is_written = set(), re.compile(r"(?:--(?:out|run|json|cache|models)|>|-p) (WORK/[^\s>]+)")
        for command in COMMANDS:
            # Caches and models are written in place; the first command that names them makes them.
            written.update(is_written.findall(command))
            for place in re.findall(r"WORK/[^\s>]+", command):
                self.assertTrue({place, *map(str, Path(place).parents)} & written, f"{place} in {command}")

    def test_rounds_are_those_of_the_shipped_weights(self):
        for size, name in (("small", "small"), ("middle", "medium")):
            folder = SHIPPED / f"detector-{name}-2026-11-25"
            count = len(rebuild.ROUNDS[size])
            for number, (steps, rate, seed, more) in enumerate(rebuild.ROUNDS[size], 1):
                suffix = "" if number == count else f"-round-{number}"
                settings = json.loads((folder / f"settings{suffix}.json").read_text())
                with open(folder / f"log{suffix}.csv", newline="") as log:
                    last = list(csv.DictReader(log))[-1]
                said = settings["size"], settings["seed"], settings["peak_rate"], settings["without"]
                self.assertEqual(said, (size, seed, float(rate), ["enhancement"]))
                self.assertEqual(int(last["step"]), steps)
                self.assertEqual(more, f" --stretch {settings['stretch']}" if settings.get("stretch") else "")

    def test_networks_on_curves_are_those_that_ship(self):
        for kind, runs in (("phase_coherence", ("5", "room-5")), ("long_phase_coherence", ("9", "room-9"))):
            described = rebuild.CURVES[kind]
            for run, (steps, seed, shares), banks in zip(runs, described["runs"], rebuild.BANKS_OF_RUNS):
                settings = json.loads((SHIPPED / "window-curves-2026-11-25" / run / "settings.json").read_text())
                self.assertEqual((settings["kind"], settings["steps"], settings["seed"]), (kind, steps, seed))
                self.assertEqual(settings["stretch"], described["stretch"])
                self.assertEqual(settings["shares"], [float(share) for share in shares.split()])
                self.assertEqual(
                    (settings["banks"], settings["crops"]), (list(banks), [rebuild.BANKS[b][1] for b in banks])
                )


class Resuming(WithFolder):
    def run_step(self, *commands):
        rebuild.run_step("step", list(commands), self.folder, dict(os.environ))

    def test_a_finished_step_runs_no_more(self):
        command = f"echo run >> {self.folder}/runs"
        self.run_step(command)
        self.run_step(command)
        self.assertEqual((self.folder / "runs").read_text(), "run\n")

    def test_a_step_that_broke_off_runs_again(self):
        command = f"test -e {self.folder}/ready && echo run >> {self.folder}/runs"
        with self.assertRaisesRegex(SystemExit, "step ended with 1"):
            self.run_step(command)
        (self.folder / "ready").touch()
        self.run_step(command)
        self.assertEqual((self.folder / "runs").read_text(), "run\n")

    def test_other_commands_than_it_began_with_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "step ended with 1"):
            self.run_step("false")
        with self.assertRaisesRegex(SystemExit, "other commands"):
            self.run_step("true")


class CommandLine(unittest.TestCase):
    def run_it(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "VERAVOX_CORPUS"}
        command = [sys.executable, rebuild.__file__, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def test_an_unknown_step_and_a_missing_folder_are_refused(self):
        self.assertIn("no such step: large-9", self.run_it("--list", "large-9").stderr)
        missing = self.run_it("--sources", "a", "--work", "b", "--date", "2027-01-01")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("needed: --mirrors --corpus", missing.stderr)

    def test_the_list_has_the_commands_of_the_steps(self):
        listed = self.run_it("--list", "cache").stdout
        self.assertRegex(listed, r"(?s)\Acache:\n  python3 -m data.prepare_chains .*WORK/cache\n\Z")


if __name__ == "__main__":
    unittest.main()
