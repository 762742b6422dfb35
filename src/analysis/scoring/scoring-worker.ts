// SPDX-License-Identifier: Apache-2.0
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { InputSlots } from '../memory/input-slots.js';
import { forGpu } from '../models/gpu-twin.js';
import type { ModelSource } from '../models/model-source.js';
import { giveWayToMainThread } from '../threads/thread-priority.js';
import { ModelSession } from './model-session.js';
import type { ScoringResult, ScoringTask, ScoringWorkerData } from './scoring-task.js';

const data = workerData as ScoringWorkerData;
const slots = new InputSlots(data.slots);
const sessions: ModelSession[] = [];
// Before sessions are made: their threads inherit the priority of this one.
giveWayToMainThread();

const nothing: ScoringResult = { outputs: new Float64Array(0) };

// Normally called once, by the warm-up; again in a thread that was replaced.
async function loadSessions(): Promise<void> {
  const isGpu = data.device.provider !== 'cpu';
  const sources = (isGpu && data.gpuSources) || data.sources;
  try {
    for (const [index, entry] of data.models.entries()) {
      const source = sources[index] as ModelSource;
      const model = isGpu ? forGpu(entry) : entry;
      // onnxruntime-node takes no shared memory.
      const own = source instanceof Uint8Array ? new Uint8Array(source) : source;
      const session = await ModelSession.load(own, model, data.device, data.maxBatchInputs);
      sessions.push(session);
      await session.warmUp();
    }
  } catch (error) {
    // The next task loads all of them, and a lost device never comes back while one is alive.
    await releaseSessions().catch(() => {});
    throw error;
  }
}

async function releaseSessions(): Promise<void> {
  // One that cannot be released is not kept either.
  const failures: unknown[] = [];
  for (const session of sessions.splice(0)) {
    await session.release().catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

// Numbers beyond these are moved to the main thread; for fewer, copying is quicker.
const maxCopiedNumbers = 64;

function handedOver(result: ScoringResult): ScoringResult {
  if (result.outputs.length <= maxCopiedNumbers) return result;
  // Piscina takes the result out of this wrapping on the other side, which its types cannot say.
  const wrapped = { [transferableSymbol]: [result.outputs.buffer], [valueSymbol]: result };
  return move(wrapped as never) as unknown as ScoringResult;
}

/** Owns the model sessions of one thread. Sessions are made once and released before the thread ends. */
export default async function score(task: ScoringTask): Promise<ScoringResult> {
  switch (task.kind) {
    case 'warm-up':
      await loadSessions();
      return nothing;
    case 'score': {
      if (sessions.length === 0) await loadSessions();
      const session = sessions[task.model] as ModelSession;
      const inputs = task.slots.map((slot) => slots.view(slot, session.inputSize));
      const vectors = task.wantsVectors ? new Float32Array(inputs.length * session.vectorSize) : undefined;
      const outputs = await session.score(inputs, task.sounds, vectors);
      return handedOver({ outputs, ...(vectors && { vectors }) });
    }
    case 'release':
      await releaseSessions();
      return nothing;
  }
}

// See prepare-worker.ts.
export { score as 'module.exports' };
