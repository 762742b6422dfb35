// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { workerData } from 'piscina';
import {
  isStageError,
  type LiveStream,
  loadAddon,
  type PreparedInput,
  type Preparer,
} from '../../base/addon/addon.js';
import { InputSlots } from '../memory/input-slots.js';
import { giveWayToAll, giveWayToMainThread } from '../threads/thread-priority.js';
import { FOREIGN_FORMAT_BYTES, foreignFormat } from './foreign-format.js';
import type {
  InputsReady,
  LiveTask,
  PrepareResult,
  PrepareTask,
  PrepareWorkerData,
  RangeWanted,
  RecordingTask,
  SlottedInput,
  ThreadReady,
} from './prepare-task.js';
import { RangeMailbox } from './range-mailbox.js';
import { RefusedInputs } from './refused-inputs.js';
import { RunControl } from './run-control.js';
import { isWhole } from './whole-buffer.js';

// While this thread waits for room it looks this often whether the work is still wanted.
const pollMs = 20;

const data = workerData as PrepareWorkerData;
// Before the sandbox, which does not let it.
if (data.isBackground) giveWayToAll();
else giveWayToMainThread();
const arena = new Uint8Array(data.arena);
const slots = new InputSlots(data.slots);
const control = new RunControl(data.control);
const addon = loadAddon();
const preparers = data.modelInputs.map((input) => new addon.Preparer(input));
const refused = data.refused && new RefusedInputs(data.refused);
// The first one loads code that the sandbox would keep out.
digestOf(new Uint8Array(1));
const sandboxFailure = data.sandbox === 'off' ? undefined : addon.sandboxThisThread();
if (sandboxFailure !== undefined && data.sandbox === 'required')
  throw new Error(
    `VERAVOX_DECODER_SANDBOX is required, but this system does not support the filter: ${sandboxFailure}`,
  );

parentPort?.postMessage({
  ready: true,
  ...(sandboxFailure !== undefined && { sandboxFailure }),
} satisfies ThreadReady);

class Stopped extends Error {}
class Refused extends Error {}

