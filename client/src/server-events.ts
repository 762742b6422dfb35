// SPDX-License-Identifier: Apache-2.0

/** The `data` of the server-sent events in an answer, until the connection ends. Leaving the loop ends it. */
export async function* eventsIn(response: Response): AsyncGenerator<string, void, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
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
