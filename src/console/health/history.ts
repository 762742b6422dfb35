// SPDX-License-Identifier: Apache-2.0
import type { RequestRecord } from '../../base/observe/request-record.js';
import { type Gauges, HistoryGauges } from './gauges.js';
import { latencyBucketOf } from './latency-buckets.js';
import { monotonicS } from './monotonic.js';
import { groupOf, latencyKindOf, outcomeOf, type RequestOutcome, requestOutcomes } from './request-groups.js';
import { type Cell, Slots, type Span, type Stretch } from './slots.js';

/** Series that could otherwise become more and more. */
const MAX_REASONS = 24;
const MAX_MODELS = 8;
const OTHER = 'other';

/** After the end of a second, so that a timer that is a little early still finds it over. */
const MARGIN_MS = 5;

interface RouteCells {
  readonly outcomes: Readonly<Record<RequestOutcome, Cell>>;
  /** By bucket; absent if times say nothing. */
  readonly latency: CellsByName<number> | undefined;
}

/** Makes series when they are first needed: most buckets and errors never are. */
class CellsByName<Name extends string | number> {
  readonly #slots: Slots;
  readonly #prefix: string;
  readonly #max: number;
  readonly #cells = new Map<Name | typeof OTHER, Cell>();

  constructor(slots: Slots, prefix: string, max = Number.POSITIVE_INFINITY) {
    this.#slots = slots;
    this.#prefix = prefix;
    this.#max = max;
  }

  of(name: Name): Cell {
    const known = this.#cells.get(name);
    if (known !== undefined) return known;
    const kept = this.#cells.size < this.#max ? name : OTHER;
    const cell = this.#slots.cell(`${this.#prefix}/${kept}`, 'sum');
    // A name without a series of its own is looked up again: it is not kept.
    if (kept === name) this.#cells.set(name, cell);
    return cell;
  }
}

/**
 * This process's work in the last hour, by seconds, and in the last day, by ten seconds. It counts in memory, and once a second
 * puts the counts into the slot of that second.
 */
export class History {
  readonly gauges = new HistoryGauges();
  readonly #slots = new Slots();
  readonly #nowS: () => number;
  readonly #ofRoute = new Map<string, RouteCells>();
  readonly #latencies = new Map<string, CellsByName<number>>();
  readonly #refusals = new CellsByName<string>(this.#slots, 'refusals', MAX_REASONS);
  readonly #windows = new CellsByName<string>(this.#slots, 'windows', MAX_MODELS);
  readonly #waits = this.#slots.cell('waits/requests', 'sum');
  readonly #waitedMs = this.#slots.cell('waits/ms', 'sum');
  #timer: NodeJS.Timeout | undefined;

  /** @param nowS seconds of a clock that never jumps */
  constructor(nowS: () => number = monotonicS) {
    this.#nowS = nowS;
  }

  /** Of typed arrays. */
  get bytes(): number {
    return this.#slots.bytes;
  }

  start(gauges: Gauges): void {
    this.gauges.start(gauges);
    this.#timer = this.#nextSecond();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.gauges.stop();
  }

  /** Called at the end of each request: nothing here may cost more than a few lookups and additions. */
  count({ route, status, errorKey, totalMs, stagesMs, times = 1 }: RequestRecord): void {
    const { outcomes, latency } = this.#cellsOf(route);
    const outcome = outcomeOf(status);
    outcomes[outcome].pending += times;
    if (errorKey !== undefined) this.#refusals.of(errorKey).pending += times;
    // Refusals take no time, and would make everything else look fast.
    if (outcome === 'ok' || outcome === 'failed') {
      const cell = latency?.of(latencyBucketOf(totalMs));
      if (cell !== undefined) cell.pending++;
    }
    if (stagesMs.queue !== undefined) {
      this.#waits.pending++;
      this.#waitedMs.pending += stagesMs.queue;
    }
  }

  countWindows(model: string, windows: number): void {
    this.#windows.of(model).pending += windows;
  }

  /** Puts the counts into the second that has just ended. */
  sample(): void {
    for (const [name, value] of this.gauges.read()) this.#slots.cell(`gauges/${name}`, 'max').pending = value;
    this.#slots.sample(Math.floor(this.#nowS()) - 1);
  }

  read(span: Span): Stretch {
    return this.#slots.read(span);
  }

  #cellsOf(route: string): RouteCells {
    let cells = this.#ofRoute.get(route);
    if (cells === undefined) {
      const group = groupOf(route);
      const kind = latencyKindOf(route);
      const outcomes = requestOutcomes.map((outcome) => [
        outcome,
        this.#slots.cell(`requests/${group}/${outcome}`, 'sum'),
      ]);
      cells = { outcomes: Object.fromEntries(outcomes), latency: kind && this.#latenciesOf(kind) };
      this.#ofRoute.set(route, cells);
    }
    return cells;
  }

  #latenciesOf(kind: string): CellsByName<number> {
    let cells = this.#latencies.get(kind);
    if (cells === undefined) {
      cells = new CellsByName(this.#slots, `latency/${kind}`);
      this.#latencies.set(kind, cells);
    }
    return cells;
  }

  #nextSecond(): NodeJS.Timeout {
    const inMs = 1000 * (1 - (this.#nowS() % 1)) + MARGIN_MS;
    const timer = setTimeout(() => {
      this.sample();
      this.#timer = this.#nextSecond();
    }, inMs);
    return timer.unref();
  }
}
