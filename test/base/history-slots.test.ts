// SPDX-License-Identifier: Apache-2.0
//
// Compared with a list of everything that was ever counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinedStretches } from '../../src/console/health/joined-stretches.js';
import { WallLabels } from '../../src/console/health/monotonic.js';
import {
  COARSE_SPAN_S,
  FINE_SPAN_S,
  type Joining,
  PRESENT,
  SERIES_BYTES,
  Slots,
  type Span,
} from '../../src/console/health/slots.js';

/** The same every time. */
function* randomNumbers(seed: number): Generator<number, never, void> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

interface Event {
  readonly second: number;
  readonly name: string;
  readonly joining: Joining;
  readonly value: number;
}

/** The expected content of a stretch, from a list without slots. */
function expectedOf(events: readonly Event[], name: string, { fromS, toS, stepS }: Span): number[] {
  const beginS = Math.floor(fromS / stepS) * stepS;
  const expected = new Array<number>(Math.ceil((toS - beginS) / stepS)).fill(0);
  for (const event of events.filter((each) => each.name === name)) {
    const point = Math.floor((event.second - beginS) / stepS);
    const before = expected[point];
    if (before === undefined) continue;
    expected[point] = event.joining === 'max' ? Math.max(before, event.value) : before + event.value;
  }
  return expected;
}

function valuesOf(slots: Slots, name: string, span: Span): readonly number[] {
  const { series, points } = slots.read(span);
  return series.find(([known]) => known === name)?.[2] ?? new Array<number>(points).fill(0);
}

test('two days with gaps read like a list of all that was counted', () => {
  const random = randomNumbers(1);
  const next = (below: number): number => Math.floor(random.next().value * below);
  const slots = new Slots();
  const events: Event[] = [];
  const names = [
    ['requests/detection/ok', 'sum'],
    ['gauges/rss_kib', 'max'],
  ] as const;
  let second = 1_000_003;
  const endS = second + 2 * COARSE_SPAN_S;
  while (second < endS) {
    // Mostly every second, sometimes a pause of up to three hours.
    second += next(5000) === 0 ? 1 + next(3 * 3600) : 1;
    for (const [name, joining] of names) {
      if (next(3) > 0) continue;
      const value = next(1000);
      slots.cell(name, joining).pending = value;
      events.push({ second, name, joining, value });
    }
    events.push({ second, name: PRESENT, joining: 'sum', value: 1 });
    slots.sample(second);
  }
  const recent = events.filter((event) => event.second > second - COARSE_SPAN_S - 1000);
  const spans: Span[] = [
    { fromS: second - 299, toS: second + 1, stepS: 1 },
    { fromS: second - FINE_SPAN_S + 5, toS: second + 1, stepS: 5 },
    { fromS: second - 3600, toS: second + 1, stepS: 10 },
    { fromS: second - 7207, toS: second - 1801, stepS: 20 },
    { fromS: second - COARSE_SPAN_S + 700, toS: second + 1, stepS: 300 },
  ];
  for (const span of spans) {
    for (const name of [names[0][0], names[1][0], PRESENT]) {
      const expected = expectedOf(recent, name, span);
      assert.deepEqual(valuesOf(slots, name, span), expected, `${name} by ${span.stepS} s`);
    }
  }
});

test('what is older than the rings is not mistaken for what is new', () => {
  const slots = new Slots();
  const cell = slots.cell('windows/m', 'sum');
  cell.pending = 7;
  slots.sample(5000);
  slots.sample(5000 + FINE_SPAN_S);
  slots.sample(5000 + COARSE_SPAN_S);
  for (const stepS of [1, 10]) {
    const span = { fromS: 4990, toS: 5010, stepS };
    assert.deepEqual(slots.read(span).series, [], `by ${stepS} s`);
  }
});

