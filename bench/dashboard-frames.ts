// SPDX-License-Identifier: Apache-2.0
//
// Frames per second while the timeline of six hours is zoomed and moved, in Chromium without a GPU. Each frame has a turn of
// the wheel or a step of a drag, and is counted when the browser asks for the next one.
//
//   npm run bench:dashboard-frames
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../src/base/config/package-dir.js';
import { someAnalysis } from '../test/support/analyser-double.js';
import { launchBrowser } from '../test/support/browser.js';
import { openPlayground, startPlaygroundServer } from '../test/support/playground.js';
import { describeMachine } from './machine.js';

const DURATION_S = 6 * 3600;
const WINDOW_S = 5;
const WINDOWS = DURATION_S / WINDOW_S;
/** Low, so that the file is small; the peaks are as fine as those of any recording of this length. */
const RATE_HZ = 200;
const GOAL_PER_S = 30;
const FRAMES = 240;

function wav(): Buffer {
  const file = Buffer.alloc(44 + DURATION_S * RATE_HZ, 128);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE_HZ, 24);
  file.writeUInt32LE(RATE_HZ, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(DURATION_S * RATE_HZ, 40);
  for (let i = 44; i < file.length; i++) file[i] = 128 + 120 * Math.sin(i * i * 1e-4) * Math.sin(i / 9000);
  return file;
}

/** Runs in the page: zooms in and out again around a point that wanders, and moves while it is near. */
const measuring = `(async (frames) => {
  const canvas = document.querySelector('.timeline canvas');
  canvas.focus();
  const { left, top, width } = canvas.getBoundingClientRect();
  const turn = (deltaX, deltaY, share) => canvas.dispatchEvent(new WheelEvent('wheel', {
    deltaX, deltaY, clientX: left + 60 + share * (width - 80), clientY: top + 100, bubbles: true, cancelable: true,
  }));
  const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const times = { zoom: [], move: [] };
  for (let i = 0; i < 30; i++) await next();
  for (let i = 0, last = await next(); i < frames; i++) {
    turn(0, i < frames / 2 ? -90 : 90, 0.5 + 0.4 * Math.sin(i / 20));
    const now = await next();
    times.zoom.push(now - last);
    last = now;
  }
  for (const closer of [0, 12, 14]) {
    for (let i = 0; i < closer; i++) turn(0, -120, 0.5);
    for (let i = 0, last = await next(); i < frames / 3; i++) {
      turn(i % 40 < 20 ? 60 : -60, 0, 0.5);
      const now = await next();
      times.move.push(now - last);
      last = now;
    }
  }
  return times;
})(${FRAMES})`;

function figuresOf(times: readonly number[]) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const sum = times.reduce((total, time) => total + time, 0);
  return {
    frames: times.length,
    framesPerSecond: round((1000 * times.length) / sum),
    msPerFrame: { p50: round(at(0.5)), p95: round(at(0.95)), max: round(at(1)) },
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;

test(`a timeline of ${WINDOWS} windows is drawn ${GOAL_PER_S} times per second`, async (t) => {
  const { origin, analyser } = await startPlaygroundServer(t);
  analyser.answer = () => ({
    ...someAnalysis,
    durationS: DURATION_S,
    windows: Array.from({ length: WINDOWS }, (_, i) => ({
      startS: i * WINDOW_S,
      endS: (i + 1) * WINDOW_S,
      scores: [0.5 + 0.5 * Math.sin(i * i)],
    })),
  });
  const browser = await launchBrowser(t);
  const sizes: Record<string, object> = {};
  for (const [width, height] of [
    [1280, 900],
    [3840, 2160],
  ] as const) {
    const page = await openPlayground(t, browser, origin, { width, height });
    const buffer = wav();
    await page.locator('input[type=file]').setInputFiles({ name: 'day.wav', mimeType: 'audio/wav', buffer });
    await page.getByRole('button', { name: 'Analyse' }).click();
    await page.getByText(`${WINDOWS} windows as a table`).waitFor();
    await page.getByText('The waveform is being made').waitFor({ state: 'detached' });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Performance.enable');
    const busyS = async (): Promise<number> => {
      const { metrics } = await devTools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    };
    const before = await busyS();
    const { zoom, move } = (await page.evaluate(measuring)) as Record<'zoom' | 'move', number[]>;
    const msOfThePagePerFrame = round((1000 * (await busyS()) - 1000 * before) / (zoom.length + move.length));
    sizes[`${width}x${height}`] = { zoom: figuresOf(zoom), move: figuresOf(move), msOfThePagePerFrame };
    assert.ok(figuresOf(zoom).framesPerSecond >= GOAL_PER_S, JSON.stringify(sizes));
    assert.ok(figuresOf(move).framesPerSecond >= GOAL_PER_S, JSON.stringify(sizes));
    await page.close();
  }
  const result = { machine: describeMachine(), browser: browser.version(), windows: WINDOWS, ...sizes };
  const text = `${JSON.stringify(result, undefined, 2)}\n`;
  fs.writeFileSync(path.join(packageDir, 'bench/results/dashboard-frames.json'), text);
  console.log(text);
});
