// SPDX-License-Identifier: Apache-2.0
// Scores windows with onnxruntime-node, the runtime that serves: float32 features on stdin, float32 logits on stdout.
// Usage: node score_onnx.mjs MODEL.onnx BANDS FRAMES

import * as ort from 'onnxruntime-node';

const [modelPath, bands, frames] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const session = await ort.InferenceSession.create(modelPath, { intraOpNumThreads: 1, interOpNumThreads: 1 });
const windowBytes = bands * frames * 4;
const logits = [];
const window = new Uint8Array(windowBytes);
let filled = 0;
for await (const chunk of process.stdin) {
  for (let read = 0; read < chunk.length; ) {
    const count = Math.min(chunk.length - read, windowBytes - filled);
    window.set(chunk.subarray(read, read + count), filled);
    read += count;
    filled += count;
    if (filled === windowBytes) {
      const features = new ort.Tensor('float32', new Float32Array(window.buffer), [1, 1, bands, frames]);
      const { logit } = await session.run({ features });
      logits.push(logit.data[0]);
      filled = 0;
    }
  }
}
if (filled !== 0) throw new Error(`stdin ended ${filled} bytes into a window of ${windowBytes}`);
process.stdout.write(Buffer.from(Float32Array.from(logits).buffer));
await session.release();
