// SPDX-License-Identifier: Apache-2.0

/** Resolves after that time, or earlier with `work`. @returns whether the work is done */
export async function atMost(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  try {
    return await Promise.race([timeout, work.then(() => true)]);
  } finally {
    clearTimeout(timer);
  }
}
