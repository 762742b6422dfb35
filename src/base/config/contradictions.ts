// SPDX-License-Identifier: Apache-2.0
import { type Config, options } from './options.js';
import { pathOf } from './public-path.js';

type Name = keyof typeof options;

/** Settings without effect unless another one is set: alone, they reveal a mistake. */
const needs: readonly [names: readonly Name[], needed: Name, otherwise: string][] = [
  [
    ['storageRegion', 'storageEndpoint', 'storagePathStyle'],
    'storageBucket',
    'without a bucket, files are stored in the data folder',
  ],
  [['databaseCaFile'], 'database', 'without it, there is no connection to a server'],
  [['rateLimitWindowS'], 'rateLimitRequests', 'without a number of requests, there is no limit'],
  [['hangTimeoutMs'], 'processes', 'without a supervisor, nothing detects a process that hangs'],
  [['tlsCertFile'], 'tlsKeyFile', 'a certificate needs its key'],
  [['tlsKeyFile'], 'tlsCertFile', 'a key needs its certificate'],
  [
    ['oidcClientId', 'oidcClientSecret', 'oidcRoleClaim', 'oidcRoles'],
    'oidcIssuer',
    'without it, there is no OpenID provider',
  ],
  [['oidcIssuer'], 'oidcClientId', 'the provider has to know this server'],
  [['oidcIssuer'], 'oidcRoles', 'without roles, nobody could sign in'],
  [['oidcIssuer'], 'dashboardOrigin', 'the provider leads back there'],
];

/**
 * Combinations of settings that contradict each other, a sentence each.
 * @param given names of the settings in the environment
 */
export function contradictionsOf(config: Config, given: ReadonlySet<string>): string[] {
  const lacking = needs.flatMap(([names, needed, otherwise]) =>
    names
      .filter((name) => given.has(name) && !given.has(needed))
      .map((name) => `${options[name].variable} needs ${options[needed].variable}: ${otherwise}.`),
  );
  const tooLarge = (['maxPredictBytes', 'maxLargeFileBytes', 'maxVoiceidBytes'] as const)
    .filter((name) => config[name] > config.maxInflightBytes)
    .map(
      (name) =>
        `Expected at least ${options[name].variable} (${config[name]}) for VERAVOX_MAX_INFLIGHT_BYTES but ` +
        `received ${config.maxInflightBytes}: otherwise, files of the largest size would never be admitted.`,
    );
  return [
    ...lacking,
    ...tooLarge,
    ...pathProblems(config),
    ...adminProblems(config),
    ...cudaProblems(config, given),
  ];
}

/** The links of a bucket are signed for the paths that it sees. */
function pathProblems({ storageBucket, storagePublicUrl }: Config): string[] {
  if (storageBucket === '' || pathOf(storagePublicUrl) === '') return [];
  const { variable } = options.storagePublicUrl;
  return [`Expected a URL without a path for ${variable} with a bucket but received ${storagePublicUrl}.`];
}

function cudaProblems({ device, cudaDevices }: Config, given: ReadonlySet<string>): string[] {
  const isOff = cudaDevices === 'none';
  if (device === 'cuda' && isOff) {
    return [`${options.device.variable} is cuda, but ${options.cudaDevices.variable} is none.`];
  }
  if (!given.has('cudaDevices') || (device === 'cpu' && isOff)) return [];
  if (device !== 'cpu' && device !== 'webgpu') return [];
  return [`${options.cudaDevices.variable} has no effect: ${options.device.variable} is ${device}.`];
}

function adminProblems({ adminAddress, processes, host, port }: Config): string[] {
  if (adminAddress === undefined) return [];
  const variable = options.adminAddress.variable;
  if (adminAddress.port === 0 && processes > 0) {
    return [
      `${variable} needs a port other than 0 with ${options.processes.variable}, because all processes share it.`,
    ];
  }
  // With several processes, a second listener on a part of the public address would not fail, but take its connections.
  const hosts = new Set([host, adminAddress.host]);
  const isPublic =
    port !== 0 && adminAddress.port === port && (hosts.size === 1 || hosts.has('0.0.0.0') || hosts.has('::'));
  return isPublic ? [`${variable} must not overlap with the public address, ${host} port ${port}.`] : [];
}
