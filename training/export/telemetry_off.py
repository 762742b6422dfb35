# SPDX-License-Identifier: Apache-2.0
"""Import this before onnxruntime, which otherwise reports to its vendor."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
