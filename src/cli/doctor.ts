// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants, lstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describeCheck, holds } from '../analysis/known-answers/known-answers.js';
import { askModels } from '../analysis/known-answers/model-check.js';
import { type Model, readManifest } from '../analysis/models/manifest.js';
import { loadManifest } from '../analysis/models/model-file.js';
import { modelStatus } from '../analysis/pipeline/model-status.js';
import { listGpus } from '../analysis/scoring/gpus.js';
import { chooseProvider, trialOf } from '../analysis/scoring/provider.js';
import { checkTlsFiles } from '../api/http/tls-files.js';
import { loadAddon, type VulkanAdapter } from '../base/addon/addon.js';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { unknownVariables } from '../base/config/unknown-variables.js';
import { messageOf } from '../base/errors/message-of.js';
import { checkDescriptors } from '../service/descriptors-needed.js';
import { isDataFolderInUse } from '../state/data-folder/data-folder.js';
import { EarlierTables, inspectDatabase, openUnchanged } from '../state/database/open-database.js';
import { isActive } from '../state/keys/api-key.js';
import { KeyTable } from '../state/keys/key-table.js';
import { loadOperatingPoints } from '../state/operating-points/load-operating-points.js';
import { openBucket } from '../state/storage/open-storage.js';
import { findStorageSecrets } from '../state/storage/storage-secrets.js';
import { type Result, say } from './finding.js';
import { requireWritableFolder } from './writable.js';

const describeAdapter = ({ name, isSoftware }: VulkanAdapter): string =>
  isSoftware ? `${name}, which is software: slower than the CPU` : name;

/** The finding of one check; throws if something that the server needs is missing or wrong. */
type Check = (config: Config) => Promise<string> | string;

const unlessEarlier =
  (check: Check): Check =>
  async (config) => {
    try {
      return await check(config);
    } catch (error) {
      if (error instanceof EarlierTables) return 'not read: the next start will update the tables first';
      throw error;
    }
  };

const checks: Readonly<Record<string, Check>> = {
  settings: () => {
    const unknown = unknownVariables(process.env).map(({ variable }) => variable);
    return unknown.length === 0 ? 'valid' : `valid; unknown and ignored: ${unknown.join(', ')}`;
  },
  'uWebSockets.js': async () => {
    const { version } = await import('../api/http/uws.js');
    return version;
  },
  addon: () =>
    Object.entries(loadAddon().libraryVersions())
      .map(([library, version]) => `${library} ${version}`)
      .join(', '),
  onnxruntime: () => {
    const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as {
      version: string;
    };
    return version;
  },
  models: async ({ modelsDir }) => {
    const { models } = await loadManifest(modelsDir);
    return `${models.map((model) => model.id).join(', ')} (checksums match)`;
  },
  'known answers': async (config) => {
    const { models } = await readManifest(config.modelsDir);
    const checks = await askModels(config, models);
    const wrong = checks.filter((check) => !holds(check));
    if (wrong.length > 0) throw new Error(wrong.map(describeCheck).join('\n'));
    const without = models.filter(({ known_answers = [] }) => known_answers.length === 0).map(({ id }) => id);
    const rest = without.length === 0 ? '' : `; none recorded for ${without.join(', ')}`;
    return `${checks.length} of ${checks.length} hold${rest}`;
  },
  device: async (config) => {
    const { models } = await loadManifest(config.modelsDir);
    const choice = await chooseProvider(config, trialOf(config.modelsDir, models[0] as Model));
    const { provider, gpus = [], adapter, leftOut = [], fallbackReason } = choice;
    const names = (await listGpus()) ?? [];
    if (provider === 'cpu') {
      if (fallbackReason === undefined) return provider;
      if (names.length > 0) {
        throw new Error(`${provider}, although there is a GPU (${names.join(', ')}): ${fallbackReason}`);
      }
      return `${provider}, because ${fallbackReason}`;
    }
    const nameOf = (index: number): string => `cuda:${index} (${names[index] ?? 'unknown model'})`;
    const used = adapter ? `webgpu (${describeAdapter(adapter)})` : gpus.map(nameOf).join(', ');
    return [used, ...leftOut].join('\n');
  },
  GPUs: async () => {
    const names = await listGpus();
    return names?.map((name, index) => `${index}: ${name}`).join('\n') || 'none found';
  },
  'file descriptors': (config) => checkDescriptors(config),
  'data folder': ({ dataDir }) => {
    let there = dataDir;
    while (lstatSync(there, { throwIfNoEntry: false }) === undefined) there = path.dirname(there);
    requireWritableFolder(there);
    if (there !== dataDir) return `${dataDir} (will be created at the first start)`;
    accessSync(dataDir, constants.R_OK);
    return `${dataDir}${isDataFolderInUse(dataDir) ? ', in use by a server' : ''}`;
  },
  database: inspectDatabase,
  'operating points': unlessEarlier(async (config) => {
    const points = await loadOperatingPoints(config);
    const { detectors, speakerModels } = modelStatus((await loadManifest(config.modelsDir)).models);
    const [unusable] = points.unusable([...detectors, ...speakerModels]);
    if (unusable !== undefined) {
      throw new Error(`${unusable.name} of ${unusable.model} ${unusable.why}.`);
    }
    return points.all.length === 0
      ? 'none'
      : points.all.map(({ name, model, threshold }) => `${name} of ${model} (${threshold})`).join(', ');
  }),
  certificate: ({ tlsCertFile: certFile, tlsKeyFile: keyFile }) => {
    if (certFile === '') return 'none';
    checkTlsFiles({ certFile, keyFile });
    return certFile;
  },
  'file storage': async (config) => {
    const { dataDir, storageBucket, storageEndpoint } = config;
    findStorageSecrets(dataDir);
    if (storageBucket === '') return 'the data folder';
    const bucket = `bucket ${storageBucket}${storageEndpoint === '' ? '' : ` on ${storageEndpoint}`}`;
    const storage = await openBucket(config);
    try {
      await storage.list('', 1);
    } catch (error) {
      const { message, cause } = error as Error;
      throw new Error(`${bucket} cannot be listed: ${cause instanceof Error ? cause.message : message}`);
    } finally {
      await storage.close();
    }
    return `${bucket} can be listed`;
  },
  'API keys': unlessEarlier(async (config) => {
    const database = await openUnchanged(config);
    const keys = database === undefined ? [] : await new KeyTable(database).list();
    await database?.close();
    const active = keys.filter((key) => isActive(key, new Date())).length;
    return keys.length === 0 ? 'none yet; the first start creates one' : `${active} active of ${keys.length}`;
  }),
};