test('times before the machine was booted are times without a record', () => {
  const slots = new Slots();
  for (const second of [3, 4]) {
    slots.cell('windows/m', 'sum').pending = second;
    slots.sample(second);
  }
  for (const stepS of [1, 10, 300]) {
    const points = Math.min(400, COARSE_SPAN_S / stepS);
    const span = { fromS: 10 - points * stepS, toS: 10, stepS };
    for (const [name, values] of [
      ['windows/m', [3, 4]],
      [PRESENT, [1, 1]],
    ] as const) {
      const events = values.map((value, i) => ({ second: 3 + i, name, joining: 'sum' as const, value }));
      assert.deepEqual(valuesOf(slots, name, span), expectedOf(events, name, span), `${name} by ${stepS} s`);
    }
  }
});

test('nothing is counted before the first second of the clock', () => {
  const slots = new Slots();
  slots.cell('windows/m', 'sum').pending = 2;
  slots.sample(-1);
  slots.sample(0);
  assert.deepEqual(valuesOf(slots, 'windows/m', { fromS: -3, toS: 2, stepS: 1 }), [0, 0, 0, 2, 0]);
});

test('a sample of a second that is over already is left for the next one', () => {
  const slots = new Slots();
  const cell = slots.cell('windows/m', 'sum');
  slots.sample(100);
  cell.pending = 3;
  slots.sample(99);
  slots.sample(101);
  assert.deepEqual(valuesOf(slots, 'windows/m', { fromS: 99, toS: 102, stepS: 1 }), [0, 0, 3]);
});

test('each series takes the stated memory, and no more as time goes by', () => {
  const slots = new Slots();
  slots.cell('windows/m', 'sum').pending = 1;
  assert.equal(slots.bytes, 2 * SERIES_BYTES);
  for (let second = 0; second < 10_000; second += 7) slots.sample(second);
  slots.cell('windows/m', 'sum');
  assert.equal(slots.bytes, 2 * SERIES_BYTES);
});

test('processes are added up slot by slot, gauges as each of them needs it', () => {
  const span = { fromS: 60, toS: 63, stepS: 1 };
  const stretchOf = (values: readonly number[]) => {
    const slots = new Slots();
    for (const [i, value] of values.entries()) {
      slots.cell('requests/jobs/ok', 'sum').pending = value;
      slots.cell('gauges/rss_kib', 'max').pending = 10 * value;
      slots.cell('gauges/jobs_queued', 'max').pending = value;
      slots.sample(60 + i);
    }
    return slots.read(span);
  };
  const joined = joinedStretches([stretchOf([1, 2, 3]), stretchOf([5, 0, 4])], (name, joining) =>
    name === 'gauges/rss_kib' ? 'sum' : joining,
  );
  assert.deepEqual(Object.fromEntries(joined?.series.map(([name, , values]) => [name, values]) ?? []), {
    [PRESENT]: [2, 2, 2],
    'requests/jobs/ok': [6, 2, 7],
    'gauges/rss_kib': [60, 20, 70],
    'gauges/jobs_queued': [5, 2, 4],
  });
});

test('a clock that jumps moves the labels, and one that is read a little later does not', () => {
  const [monotonic, wall] = [{ s: 500.2 }, { s: 1_800_000_000.4 }];
  const labels = new WallLabels(
    () => monotonic.s,
    () => wall.s,
  );
  const offsetS = labels.offsetS();
  assert.equal(offsetS, 1_799_999_500);
  for (const late of [0.1, 0.25, -0.15, 0.4]) {
    wall.s = 1_800_000_000.4 + late;
    assert.equal(labels.offsetS(), offsetS, `${late} s`);
  }
  wall.s = 1_800_086_400.4;
  assert.equal(labels.offsetS(), offsetS + 86_400);
});

test('a span that begins before the clock is empty there: a machine may have been up for a minute', () => {
  const slots = new Slots();
  slots.cell('requests/detection/ok', 'sum').pending = 3;
  slots.sample(65);
  for (const stepS of [1, 10]) {
    const span = { fromS: 66 - 3600, toS: 66, stepS };
    const expected = expectedOf(
      [{ second: 65, name: 'requests/detection/ok', joining: 'sum', value: 3 }],
      'requests/detection/ok',
      span,
    );
    assert.deepEqual(valuesOf(slots, 'requests/detection/ok', span), expected);
  }
});
