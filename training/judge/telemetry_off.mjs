// SPDX-License-Identifier: Apache-2.0
// Import this before onnxruntime-node, which otherwise reports to its vendor.
process.env.ORT_DISABLE_TELEMETRY = '1';
