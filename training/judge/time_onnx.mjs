// SPDX-License-Identifier: Apache-2.0
// Times models on one thread of onnxruntime-node, one window at a time, in milliseconds. Usage: node time_onnx.mjs SHAPE
// MODEL.onnx... where SHAPE gives the axes of one input: 1x80x498, or 216576 for a flat one.

import './telemetry_off.mjs';
import * as ort from 'onnxruntime-node';

const RUNS = 60;
const shape = process.argv[2].split('x').map(Number);
const size = shape.reduce((product, axis) => product * axis);
// Values like a logarithmic spectrogram's: zeros might cause denormals or shortcuts that speech does not.
const values = Float32Array.from({ length: size }, (_, i) => 2 * Math.sin(i * 0.37));
for (const path of process.argv.slice(3)) {
  const session = await ort.InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const features = new ort.Tensor('float32', values, [1, ...shape]);
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    await session.run({ features });
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${path}: minimum ${times[0].toFixed(2)} ms, median ${times[RUNS / 2].toFixed(2)} ms of ${RUNS} runs`,
  );
  await session.release();
}
