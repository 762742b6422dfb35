// SPDX-License-Identifier: Apache-2.0
// Runs windows through onnxruntime-node, the serving runtime: float32 features on stdin, the model's only output as
// float32 on stdout: one logit or embedding per window. Usage: node score_onnx.mjs MODEL.onnx BANDS FRAMES

import './telemetry_off.mjs';
import * as ort from 'onnxruntime-node';

const [modelPath, bands, frames] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const session = await ort.InferenceSession.create(modelPath, { intraOpNumThreads: 1, interOpNumThreads: 1 });
const windowBytes = bands * frames * 4;
const numbers = [];
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
      const outputs = await session.run({ features });
      numbers.push(...outputs[session.outputNames[0]].data);
      filled = 0;
    }
  }
}
if (filled !== 0) throw new Error(`stdin ended ${filled} bytes into a window of ${windowBytes}`);
process.stdout.write(Buffer.from(Float32Array.from(numbers).buffer));
await session.release();
