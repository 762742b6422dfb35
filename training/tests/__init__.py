# SPDX-License-Identifier: Apache-2.0
"""Tests: `python3 -m unittest discover -s tests -t .` from training/; neither corpus nor network is needed."""
