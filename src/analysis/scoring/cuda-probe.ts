// SPDX-License-Identifier: Apache-2.0
//
// Run as a process of its own: exits 0 when a session with the given model can be made on the GPU with the given number,
// and otherwise says on standard output why not. Standard error has lines of the libraries.
import { InferenceSession } from './onnxruntime.js';

const [, , modelPath, index] = process.argv;
try {
  const session = await InferenceSession.create(modelPath as string, {
    executionProviders: [{ name: 'cuda', deviceId: Number(index) }],
  });
  await session.release();
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
