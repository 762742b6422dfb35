// SPDX-License-Identifier: Apache-2.0
//
// onnxruntime reports to its vendor unless this variable is set before its library is loaded: it looks up names, keeps an
// identifier of the machine in the home folder, and crashes on long command lines.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.env.ORT_DISABLE_TELEMETRY = '1';
} else if (process.env.ORT_DISABLE_TELEMETRY !== '1') {
  // A thread has a copy of the environment, which the library does not read.
  throw new Error('The main thread has to load telemetry-off.js before any thread loads onnxruntime-node.');
}