interface DoctorOptions {
  readonly privacy?: true;
  readonly json?: true;
}

type Report = (name: string, finding: string, result: Result) => void;

export function addDoctorCommand(program: Command, version: string): void {
  program
    .command('doctor')
    .description('Report versions, devices and problems.')
    .option('--privacy', 'check only that nothing leaves the machine, by running a server briefly')
    .option('--json', 'print a line of JSON per check: name, result (ok, missing, failed, found) and finding')
    .action(async ({ privacy, json }: DoctorOptions) => {
      const report: Report = (name, finding, result) => {
        say(name, finding, result, json);
        if (result !== 'ok') process.exitCode = 1;
      };
      await (privacy ? checkPrivacy(report) : checkAll(version, report));
    });
}

async function checkAll(version: string, report: Report): Promise<void> {
  const fail = (name: string, error: unknown): void =>
    report(name, messageOf(error), isMissing(error) ? 'missing' : 'failed');
  report('veravox', version, 'ok');
  report('Node', `${process.version} (${process.platform} ${process.arch})`, 'ok');
  let config: Config;
  try {
    config = loadConfig(process.env);
  } catch (error) {
    // Without usable settings nothing else can be checked.
    fail('settings', error);
    return;
  }
  for (const [name, check] of Object.entries(checks)) {
    try {
      report(name, await check(config), 'ok');
    } catch (error) {
      fail(name, error);
    }
  }
}

/** True for a missing file or library; anything else exists but is wrong. */
function isMissing(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  if (code === 'ENOENT' || code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') return true;
  return cause !== undefined && cause !== null && isMissing(cause);
}

async function checkPrivacy(report: Report): Promise<void> {
  const { testPrivacy } = await import('./privacy/self-test.js');
  const main = fileURLToPath(new URL('./main.js', import.meta.url));
  const { method, contacts, leftFiles } = await testPrivacy(main);
  const reportFound = (name: string, found: readonly string[], none: string): void =>
    report(name, found.length === 0 ? none : found.join('\n'), found.length === 0 ? 'ok' : 'found');
  report('method', method, 'ok');
  reportFound('contacts', contacts, 'none, and nothing written outside the data folder');
  reportFound('files left', leftFiles, 'none in the home folder and the folder for temporary files');
}