function digestOf(...pieces: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/** Before anything reads the bytes: a crash of this thread from now on is remembered by their digest. */
function note(digest: () => Uint8Array): void {
  if (refused === undefined) return;
  const known = digest();
  if (refused.has(known)) throw new Refused();
  addon.noteInput(known);
}

/** Prepares one file and announces its inputs as they come; the last ones travel with the result. */
export default function prepare(task: PrepareTask | RecordingTask | LiveTask): PrepareResult {
  return 'stream' in task ? prepareLive(task) : prepareFile(task);
}

// Piscina loads this module by `require`. Without this name, Node.js makes a copy of the module for it, and aborts the process if
// the thread is ended meanwhile.
export { prepare as 'module.exports' };

function prepareFile(task: PrepareTask | RecordingTask): PrepareResult {
  const preparer = preparers[task.model] as Preparer;
  const deadlineMs = performance.now() + task.options.timeLimitMs;
  const held: SlottedInput[] = [];
  let inputCount = 0;
  let slot: number | undefined;
  const file = 'mailbox' in task ? recordingOf(task, preparer) : memoryOf(task, preparer);
  try {
    file.open();
    for (;;) {
      slot = takeSlot(task, held, deadlineMs);
      const input = preparer.next(slots.view(slot, preparer.inputSize));
      if (input === undefined) break;
      // Earlier inputs go out now; the newest waits, as it may be the last.
      announce(task.id, held);
      control.addPending(task.control);
      held.push({ ...input, slot, ...file.besides(input) });
      slot = undefined;
      inputCount++;
    }
    return { ok: true, inputs: held, inputCount, summary: preparer.summary() };
  } catch (error) {
    return { ok: false, inputs: held, inputCount, ...describe(error, task, file.start()) };
  } finally {
    if (slot !== undefined) slots.release(slot);
    preparer.close();
    addon.forgetInput();
  }
}

/** Goes on with live audio; all inputs travel with the result. */
function prepareLive(task: LiveTask): PrepareResult {
  const { control: run, format, options, pieces } = task;
  const deadlineMs = performance.now() + options.timeLimitMs;
  const held: SlottedInput[] = [];
  let stream: LiveStream | undefined;
  let slot: number | undefined;
  try {
    note(() => digestOf(...pieces));
    const input = data.modelInputs[task.model] as string;
    stream = new addon.LiveStream(task.stream, input, format, options, control.stopFlag(run));
    for (const piece of pieces) stream.push(piece);
    // This thread may have no more work for hours, and no reason to collect garbage.
    for (const piece of pieces) if (isWhole(piece)) addon.freeBuffer(piece);
    if (task.isLast) stream.finish();
    if (task.closerWindows.length > 0) stream.lookCloser({ windows: task.closerWindows });
    let hasMore = false;
    const { inputSize } = preparers[task.model] as Preparer;
    while (stream.advance()) {
      // Held inputs are not kept back from scoring while this thread would wait for scoring.
      slot = held.length === 0 ? takeSlot(task, [], deadlineMs) : slots.acquire(0);
      hasMore = slot === undefined;
      if (slot === undefined) break;
      const prepared = stream.next(slots.view(slot, inputSize));
      if (prepared === undefined) break;
      held.push({ ...prepared, slot });
      slot = undefined;
      // Its score may ask for windows that begin before it: their audio is dropped if the stream goes on without them.
      hasMore = prepared.isCloser === undefined && prepared.inputIndex + 1 === prepared.inputsInWindow;
      if (hasMore) break;
    }
    const live = { ...stream.state(), hasMore };
    const summary = live.atEnd ? { summary: stream.summary() } : {};
    return { ok: true, inputs: held, inputCount: held.length, live, ...summary };
  } catch (error) {
    return { ok: false, inputs: held, inputCount: held.length, ...describe(error, task, new Uint8Array(0)) };
  } finally {
    if (slot !== undefined) slots.release(slot);
    stream?.release();
    addon.forgetInput();
  }
}

/** The source of a task's bytes. */
interface TaskFile {
  open(): void;
  /** Further parts of an input. */
  besides(input: PreparedInput): Pick<SlottedInput, 'skippedBefore' | 'checkpoint'> | undefined;
  /** The first bytes, as far as they are known. */
  start(): Uint8Array;
}

function memoryOf(task: PrepareTask, preparer: Preparer): TaskFile {
  const bytes = bytesOf(task);
  return {
    open() {
      note(() => digestOf(bytes));
      preparer.open(bytes, task.options, control.stopFlag(task.control));
    },
    besides: () => undefined,
    start: () => bytes,
  };
}

function recordingOf(task: RecordingTask, preparer: Preparer): TaskFile {
  const mailbox = new RangeMailbox(task.mailbox);
  let start = new Uint8Array(0);
  const read = (offset: number, length: number): Uint8Array => {
    mailbox.open();
    if (control.isStopped(task.control)) throw new Stopped();
    const { id } = task;
    parentPort?.postMessage({ id, offset, length, decodedS: preparer.decodedS } satisfies RangeWanted);
    const range = mailbox.take(length);
    if (range === undefined) throw new Error('The range cannot be read.');
    if (offset === 0) start = range.slice(0, FOREIGN_FORMAT_BYTES);
    return range;
  };
  return {
    open() {
      note(() => task.digest);
      const file = { bytes: task.bytes, blockBytes: mailbox.maxRangeBytes, read };
      preparer.openSource(file, task.options, control.stopFlag(task.control), task.checkpoint);
    },
    besides({ inputIndex, inputsInWindow }) {
      const skippedBefore = preparer.takeSkipped();
      const checkpoint = inputIndex + 1 === inputsInWindow ? preparer.takeCheckpoint() : undefined;
      return {
        ...(skippedBefore.length > 0 && { skippedBefore }),
        ...(checkpoint !== undefined && { checkpoint }),
      };
    },
    start: () => start,
  };
}

function bytesOf({ region: { offset, length }, memory }: PrepareTask): Uint8Array {
  return (memory === undefined ? arena : new Uint8Array(memory)).subarray(offset, offset + length);
}

function announce(id: number, held: SlottedInput[]): void {
  if (held.length === 0) return;
  parentPort?.postMessage({ id, inputs: held.splice(0) } satisfies InputsReady);
}

function takeSlot(
  { id, control: run }: Pick<PrepareTask, 'id' | 'control'>,
  held: SlottedInput[],
  deadlineMs: number,
): number {
  let slot = control.waitForRoom(run, data.maxPendingInputs, 0) ? slots.acquire(0) : undefined;
  if (slot !== undefined) return slot;
  // Nothing may be kept back from scoring while this thread waits for scoring.
  announce(id, held);
  while (slot === undefined) {
    if (control.isStopped(run) || performance.now() > deadlineMs) throw new Stopped();
    if (control.waitForRoom(run, data.maxPendingInputs, pollMs)) slot = slots.acquire(pollMs);
  }
  return slot;
}

function describe(error: unknown, task: Pick<PrepareTask, 'control'>, bytes: Uint8Array) {
  if (error instanceof Refused) {
    return { code: 'REFUSED' as const, message: 'It has ended the process before.', measuredS: 0 };
  }
  if (error instanceof Stopped) {
    const code = control.isStopped(task.control) ? ('CANCELLED' as const) : ('DEADLINE' as const);
    return { code, message: 'The work was stopped.', measuredS: 0 };
  }
  if (isStageError(error)) {
    const { code, measuredS } = error;
    const format = code === 'UNSUPPORTED_FORMAT' ? foreignFormat(bytes) : undefined;
    const message = format === undefined ? error.message : `it looks like ${format}.`;
    return { code, message, measuredS };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'INTERNAL' as const, message, measuredS: 0 };
}
