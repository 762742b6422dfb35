// SPDX-License-Identifier: Apache-2.0
//
// Memory of a flood returns to the system: containers are sized by it, and killed for it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadAddon } from '../../src/base/addon/addon.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { postForm } from '../support/http-client.js';
import { StreamClient } from '../support/stream-client.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';
import { waveformInput } from '../support/waveform-preparer.js';

const MEBIBYTE = 1 << 20;
const STREAMS = 30;
const RATE_HZ = 192_000;
const UPLOADS = 20;
const PIECE_BYTES = 16 * 1024;
const AUDIO_BYTES = MEBIBYTE;
const THREADS = 4;
const BLOCK_BYTES = 20 * MEBIBYTE;

interface Served {
  readonly pid: number;
  readonly port: number;
  readonly key: string;
}

async function serve(t: TestContext): Promise<Served> {
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
  };
  const key = (await runCli(['keys', 'create'], env)).stdout.trim();
  const server = new Cli(['serve'], env);
  t.after(async () => {
    server.child.kill('SIGKILL');
    await server.finished;
  });
  const [, port] = await server.printed(/"port":(\d+),"msg":"listening"/);
  return { pid: server.child.pid ?? assert.fail(), port: Number(port), key };
}

function memoryMiB(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** Until it is told that this is too fast, or too much. */
async function overfill({ port, key }: Served): Promise<void> {
  const client = await StreamClient.connect(port, {
    path: `/v1/stream?encoding=pcm16&sample_rate=${RATE_HZ}`,
    headers: { 'x-api-key': key },
  });
  if (!(client instanceof StreamClient)) return;
  const piece = Buffer.alloc(100_000, 1);
  while (!client.isClosed) {
    client.audio(piece);
    await new Promise(setImmediate);
  }
}

async function flood(served: Served, streams: number, uploads: number): Promise<void> {
  const { port, key } = served;
  const upload = formBody([fileEntry(monoWav(new Float32Array(960_000), 16_000))]);
  const broken = formBody([fileEntry(noise(2 * MEBIBYTE))]);
  await Promise.all([
    ...Array.from({ length: streams }, () => overfill(served)),
    ...Array.from({ length: uploads }, (_, index) =>
      postForm(port, '/v1/predict', index % 2 === 0 ? upload : broken, { headers: { 'x-api-key': key } }),
    ),
  ]);
}

test('after a flood of streams and uploads the process is as large as before', async (t) => {
  const served = await serve(t);
  const { pid } = served;
  // Modules that any work loads.
  await flood(served, 2, 4);
  const beforeMiB = memoryMiB(pid, 'VmRSS');
  await flood(served, STREAMS, UPLOADS);
  const peakMiB = memoryMiB(pid, 'VmHWM');
  assert.ok(peakMiB > 1.3 * beforeMiB, `a flood of ${peakMiB - beforeMiB} MiB shows nothing`);
  await eventually(() => memoryMiB(pid, 'VmRSS') <= 1.15 * beforeMiB, `Back to ${beforeMiB} MiB and 15 %`);
  t.diagnostic(
    `${beforeMiB.toFixed(0)} MiB before, ${peakMiB.toFixed(0)} at the peak, ${memoryMiB(pid, 'VmRSS').toFixed(0)} after`,
  );
});

// Like the models' own at each reload.
test('large blocks of threads go back, however many there were before', async (t) => {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { loadAddon } = await import(workerData.addonUrl);
    const { freeBuffer } = loadAddon();
    parentPort.on('message', () => {
      for (let i = 0; i < 3; i++) freeBuffer(new Uint8Array(workerData.bytes).fill(1));
      parentPort.postMessage('freed');
    });
    parentPort.postMessage('ready');`;
  const workerData = {
    addonUrl: new URL('../../src/base/addon/addon.js', import.meta.url).href,
    bytes: BLOCK_BYTES,
  };
  const threads = Array.from(
    { length: THREADS },
    () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData }),
  );
  t.after(() => Promise.all(threads.map((thread) => thread.terminate())));
  const allTold = () => Promise.all(threads.map((thread) => once(thread, 'message')));
  await allTold();
  const beforeMiB = memoryMiB(process.pid, 'VmRSS');
  for (const thread of threads) thread.postMessage('begin');
  await allTold();
  await loadAddon().trimHeap();
  const keptMiB = memoryMiB(process.pid, 'VmRSS') - beforeMiB;
  t.diagnostic(`${keptMiB.toFixed(0)} MiB for ${THREADS} threads`);
  const allowedMiB = (THREADS * BLOCK_BYTES) / MEBIBYTE / 2;
  assert.ok(keptMiB < allowedMiB, `${keptMiB.toFixed(0)} MiB are kept, ${allowedMiB} are allowed`);
});

/** Memory per stream, for streams that got the same audio in pieces of this size. */
async function keptPerStreamMiB(t: TestContext, firstId: number, pieceBytes: number): Promise<number> {
  const { LiveStream, closeLiveStream, trimHeap } = loadAddon();
  const format = { encoding: 'pcm16', sampleRateHz: RATE_HZ, channels: 1, preSkip: 0 } as const;
  const options = { minDurationS: 0, maxDurationS: 60, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  const piece = noise(pieceBytes);
  const output = new Float32Array(5 * 16_000);
  await trimHeap();
  const beforeMiB = memoryMiB(process.pid, 'VmRSS');
  for (let id = firstId; id < firstId + STREAMS; id++) {
    t.after(() => closeLiveStream(id));
    const stopFlag = new Int32Array(new SharedArrayBuffer(4));
    const stream = new LiveStream(id, waveformInput(16_000), format, options, stopFlag);
    for (let sent = 0; sent < AUDIO_BYTES; sent += pieceBytes) {
      stream.push(piece);
      while (stream.advance()) stream.next(output);
    }
    stream.release();
  }
  await trimHeap();
  return (memoryMiB(process.pid, 'VmRSS') - beforeMiB) / STREAMS;
}

// The counted part of a stream's state is the same for all.
test('live audio that comes at once leaves no more behind than in pieces', async (t) => {
  await keptPerStreamMiB(t, 0, PIECE_BYTES);
  const inPiecesMiB = await keptPerStreamMiB(t, STREAMS, PIECE_BYTES);
  const atOnceMiB = await keptPerStreamMiB(t, 2 * STREAMS, AUDIO_BYTES);
  const told = `${atOnceMiB.toFixed(2)} MiB at once, ${inPiecesMiB.toFixed(2)} in pieces`;
  t.diagnostic(told);
  assert.ok(atOnceMiB < inPiecesMiB + 0.5, told);
});
