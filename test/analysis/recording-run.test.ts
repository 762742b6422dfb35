// SPDX-License-Identifier: Apache-2.0
//
// The steps of a recording hold all windows up to their end, whenever it is stopped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flight, type FlightPath } from '../../src/analysis/pipeline/flight.js';
import { RecordingRun } from '../../src/analysis/pipeline/recording-run.js';
import type { PrepareResult, SlottedInput } from '../../src/analysis/prepare/prepare-task.js';
import { someAnalysis } from '../support/analyser-double.js';

const detector = { id: 'detector', scoreFingerprint: 'a', uncertainBelowConfidence: undefined };

const input = (windowIndex: number): SlottedInput => ({
  windowIndex,
  inputIndex: 0,
  inputsInWindow: 1,
  startS: windowIndex * 5,
  endS: windowIndex * 5 + 5,
  fileProgress: 1,
  slot: windowIndex,
});

type Scored = (output: Float64Array) => void;

/** A recording of three windows; the last one comes with the result of its preparation. */
function begun() {
  const waiting: Scored[] = [];
  const path = {
    slots: { release() {} },
    control: { reset() {}, stop() {}, removePending() {}, takePending() {} },
    scheduler: {
      push: (_: unknown, { scored }: { readonly scored: Scored }) => void waiting.push(scored),
      remove: () => [],
    },
    flights: new Map<number, Flight>(),
  } as unknown as FlightPath;
  const run = new RecordingRun(detector, () => undefined);
  const stopping = new AbortController();
  const flight = new Flight(path, {
    owner: { group: '', isBackground: true },
    model: 0,
    run,
    signal: stopping.signal,
  });
  const { windows: _, timesMs: __, modelId: ___, ...summary } = someAnalysis;
  const result: PrepareResult = {
    ok: true,
    inputs: [input(2)],
    inputCount: 3,
    summary: { ...summary, skipped: [], damagedAtS: [], decodeMs: 1, featuresMs: 1 },
  };
  return { waiting, run, stopping, flight, result };
}

const work = async (flight: Flight, run: RecordingRun, result: Promise<PrepareResult>): Promise<void> => {
  const pool = {
    run(makeTask: (control: number) => undefined) {
      makeTask(0);
      return result;
    },
  };
  const prepared = await flight.prepare(pool, () => undefined);
  if (prepared.ok && prepared.summary) run.prepared(prepared.summary);
};

test('the last step has the windows that came with the end', async () => {
  const { waiting, run, flight, result } = begun();
  flight.accept([input(0), input(1)]);
  await work(flight, run, Promise.resolve(result));
  for (const scored of waiting) scored(Float64Array.of(0.5));
  const step = await run.next();
  assert.ok(step?.isLast);
  assert.deepEqual(
    step.windows.map(({ startS }) => startS),
    [0, 5, 10],
  );
});

test('a recording that was stopped while its end came has no last step', async () => {
  const { waiting, run, stopping, flight, result } = begun();
  flight.accept([input(0), input(1)]);
  for (const scored of waiting) scored(Float64Array.of(0.5));
  const working = work(flight, run, Promise.resolve(result));
  stopping.abort(new Error('The worker stops.'));
  await working;
  await assert.rejects(run.next(), /The worker stops/);
});
