// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { defaultDataDir } from './data-dir.js';
import { choice, integer, text } from './option.js';

/** What runs the models, and on what. */
export const engineOptions = {
  dataDir: text({
    variable: 'VERAVOX_DATA_DIR',
    accepts: 'a folder',
    default: defaultDataDir,
    defaultText:
      "`data` beside the program's own files; for a package installed by npm, `~/.local/state/veravox` (`XDG_STATE_HOME`)",
    resolve: path.resolve,
    description:
      'Folder for what must outlive a restart, such as API keys; made when missing, named at start. The default does not depend on the working directory.',
  }),
  modelsDir: text({
    variable: 'VERAVOX_MODELS_DIR',
    accepts: 'a folder that exists',
    isAccepted: (folder) => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
    default: ({ packageDir }) => path.join(packageDir, 'models'),
    defaultText: "the package's `models`",
    description: 'Folder with `manifest.json` and the ONNX files that it names.',
  }),
  device: choice({
    variable: 'VERAVOX_DEVICE',
    choices: ['auto', 'cpu', 'cuda'],
    default: 'auto',
    description:
      'What runs the models: `cuda` fails at start when CUDA cannot be loaded, `auto` falls back to the CPU and says why.',
  }),
  processes: integer({
    variable: 'VERAVOX_PROCESSES',
    default: 0,
    minimum: 0,
    maximum: 64,
    unit: 'processes',
    description:
      "Processes that share the port. A supervisor replaces one that ends, while the others go on. 0 runs a single process without a supervisor. Threads, memory, connections and requests in flight count per process; a key's own limits hold over all.",
  }),
  hangTimeoutMs: integer({
    variable: 'VERAVOX_HANG_TIMEOUT_MS',
    default: 10_000,
    minimum: 0,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'With `VERAVOX_PROCESSES`: how long a process may not answer its supervisor before it is killed and replaced; six times as long while it starts. 0 leaves processes that hang alone.',
  }),
  prepareThreads: integer({
    variable: 'VERAVOX_PREPARE_THREADS',
    default: ({ cores }) => Math.max(2, Math.ceil(cores / 4)),
    defaultText: 'a quarter of the cores, rounded up, at least 2',
    minimum: 1,
    maximum: 256,
    description:
      'Threads that decode audio and compute features; too few let the scoring threads starve, too many take their cores. Large files leave one of them to others, unless there is only one.',
  }),
  scoringThreads: integer({
    variable: 'VERAVOX_SCORING_THREADS',
    default: ({ cores }) => cores,
    defaultText: 'the number of cores',
    minimum: 1,
    maximum: 256,
    description:
      'Threads that run the models, each with its own copy of them in memory; more than there are cores only adds waiting.',
  }),
  decoderSandbox: choice({
    variable: 'VERAVOX_DECODER_SANDBOX',
    choices: ['auto', 'required', 'off'],
    default: 'auto',
    description:
      'A filter of system calls (seccomp) for decoder threads: they cannot open files or connections or start programs. Without support for it, `auto` logs a warning and `required` does not start.',
  }),
  maxBatchWindows: integer({
    variable: 'VERAVOX_MAX_BATCH_WINDOWS',
    default: 4,
    minimum: 1,
    maximum: 1024,
    unit: 'windows',
    description:
      'Windows that a GPU runs as one batch at most; more than one only under load. It wants 32 or more. A CPU runs one at a time, so that nobody waits for a whole batch.',
  }),
  batchWaitMs: integer({
    variable: 'VERAVOX_BATCH_WAIT_MS',
    default: 2,
    minimum: 0,
    maximum: 1000,
    unit: 'ms',
    description:
      'On a GPU, how long an incomplete batch waits for more windows; adds at most this much to an answer. On a CPU batches never wait.',
  }),
};
