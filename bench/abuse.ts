// SPDX-License-Identifier: Apache-2.0
//
// Effect of bad and heavy clients on other clients, and on the server's memory. While a few well-behaved
// clients go on asking, 500 connections break off in the middle of an upload, 200 send a byte per second, and
// 64 upload
// 5 MB at once. Passes when no other request failed, the byte budget held, and the memory came back.
//
//   npm run bench abuse
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageDir } from '../src/base/config/package-dir.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';

const abortingConnections = 500;
const tricklingConnections = 200;
const tricklingS = 15;
const largeUploads = 64;
const largeUploadBytes = 5_000_000;
const politeClients = 4;
const allowedGrowth = 1.1;

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const clip = join(packageDir, 'test/fixtures/human-lj-a.flac');
const makeWav = (name: string, ...options: string[]) => {
  const path = join(folder, name);
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-stream_loop', '-1', '-i', clip, ...options],
    ...['-ar', '16000', '-ac', '1', '-c:a', 'pcm_s16le', path],
  ]);
  return readFileSync(path);
};
const smallFile = makeWav('small.wav', '-t', '5');
const largeFile = makeWav('large.wav', '-fs', String(largeUploadBytes));

const { port, apiKey, pid, stop } = await startServer(join(folder, 'data'), {
  // Less than the large uploads need together, so that some must wait for memory.
  VERAVOX_MAX_INFLIGHT_BYTES: String(128 * 1024 * 1024),
  VERAVOX_RECEIVE_TIMEOUT_MS: '60000',
  VERAVOX_QUEUE_TIMEOUT_MS: '120000',
  // All large uploads must be answered, however long they wait.
  VERAVOX_MAX_WAIT_MS: '120000',
  VERAVOX_ANALYSIS_TIMEOUT_MS: '120000',
});
const url = `http://127.0.0.1:${port}`;

function residentMiB(): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

async function predict(file: Uint8Array<ArrayBuffer>): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob([file]), 'clip.wav');
  const response = await fetch(`${url}/v1/predict`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: form,
  });
  await response.arrayBuffer();
  return response.status;
}

async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
}

async function openUpload(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST /v1/predict HTTP/1.1\r\nHost: veravox\r\nx-api-key: ${apiKey}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\n' +
      `Content-Length: ${smallFile.length + 200}\r\n\r\n` +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="clip.wav"\r\n\r\n',
  );
  return socket;
}

async function breakOffInTheMiddle(): Promise<void> {
  const socket = await openUpload();
  const half = smallFile.subarray(0, Math.floor(smallFile.length * Math.random()));
  await new Promise<void>((resolve) => socket.write(half, () => resolve()));
  socket.destroy();
}

async function trickle(): Promise<void> {
  const socket = await openUpload();
  for (let second = 0; second < tricklingS && !socket.destroyed; second++) {
    socket.write('x');
    await delay(1000);
  }
  socket.destroy();
}

async function trim(): Promise<number> {
  // The arena returns its pages after it has been idle for a while.
  await delay(5000);
  return residentMiB();
}

let running = true;
const polite = { ok: 0, failed: 0 };
let arenaPeakBytes = 0;
async function politeClient(): Promise<void> {
  while (running) {
    if ((await predict(smallFile)) === 200) polite.ok++;
    else polite.failed++;
  }
}
async function watchArena(): Promise<void> {
  while (running) {
    arenaPeakBytes = Math.max(arenaPeakBytes, await gauge('veravox_upload_arena_used_bytes'));
    await delay(50);
  }
}

try {
  // Ordinary work, with as many clients and long files, brings the server to its lasting size.
  for (let i = 0; i < 20; i++)
    await Promise.all(Array.from({ length: largeUploads }, () => predict(smallFile)));
  await Promise.all(Array.from({ length: politeClients }, () => predict(largeFile)));
  const beforeMiB = await trim();

  const background = [watchArena(), ...Array.from({ length: politeClients }, politeClient)];
  await Promise.all(Array.from({ length: abortingConnections }, breakOffInTheMiddle));
  await Promise.all(Array.from({ length: tricklingConnections }, trickle));
  const large = await Promise.all(Array.from({ length: largeUploads }, () => predict(largeFile)));
  const peakMiB = residentMiB();
  running = false;
  await Promise.all(background);
  const afterMiB = await trim();
  const report = {
    machine: describeMachine(),
    abortingConnections,
    tricklingConnections,
    tricklingS,
    largeUploads,
    largeUploadBytes,
    largeUploadsAnswered200: large.filter((status) => status === 200).length,
    otherRequestsOk: polite.ok,
    otherRequestsFailed: polite.failed,
    arenaPeakMiB: Math.round(arenaPeakBytes / 2 ** 20),
    arenaTotalMiB: Math.round((await gauge('veravox_upload_arena_total_bytes')) / 2 ** 20),
    arenaUsedBytesAfter: await gauge('veravox_upload_arena_used_bytes'),
    residentMiB: { before: beforeMiB, afterTheLastUpload: peakMiB, after: afterMiB },
  };
  console.log(JSON.stringify(report, null, 2));
  writeFileSync(join(packageDir, 'bench/results/abuse.json'), `${JSON.stringify(report, null, 2)}\n`);
  const passed =
    polite.failed === 0 &&
    report.largeUploadsAnswered200 === largeUploads &&
    report.arenaUsedBytesAfter === 0 &&
    arenaPeakBytes <= 128 * 1024 * 1024 &&
    afterMiB <= beforeMiB * allowedGrowth;
  console.log(passed ? 'passed' : 'FAILED');
  process.exitCode = passed ? 0 : 1;
} finally {
  running = false;
  await stop();
  rmSync(folder, { recursive: true });
}
