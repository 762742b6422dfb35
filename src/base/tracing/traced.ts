// SPDX-License-Identifier: Apache-2.0
import type { Span, SpanKind } from './tracing.js';

/** Does the work as a part of a span; without one, just the work. */
export async function traced<Result>(
  whole: Span | undefined,
  name: string,
  kind: SpanKind,
  work: () => Promise<Result>,
): Promise<Result> {
  const part = whole?.begin(name, kind);
  try {
    const result = await work();
    part?.end();
    return result;
  } catch (error) {
    part?.end({ problem: problemOf(error) });
    throw error;
  }
}

/** The same for steps that are taken one by one. */
export async function* tracedSteps<Step>(
  whole: Span | undefined,
  name: string,
  steps: AsyncIterable<Step>,
): AsyncGenerator<Step, void, void> {
  const part = whole?.begin(name);
  let problem: string | undefined;
  try {
    yield* steps;
  } catch (error) {
    problem = problemOf(error);
    throw error;
  } finally {
    part?.end({ problem });
  }
}

/** Its key if it is one of the catalogue: messages may hold anything. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  return 'key' in error && typeof error.key === 'string' ? error.key : error.name;
}
