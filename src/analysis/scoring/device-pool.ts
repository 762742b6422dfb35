// SPDX-License-Identifier: Apache-2.0
import { BackOff } from '../../base/back-off.js';
import type { BatchRecord } from '../../base/observe/device-metrics.js';
import type { DeviceStatus, ScoringDevice } from './devices.js';
import type { ScoringOwner } from './scoring-owner.js';

/** A device with the one thread that owns it. */
export interface OwnedDevice {
  readonly device: ScoringDevice;
  readonly owner: ScoringOwner;
  readonly isStandby: boolean;
  /** Recent time per input of each model on a GPU; 0 until measured, and on a CPU, whose threads are alike. */
  readonly msPerInput: number[];
  readonly backOff: BackOff;
  /** performance.now() when it last began to work. */
  sinceMs: number;
  /** Why it takes no work. */
  problem?: string;
  timer?: NodeJS.Timeout;
}

export interface DevicePoolOptions {
  /** Used only while none of the devices works. Their threads start when they are needed first. */
  readonly standby: readonly ScoringDevice[];
  startOwner(device: ScoringDevice): ScoringOwner;
  /** A device can take work that could not before. */
  onIdle(): void;
  /** A GPU was taken out or works again. */
  onChange(status: DeviceStatus): void;
  onBatch(record: BatchRecord): void;
}

/** Share of the latest batch in the recent time per input. */
const NEWEST_SHARE = 0.2;

/**
 * The devices that run the models: which of them is free, and which has failed. A GPU that fails is taken out, and tried
 * again after a while; a CPU goes on.
 */
export class DevicePool {
  /** Resolves when every model is loaded and warm on each device. */
  readonly ready: Promise<void>;
  readonly #options: DevicePoolOptions;
  readonly #owned: OwnedDevice[];
  /** Started when all devices were out for the first time, and again if that failed. */
  #standby: Promise<OwnedDevice[]> | undefined;
  readonly #idle: OwnedDevice[];
  readonly #recoveries = new Set<Promise<void>>();
  /** Devices that are not out. */
  #working: number;
  #standbyWorks = false;
  #isClosing = false;

  /** Starts the threads of the devices. */
  constructor(devices: readonly ScoringDevice[], options: DevicePoolOptions) {
    this.#options = options;
    this.#owned = devices.map((device) => this.#start(device, false));
    this.#idle = [...this.#owned];
    this.#working = devices.length;
    this.ready = Promise.all(this.#owned.map(warmUp)).then(() => {});
  }

  /** Devices that take work; at least 1. */
  get size(): number {
    if (this.#working > 0) return this.#working;
    return this.#standbyWorks ? this.#options.standby.length : 1;
  }

  get isWorking(): boolean {
    return this.#working > 0 || this.#standbyWorks;
  }

  /** One for each name. */
  get status(): DeviceStatus[] {
    const all = this.#owned.map(({ device: { name }, problem }) => ({
      name,
      isWorking: problem === undefined,
      ...(problem !== undefined && { problem }),
    }));
    if (this.#standbyWorks) all.push({ name: 'cpu', isWorking: true });
    return [...new Map(all.map((status) => [status.name, status])).values()];
  }

  hasIdle(): boolean {
    return this.#idle.some((owned) => this.#isUsed(owned));
  }

