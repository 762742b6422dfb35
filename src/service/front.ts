// SPDX-License-Identifier: Apache-2.0
import type { UploadArena } from '../analysis/memory/arena.js';
import type { BytePermits } from '../api/admission/byte-permits.js';
import { ExpectedWait } from '../api/admission/expected-wait.js';
import { KeyConcurrency } from '../api/admission/key-concurrency.js';
import { openPermitPools, type PermitPools } from '../api/admission/permit-pools.js';
import { type RateCounter, RateLimits, rateLimitOf } from '../api/admission/rate-limits.js';
import { RequestPermits } from '../api/admission/request-permits.js';
import { type FetchPolicy, linkPolicy } from '../api/fetch/fetch-policy.js';
import { PresignedFetcher } from '../api/fetch/presigned-fetcher.js';
import { AnswerLimits } from '../api/http/answer-limits.js';
import { ClientAddresses } from '../api/http/client-address.js';
import { Connections } from '../api/http/connections.js';
import { Cors } from '../api/http/cors.js';
import { connectionsInDescriptors } from '../api/http/descriptors.js';
import { FrontDoor } from '../api/http/front-door.js';
import { connectionsByPeer } from '../api/http/peer-connections.js';
import type { FileIntake } from '../api/routes/analysis-input.js';
import { createLargeFilePermits } from '../api/routes/large-file-intake.js';
import type { SharedStreamParts } from '../api/routes/stream-host.js';
import { Calls } from '../api/streams/call-log.js';
import { StreamSessions } from '../api/streams/stream-sessions.js';
import { Tickets } from '../api/streams/tickets.js';
import { ArenaQueue } from '../api/upload/arena-queue.js';
import { FORM_OVERHEAD_BYTES } from '../api/upload/form-upload.js';
import type { Config } from '../base/config/options.js';
import type { CloseReason } from '../base/observe/close-reason.js';
import type { EndedRequests } from '../base/observe/ended-requests.js';
import type { GaugeSources } from '../base/observe/service-metrics.js';
import type { modelGauges } from './model-gauges.js';
import type { ServerOptions } from './server-options.js';

/** Uploads that may wait for room in the arena. */
const MAX_WAITING_UPLOADS = 256;

/** Everything between the sockets and the routes: who gets in, and how much each may hold. */
export interface Front {
  readonly door: FrontDoor;
  readonly rates: RateCounter;
  readonly permits: PermitPools;
  readonly connections: Connections;
  readonly streams: SharedStreamParts;
  readonly intake: FileIntake;
  readonly largeFilePermits: BytePermits;
  /** For files behind links. */
  readonly policy: FetchPolicy;
  readonly onClose: (reason: CloseReason) => void;
  readonly gauges: Omit<GaugeSources, keyof ReturnType<typeof modelGauges>>;
}

/**
 * @param port of the public listener, once it listens
 * @throws Error if the arena is too small for one upload
 */
export function openFront(options: ServerOptions, ended: EndedRequests, port: () => number): Front {
  const { config, arena, keys, files, metrics } = options;
  refuseSmallArena(arena, config);
  const { keySharePercent, keyMemoryPercent, addressSharePercent: address } = config;
  const shares = { key: keySharePercent, address };
  const memoryShares = { key: keyMemoryPercent, address };
  const onClose = (reason: CloseReason): void => metrics.countClosed(reason);
  const expectedWait = new ExpectedWait({ targetMs: config.maxWaitMs, parallel: config.scoringThreads });
  const permits = openPermitPools(config, expectedWait);
  const queue = new ArenaQueue(arena, {
    maxWaiting: MAX_WAITING_UPLOADS,
    timeoutMs: config.queueTimeoutMs,
    percents: memoryShares,
  });
  const prefixes = options.storagePrefixes ?? ((at: number) => files.storage.linkPrefixes(at));
  const policy = linkPolicy(
    config,
    () => prefixes(port()),
    (url) => files.storage.isOwnLink(url),
  );
  const timeouts = { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs };
  const fetcher = new PresignedFetcher(policy, queue, timeouts, options.fetchSurroundings, files.storage);
  const addresses = new ClientAddresses(config.trustedProxies);
  const answers = new AnswerLimits({
    maxBytes: config.maxAnswerBytes,
    percents: memoryShares,
    timeoutMs: config.receiveTimeoutMs,
    onClose,
  });
  const connections = new Connections({
    max: Math.min(config.maxConnections, connectionsInDescriptors()),
    maxPerAddress: config.maxConnectionsPerAddress,
    isExempt: (address) => addresses.isTrustedProxy(address),
    countByPeer: () => connectionsByPeer(port()),
    onClose,
  });
  const streams: SharedStreamParts = {
    sessions: new StreamSessions({
      idleTimeoutS: config.streamIdleTimeoutS,
      maxDurationS: config.maxStreamDurationS,
      isActive: (keyId) => keys.find(keyId) !== undefined,
      ...(options.streamClockMs && { nowMs: options.streamClockMs }),
    }),
    permits: new RequestPermits(config.maxStreams, { percents: shares, what: 'streams' }),
    connections: new RequestPermits(config.maxStreams, { percents: shares, what: 'connections of streams' }),
    memory: queue.memory,
    tickets: new Tickets(files.signingSecret),
    calls: new Calls(),
    record: (record) => ended.note(record, true),
  };
  const rates = options.rates ?? new RateLimits(rateLimitOf(config));
  const door = new FrontDoor({
    keys,
    permits,
    expectedWait,
    rates,
    concurrency: new KeyConcurrency(config.keyConcurrency, options.inFlightElsewhere),
    ended,
    addresses,
    answers,
    memory: queue.memory,
    cors: new Cors(config.corsOrigins),
    tracing: options.tracing,
    redeemTicket: (ticket) => streams.tickets.redeem(ticket),
    sendTimeoutMs: config.receiveTimeoutMs,
  });
  return {
    ...{ door, rates, permits, connections, streams, policy, onClose },
    intake: { queue, fetcher },
    largeFilePermits: createLargeFilePermits(config),
    gauges: {
      requestsInFlight: () => permits.requests.inUse,
      transfersInFlight: () => permits.transfers.inUse,
      eventStreams: () => permits.watches.inUse + permits.adminWatches.inUse,
      streams: () => streams.sessions.open,
      streamsAway: () => streams.sessions.away,
      expectedWaitS: () => expectedWait.waitMs / 1000,
      connections: () => connections.open,
      heldAnswerBytes: () => answers.usedBytes,
      uploadsWaiting: () => queue.waiting,
      clientMemoryBytes: () => queue.memory.usedBytes,
      arenaUsedBytes: () => arena.usedBytes,
      arenaTotalBytes: () => arena.totalBytes,
    },
  };
}

function refuseSmallArena(arena: UploadArena, config: Config): void {
  for (const name of ['maxPredictBytes', 'maxLargeFileBytes', 'maxVoiceidBytes'] as const) {
    const bodyBytes = config[name] + FORM_OVERHEAD_BYTES;
    if (arena.totalBytes >= bodyBytes) continue;
    throw new Error(
      `maxInflightBytes is ${arena.totalBytes}, but one upload of ${name} = ${config[name]} ` +
        `needs ${bodyBytes} including its form.`,
    );
  }
}
