// SPDX-License-Identifier: Apache-2.0
//
// Run as a process of its own: exits 0 when a session with the given model can be made on CUDA.
import { InferenceSession } from './onnxruntime.js';

const session = await InferenceSession.create(process.argv[2] as string, { executionProviders: ['cuda'] });
await session.release();
