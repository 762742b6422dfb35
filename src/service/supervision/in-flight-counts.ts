// SPDX-License-Identifier: Apache-2.0

/** Requests in flight by key and process, as the supervisor knows them. */
export class InFlightCounts<Process extends object> {
  readonly #byKey = new Map<string, Map<Process, number>>();

  /** Ended processes, whose messages may still arrive. */
  readonly #gone = new WeakSet<Process>();

  set(process: Process, keyId: string, inFlight: number): void {
    if (this.#gone.has(process)) return;
    const counts = this.#byKey.get(keyId) ?? new Map<Process, number>();
    if (inFlight === 0) counts.delete(process);
    else counts.set(process, inFlight);
    if (counts.size === 0) this.#byKey.delete(keyId);
    else this.#byKey.set(keyId, counts);
  }

  /** Requests in flight in all processes but this one. */
  elsewhere(process: Process, keyId: string): number {
    let sum = 0;
    for (const [other, count] of this.#byKey.get(keyId) ?? []) if (other !== process) sum += count;
    return sum;
  }

  /** Forgets a process that has ended; returns the keys of which it had requests. */
  remove(process: Process): string[] {
    const keyIds = [...this.#byKey].filter(([, counts]) => counts.has(process)).map(([keyId]) => keyId);
    for (const keyId of keyIds) this.set(process, keyId, 0);
    this.#gone.add(process);
    return keyIds;
  }

  get keyIds(): string[] {
    return [...this.#byKey.keys()];
  }
}
