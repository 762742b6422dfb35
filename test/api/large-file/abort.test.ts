// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predictHead, RawClient } from '../../support/http-client.js';
import { type PipelineServer, startPipelineServer } from '../../support/pipeline-server.js';
import { undisturbedTime } from '../../support/undisturbed.js';

const PATH = '/v1/predict/large-file';
const STOPPED_WITHIN_MS = 100;
const speech = path.join(packageDir, 'test/fixtures/human-lj-a.flac');

const encode = (...options: string[]): Buffer =>
  formBody([fileEntry(execFileSync('ffmpeg', ['-v', 'error', ...options, '-'], { maxBuffer: 64 << 20 }))]);
const muLaw = encode(
  '-stream_loop',
  '-1',
  '-i',
  speech,
  '-t',
  '1200',
  '-ar',
  '8000',
  '-c:a',
  'pcm_mulaw',
  '-f',
  'wav',
);
const silentMp3 = encode(
  '-f',
  'lavfi',
  '-i',
  'anullsrc=r=16000:cl=mono',
  '-t',
  '1200',
  '-b:a',
  '40k',
  '-f',
  'mp3',
);

/** Ms from the client's leaving until work for it has stopped (without time taken by other work), and CPU time used in the next 500 ms. */
async function abortAt(
  { port, analyser }: PipelineServer,
  body: Buffer,
  untilTime: (analyser: PipelineServer['analyser']) => Promise<void>,
): Promise<{ stoppedMs: number; cpuMs: number }> {
  const ended = new Promise<void>((resolve) => {
    analyser.onEnd = resolve;
  });
  const time = untilTime(analyser);
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'content-length': body.length }, PATH));
  await client.write(body);
  await Promise.race([time, client.closed]);
  assert.ok(!client.socket.destroyed, `refused: ${client.received}`);
  const took = undisturbedTime();
  client.socket.destroy();
  await ended;
  const stoppedMs = took();
  // A batch that a scoring thread has begun is not interrupted; it is within the allowed time.
  await delay(Math.max(0, STOPPED_WITHIN_MS - stoppedMs));
  const before = process.cpuUsage();
  await delay(500);
  const { user, system } = process.cpuUsage(before);
  return { stoppedMs, cpuMs: (user + system) / 1000 };
}

const cases: [what: string, body: Buffer, time: (analyser: PipelineServer['analyser']) => Promise<void>][] = [
  [
    'while windows are scored',
    muLaw,
    (analyser) =>
      new Promise((resolve) => {
        analyser.onProgress = ({ scoredWindows }) => scoredWindows >= 20 && resolve();
      }),
  ],
  [
    'while nothing but silence is decoded',
    silentMp3,
    (analyser) =>
      new Promise((resolve) => {
        analyser.onStart = () => void setTimeout(resolve, 50);
      }),
  ],
];
for (const [what, body, time] of cases) {
  test(`a client that leaves ${what} stops the work within ${STOPPED_WITHIN_MS} ms`, async (t) => {
    const server = await startPipelineServer(t, { maxLargeFileBytes: 12 << 20 });
    // Other work can delay a thread, never speed it up: the best of five is the server's own time.
    const runs: { stoppedMs: number; cpuMs: number }[] = [];
    for (let run = 0; run < 5; run++) runs.push(await abortAt(server, body, time));
    const stopped = runs.filter((run) => run.stoppedMs > 0);
    assert.ok(stopped.length > 0, 'the work was over before the client left');
    const stoppedMs = Math.min(...stopped.map((run) => run.stoppedMs));
    const cpuMs = Math.min(...stopped.map((run) => run.cpuMs));
    t.diagnostic(
      runs.map((run) => `${run.stoppedMs.toFixed(1)} ms, CPU ${run.cpuMs.toFixed(0)} ms`).join('; '),
    );
    assert.ok(stoppedMs < STOPPED_WITHIN_MS, `stopped after ${stoppedMs} ms`);
    // One thread that kept working would use 500.
    assert.ok(cpuMs < 100, `${cpuMs} ms of CPU time were used after that`);
    assert.equal(server.arena.usedBytes, 0);
  });
}
