// SPDX-License-Identifier: Apache-2.0
import type { LookupAddress } from 'node:dns';
import { type LookupFunction, Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { domainToASCII } from 'node:url';
import { loadAddon } from '../addon/addon.js';
import { Counts } from '../counts.js';
import { orAborted } from './call-clock.js';

export type Addresses = readonly LookupAddress[];

/** Lookups at once for clients, each in a thread of its own. The second half is for accounts without a lookup. */
const MAX_LOOKUPS = 128;
const MAX_LOOKUPS_OF_ACCOUNT = 4;

/** To connect to an address, if the name has another. Node's 250 ms end before a lost packet is sent again, which takes 1 s. */
const ATTEMPT_TIMEOUT_MS = 2500;
setDefaultAutoSelectFamilyAttemptTimeout(ATTEMPT_TIMEOUT_MS);

/**
 * Looks up the names of hosts. Node has two threads for this, and a name whose servers say nothing holds one for half a minute: two
 * such names would stop all calls of the process. So lookups have threads of their own, a name is looked up once at a time, and
 * an account waits for its own names only.
 */
export class Names {
  readonly #ask: (name: string) => Promise<Addresses>;
  readonly #asked = new Map<string, Promise<Addresses>>();
  readonly #ofAccounts = new Counts();
  #ofClients = 0;
  /** Called at the end of any lookup. */
  readonly #waiting = new Set<() => void>();

  constructor(ask: (name: string) => Promise<Addresses>) {
    this.#ask = ask;
  }

  /** For hosts that settings name: they never wait. */
  find(name: string): Promise<Addresses> {
    return this.#asked.get(name) ?? this.#begin(name, () => {});
  }

  /**
   * For a host that a client of the account names.
   * @throws the system's error, or the signal's reason while other lookups are waited for; one that has begun goes on
   */
  async findFor(account: string, name: string, signal: AbortSignal): Promise<Addresses> {
    while (!this.#asked.has(name) && !this.#hasRoom(account)) await this.#nextEnd(signal);
    const asked = this.#asked.get(name);
    if (asked !== undefined) return asked;
    this.#count(account, 1);
    return this.#begin(name, () => this.#count(account, -1));
  }

  #hasRoom(account: string): boolean {
    const own = this.#ofAccounts.of(account);
    return own < MAX_LOOKUPS_OF_ACCOUNT && this.#ofClients < (own === 0 ? MAX_LOOKUPS : MAX_LOOKUPS / 2);
  }

  #count(account: string, by: 1 | -1): void {
    this.#ofClients += by;
    this.#ofAccounts.change(account, by);
  }

  #begin(name: string, onEnd: () => void): Promise<Addresses> {
    const question = this.#ask(name).finally(() => {
      this.#asked.delete(name);
      onEnd();
      for (const goOn of this.#waiting) goOn();
    });
    this.#asked.set(name, question);
    return question;
  }

  async #nextEnd(signal: AbortSignal): Promise<void> {
    let goOn = (): void => {};
    const end = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    this.#waiting.add(goOn);
    try {
      await orAborted(signal, end);
    } finally {
      this.#waiting.delete(goOn);
    }
  }
}

const names = new Names(async (name) => {
  const pipe = new Socket({ fd: loadAddon().askForAddresses(domainToASCII(name)), writable: false });
  let answer = '';
  for await (const text of pipe.setEncoding('latin1')) answer += text;
  const addresses = [...answer.matchAll(/^([46]) (.+)$/gm)].map(([, family, address = '']) => ({
    address,
    family: Number(family),
  }));
  if (addresses.length > 0) return addresses;
  // Empty if the thread ran out of memory.
  const code = answer || 'EAI_FAIL';
  throw Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code });
});

/** The addresses of a host that a client has named. */
export const findAddresses = (name: string, account: string, signal: AbortSignal): Promise<Addresses> =>
  names.findFor(account, name, signal);

/** For hosts that settings name. */
export const lookUpOwn: LookupFunction = (hostname, options, callback) => {
  names.find(hostname).then(
    (addresses) => lookupOf(addresses)(hostname, options, callback),
    (error) => callback(error, ''),
  );
};

/** Answers every question with the addresses that were found to be acceptable. */
export function lookupOf(addresses: Addresses): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