  /**
   * The idle device that will finish inputs of a model first: busy ones ask for themselves when they are done. Among equals,
   * the last one used. Only if `hasIdle()`.
   */
  take(model: number): OwnedDevice {
    let best = -1;
    for (let i = this.#idle.length - 1; i >= 0; i--) {
      const owned = this.#idle[i] as OwnedDevice;
      if (!this.#isUsed(owned)) continue;
      if (best < 0 || costOf(owned, model) < costOf(this.#idle[best] as OwnedDevice, model)) best = i;
    }
    return this.#idle.splice(best, 1)[0] as OwnedDevice;
  }

  /** Takes a device back after a batch. */
  done(owned: OwnedDevice, model: number, inputs: number, durationMs: number): void {
    this.#idle.push(owned);
    this.#options.onBatch({ device: owned.device.name, inputs, durationMs, isFailed: false });
    if (owned.device.provider === 'cpu') return;
    const before = costOf(owned, model);
    const latest = durationMs / inputs;
    owned.msPerInput[model] = before === 0 ? latest : before + NEWEST_SHARE * (latest - before);
  }

  /** The same if the batch failed. True if the device is out, so that another one should try the batch. */
  failed(owned: OwnedDevice, inputs: number, durationMs: number, error: unknown): boolean {
    this.#options.onBatch({ device: owned.device.name, inputs, durationMs, isFailed: true });
    if (owned.device.provider === 'cpu' || this.#isClosing) {
      this.#idle.push(owned);
      return false;
    }
    this.#working--;
    this.#options.onChange({
      name: owned.device.name,
      isWorking: false,
      problem: this.#tryLater(owned, error),
    });
    if (this.#working === 0) this.#startStandby();
    return true;
  }

  /** Waits for running batches, releases the sessions and ends the threads. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { timer } of this.#owned) clearTimeout(timer);
    await Promise.all(this.#recoveries);
    const all = [...this.#owned, ...((await this.#standby) ?? [])];
    await Promise.all(
      all.map(({ owner, problem }) =>
        owner.close().catch((error) => {
          // A GPU that is out may not even be able to release its sessions.
          if (problem === undefined) throw error;
        }),
      ),
    );
  }

  #start(device: ScoringDevice, isStandby: boolean): OwnedDevice {
    return {
      device,
      owner: this.#options.startOwner(device),
      isStandby,
      msPerInput: [],
      backOff: new BackOff(),
      sinceMs: performance.now(),
    };
  }

  #isUsed({ isStandby }: OwnedDevice): boolean {
    return !isStandby || this.#working === 0;
  }

  /** Returns the error in words. */
  #tryLater(owned: OwnedDevice, error: unknown): string {
    const problem = error instanceof Error ? error.message : String(error);
    owned.problem = problem;
    if (this.#isClosing) return problem;
    const delayMs = owned.backOff.delayMs(performance.now() - owned.sinceMs);
    owned.timer = setTimeout(() => {
      const recovery = this.#recover(owned).finally(() => this.#recoveries.delete(recovery));
      this.#recoveries.add(recovery);
    }, delayMs);
    owned.timer.unref();
    return problem;
  }

  async #recover(owned: OwnedDevice): Promise<void> {
    owned.sinceMs = performance.now();
    try {
      await owned.owner.restart();
    } catch (error) {
      this.#tryLater(owned, error);
      if (this.#working === 0) this.#startStandby();
      return;
    }
    delete owned.problem;
    this.#working++;
    owned.sinceMs = performance.now();
    this.#idle.push(owned);
    this.#options.onChange({ name: owned.device.name, isWorking: true });
    this.#options.onIdle();
  }

  #startStandby(): void {
    const { standby, onChange, onIdle } = this.#options;
    if (standby.length === 0 || this.#standby !== undefined || this.#isClosing) return;
    const started = standby.map((device) => this.#start(device, true));
    this.#standby = Promise.all(started.map(({ owner }) => owner.warmUp())).then(
      () => {
        this.#standbyWorks = true;
        this.#idle.push(...started);
        onChange({ name: 'cpu', isWorking: true });
        onIdle();
        return started;
      },
      async (error) => {
        onChange({ name: 'cpu', isWorking: false, problem: String(error) });
        await Promise.allSettled(started.map(({ owner }) => owner.close()));
        this.#standby = undefined;
        return [];
      },
    );
  }
}

async function warmUp({ device, owner }: OwnedDevice): Promise<void> {
  try {
    await owner.warmUp();
  } catch (error) {
    if (device.provider === 'cpu') throw error;
    throw new Error(`${device.name} cannot run the models: ${(error as Error).message}`, { cause: error });
  }
}

const costOf = ({ msPerInput }: OwnedDevice, model: number): number => msPerInput[model] ?? 0;
