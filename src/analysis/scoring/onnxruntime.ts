// SPDX-License-Identifier: Apache-2.0
//
// The one file that loads onnxruntime-node, so that it is never loaded with its telemetry on.
import './telemetry-off.js';

export { InferenceSession, Tensor } from 'onnxruntime-node';
