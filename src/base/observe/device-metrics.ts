// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** One batch on a device that runs models. */
export interface BatchRecord {
  /** `cpu`, `webgpu` or, for example, `cuda:0`. */
  readonly device: string;
  readonly inputs: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
}

export interface DeviceSources {
  /** All devices that were taken into use. */
  devices(): readonly { readonly name: string; readonly isWorking: boolean }[];
  /** Model inputs that no device has taken yet. */
  inputsWaiting(): number;
}

interface Series {
  readonly batchInputs: Histogram.Internal<'device'>;
  readonly busySeconds: Counter.Internal;
  readonly failures: Counter.Internal;
}

/** The series of each device that runs models. */
export class DeviceMetrics {
  readonly #registers: Registry[];
  readonly #batchInputs: Histogram<'device'>;
  readonly #busySeconds: Counter<'device'>;
  readonly #failures: Counter<'device'>;
  /** Found once: looking a series up by its labels costs more than counting. */
  readonly #ofDevice = new Map<string, Series>();

  constructor(registry: Registry) {
    this.#registers = [registry];
    const common = { labelNames: ['device'] as const, registers: this.#registers };
    this.#batchInputs = new Histogram({
      ...common,
      name: 'veravox_device_batch_inputs',
      help: 'Model inputs per batch: the count is that of batches, the sum that of inputs. A window is one input with most models.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    });
    this.#busySeconds = new Counter({
      ...common,
      name: 'veravox_device_busy_seconds_total',
      help: 'Time with a batch, over all threads of the device.',
    });
    this.#failures = new Counter({
      ...common,
      name: 'veravox_device_failures_total',
      help: 'Batches that failed. A GPU is then taken out for a while.',
    });
  }

  count({ device, inputs, durationMs, isFailed }: BatchRecord): void {
    const series = this.#seriesOf(device);
    series.batchInputs.observe(inputs);
    series.busySeconds.inc(durationMs / 1000);
    if (isFailed) series.failures.inc();
  }

  declare(sources: DeviceSources): void {
    const { devices, inputsWaiting } = sources;
    for (const { name } of devices()) this.#seriesOf(name);
    const registers = this.#registers;
    new Gauge({
      name: 'veravox_device_up',
      help: '1 while the device takes work; 0 after a failure, until it works again.',
      labelNames: ['device'],
      // Processes share the CPU; each GPU belongs to one.
      aggregator: 'min',
      registers,
      collect() {
        this.reset();
        for (const { name, isWorking } of devices()) this.set({ device: name }, Number(isWorking));
      },
    });
    new Gauge({
      name: 'veravox_inputs_waiting',
      help: 'Model inputs of requests that no device has taken yet.',
      registers,
      collect() {
        this.set(inputsWaiting());
      },
    });
  }

  #seriesOf(device: string): Series {
    let series = this.#ofDevice.get(device);
    if (series === undefined) {
      this.#batchInputs.zero({ device });
      series = {
        batchInputs: this.#batchInputs.labels({ device }),
        busySeconds: this.#busySeconds.labels({ device }),
        failures: this.#failures.labels({ device }),
      };
      series.busySeconds.inc(0);
      series.failures.inc(0);
      this.#ofDevice.set(device, series);
    }
    return series;
  }
}
