// SPDX-License-Identifier: Apache-2.0
//
// This room is `veravox doctor --privacy`: it runs a server briefly and reports its network contacts and
// the files that it wrote.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { options } from '../../base/config/options.js';
import { noiseRecording } from './noise-recording.js';
import { socketsBeyond } from './observed-sockets.js';
import { outsideContacts, straceCommand } from './system-calls.js';

export interface PrivacyReport {
  /** The method, and its blind spots. */
  readonly method: string;
  /** Contacts and changes outside the data folder; empty when all is well. */
  readonly contacts: readonly string[];
  /** Files in the home, temporary and working folders afterwards. */
  readonly leftFiles: readonly string[];
}

const SAMPLE_MS = 5;
const STEP_TIMEOUT_MS = 120_000;

/**
 * Runs a server briefly, with empty folders for home and temporary files, lets it analyse a recording, and observes its
 * contacts and the files that it writes.
 * @param main the program's entry
 */
export async function testPrivacy(main: string): Promise<PrivacyReport> {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-privacy-')));
  try {
    const [home, temporary, data, working] = ['home', 'tmp', 'data', 'working'].map((name) => {
      fs.mkdirSync(path.join(folder, name));
      return path.join(folder, name);
    }) as [string, string, string, string];
    const firstKeyFile = path.join(data, 'first-key');
    const env = {
      ...forOneServerAlone(process.env),
      HOME: home,
      TMPDIR: temporary,
      HOST: '127.0.0.1',
      PORT: '0',
      VERAVOX_DATA_DIR: data,
      VERAVOX_FIRST_KEY_FILE: firstKeyFile,
      VERAVOX_LOG_LEVEL: 'error',
      VERAVOX_STOP_GRACE_MS: '0',
    };
    const traceFile = path.join(folder, 'trace');
    const isTraced = canTrace(traceFile);
    const [program = '', ...args] = [
      ...(isTraced ? straceCommand(traceFile) : []),
      process.execPath,
      main,
      'serve',
    ];
    const child = spawn(program, args, { cwd: working, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const seen = new Set<string>();
    let port: number | undefined;
    const sampling = setInterval(() => {
      for (const socket of socketsBeyond(child.pid ?? 0, port)) seen.add(socket);
    }, SAMPLE_MS);
    const ended = once(child, 'close');
    try {
      port = await listeningPort(child);
      await analyse(port, fs.readFileSync(firstKeyFile, 'utf8').trim());
      child.kill('SIGTERM');
      await ended;
    } finally {
      clearInterval(sampling);
      child.kill('SIGKILL');
    }
    const traced = isTraced ? await finishedTrace(traceFile, child.pid ?? 0) : '';
    return {
      method: isTraced
        ? 'every system call, with strace'
        : `sockets every ${SAMPLE_MS} ms and three folders, because strace is missing or not permitted: shorter contacts and files elsewhere go unnoticed`,
      contacts: isTraced
        ? outsideContacts(traced, { paths: [data], listening: `127.0.0.1:${port}` })
        : [...seen],
      leftFiles: [home, temporary, working].flatMap((place) =>
        fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => path.join(place, name)),
      ),
    };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** None of them makes a contact or needs another setting. */
const KEPT = new Set(
  [
    options.device,
    options.cudaDevices,
    options.prepareThreads,
    options.scoringThreads,
    options.decoderSandbox,
    options.maxBatchWindows,
  ].map(({ variable }) => variable),
);

/** The environment of a server for itself, with the models of the one in use. */
function forOneServerAlone(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const modelsDir = options.modelsDir.variable;
  return {
    ...Object.fromEntries(
      Object.entries(env).filter(([name]) => KEPT.has(name) || !/^(VERAVOX|OTEL)_/.test(name)),
    ),
    // The server's working folder is another one.
    ...(env[modelsDir] && { [modelsDir]: path.resolve(env[modelsDir]) }),
  };
}

function canTrace(traceFile: string): boolean {
  const [strace = '', ...args] = straceCommand(traceFile);
  return spawnSync(strace, [...args, process.execPath, '--version'], { stdio: 'ignore' }).status === 0;
}

async function listeningPort(child: ChildProcess): Promise<number> {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  const deadlineMs = performance.now() + STEP_TIMEOUT_MS;
  while (child.exitCode === null && performance.now() < deadlineMs) {
    const [, port] = /(?:ready|running) on http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
    await pause(SAMPLE_MS);
  }
  throw new Error(`The server for the check did not start. ${text}`.trim());
}

async function analyse(port: number, key: string): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([noiseRecording(6)]), 'noise.wav');
  // It is no speech.
  form.set('silence_threshold', '100');
  const answer = await fetch(`http://127.0.0.1:${port}/v1/predict`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
    signal: AbortSignal.timeout(STEP_TIMEOUT_MS),
  });
  if (!answer.ok)
    throw new Error(`The server for the check answered ${answer.status}: ${await answer.text()}`);
}

async function finishedTrace(file: string, pid: number): Promise<string> {
  const deadlineMs = performance.now() + STEP_TIMEOUT_MS;
  for (;;) {
    const trace = fs.readFileSync(file, 'utf8');
    if (hasEnd(trace, pid)) return trace;
    if (performance.now() > deadlineMs)
      throw new Error('The trace of the server for the check is incomplete.');
    await pause(SAMPLE_MS);
  }
}

/** strace marks the end of a process with three plus signs after its number. */
const hasEnd = (trace: string, pid: number): boolean =>
  trace.split('\n').some((line) => {
    const [process, mark, how] = line.split(' ').filter((word) => word !== '');
    return process === String(pid) && mark === '+++' && (how === 'exited' || how === 'killed');
  });
