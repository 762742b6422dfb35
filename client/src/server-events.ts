// SPDX-License-Identifier: Apache-2.0

export const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');

/**
 * The `data` of the server-sent events in an answer, until the connection ends. Leaving the loop ends it.
 * @param silenceMs without a byte after which the connection counts as dead, and the loop fails
 */
export async function* eventsIn(response: Response, silenceMs: number): AsyncGenerator<string, void, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      text += value;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
        if (data.length > 0) yield data.join('\n');
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @throws Error after that time */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came for ${timeoutMs} ms.`)), timeoutMs);
  });
  // It fails later, when the connection is cancelled.
  work.catch(() => {});
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
