// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { cudaDevices } from './cuda-devices.js';
import { defaultDataDir } from './data-dir.js';
import { choice, integer, text } from './option.js';

/** The default batch of a GPU under load, with which a start also measures it. */
export const GPU_BATCH_WINDOWS = 64;

/** Models, devices, threads and processes. */
export const engineOptions = {
  dataDir: text({
    variable: 'VERAVOX_DATA_DIR',
    accepts: 'a folder',
    default: defaultDataDir,
    defaultText:
      "`data` next to the program's own files; for a package installed by npm, `~/.local/state/veravox` (`XDG_STATE_HOME`)",
    resolve: path.resolve,
    description:
      'Folder for data that must survive a restart, such as API keys. Created if missing, and named at start. The default does not depend on the working directory.',
  }),
  modelsDir: text({
    variable: 'VERAVOX_MODELS_DIR',
    accepts: 'a folder that exists',
    isAccepted: (folder) => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
    default: ({ packageDir }) => path.join(packageDir, 'models'),
    defaultText: "the package's `models`",
    description: 'Folder with `manifest.json` and its ONNX files.',
  }),
  device: choice({
    variable: 'VERAVOX_DEVICE',
    choices: ['auto', 'cpu', 'cuda', 'webgpu'],
    default: 'auto',
    description:
      'Device that runs the models. `cuda` and `webgpu` (Vulkan) fail at start if they cannot be used. `auto` takes CUDA, else WebGPU if the start measures it as at least as fast as the CPU, else the CPU, and logs the reason.',
  }),
  cudaDevices: cudaDevices({
    variable: 'VERAVOX_CUDA_DEVICES',
    description:
      'GPUs that run the models through CUDA, by the numbers that `nvidia-smi` gives them. Each has one thread. `all` skips GPUs that cannot be opened; if a named GPU cannot be opened, the server does not start. `none` runs the models on the CPU.',
  }),
  processes: integer({
    variable: 'VERAVOX_PROCESSES',
    default: 0,
    minimum: 0,
    maximum: 64,
    unit: 'processes',
    description:
      "Processes that share the port. A supervisor replaces a process that ends; the others continue. 0 runs a single process without a supervisor. Limits of threads, memory, connections and requests in flight apply per process; a key's own limits apply to all together.",
  }),
  hangTimeoutMs: integer({
    variable: 'VERAVOX_HANG_TIMEOUT_MS',
    default: 10_000,
    minimum: 0,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'With `VERAVOX_PROCESSES`: time without an answer to the supervisor after which a process is killed and replaced; six times as long during start. 0 turns this off.',
  }),
  prepareThreads: integer({
    variable: 'VERAVOX_PREPARE_THREADS',
    default: ({ cores }) => Math.max(2, Math.ceil(cores / 4)),
    defaultText: 'a quarter of the cores, rounded up, at least 2; on a GPU all cores but one, at least 2',
    defaultOnGpu: ({ cores }) => Math.max(2, Math.floor(cores) - 1),
    minimum: 1,
    maximum: 256,
    description:
      'Threads that decode audio and compute features. Too few starve the scoring threads, too many take their cores. Large files leave one thread free for other requests, unless there is only one.',
  }),
  scoringThreads: integer({
    variable: 'VERAVOX_SCORING_THREADS',
    default: ({ cores }) => Math.max(1, Math.floor(cores)),
    defaultText: 'the number of cores',
    minimum: 1,
    maximum: 256,
    description:
      'Threads that run the models on the CPU, each with its own copy in memory. More threads than cores only add waiting time. A GPU always has one thread.',
  }),
  decoderSandbox: choice({
    variable: 'VERAVOX_DECODER_SANDBOX',
    choices: ['auto', 'required', 'off'],
    default: 'auto',
    description:
      'System call filter (seccomp) for decoder threads: they cannot open files or connections, or start programs. If the system does not support it, `auto` logs a warning and `required` does not start.',
  }),
  maxBatchWindows: integer({
    variable: 'VERAVOX_MAX_BATCH_WINDOWS',
    default: 4,
    defaultText: `4; on a GPU ${GPU_BATCH_WINDOWS}`,
    defaultOnGpu: () => GPU_BATCH_WINDOWS,
    minimum: 1,
    maximum: 1024,
    unit: 'windows',
    description:
      'Most windows that a scoring thread takes at once; batches form only under load. A CPU scores them one by one; if several keys are active, it takes one at a time, so that no key waits for a whole batch of another.',
  }),
};
