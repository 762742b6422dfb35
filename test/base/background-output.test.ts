// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ATOMIC_BYTES, BackgroundOutput } from '../../src/base/observe/background-output.js';
import { createLog } from '../../src/base/observe/log.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;

/** A pipe with two non-blocking ends and no reader. */
function makePipe(t: TestContext) {
  const name = path.join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [name]);
  const readEnd = fs.openSync(name, O_RDONLY | O_NONBLOCK);
  const writeEnd = fs.openSync(name, O_WRONLY | O_NONBLOCK);
  t.after(() => {
    fs.closeSync(readEnd);
    fs.closeSync(writeEnd);
  });
  let text = '';
  /** Everything read so far, including what is there now. */
  const read = (): string => {
    const buffer = Buffer.alloc(1 << 16);
    try {
      for (let bytes = 1; bytes > 0; ) {
        bytes = fs.readSync(readEnd, buffer);
        text += buffer.toString('utf8', 0, bytes);
      }
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    }
    return text;
  };
  return { writeEnd, read };
}

function outputTo(fd: number, maxWaitingBytes?: number) {
  const dropped = { lines: 0 };
  const output = new BackgroundOutput(fd, {
    ...(maxWaitingBytes && { maxWaitingBytes }),
    describeDropped: (lines) => `dropped ${lines}\n`,
    onDropped: () => dropped.lines++,
  });
  return { output, dropped };
}

const MANY = 20_000;
const lineOf = (number: number): string => `line ${String(number).padStart(6, '0')} ${'x'.repeat(80)}\n`;

test('lines of several writers into one full pipe stay whole', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const writers = Array.from({ length: 3 }, () => {
    return new BackgroundOutput(writeEnd, {
      maxWriteBytes: ATOMIC_BYTES,
      describeDropped: () => '',
      onDropped: () => assert.fail('a line was dropped'),
    });
  });
  const lines = 5000;
  for (let i = 0; i < lines; i++) for (const writer of writers) writer.write(lineOf(i));
  const size = lineOf(0).length;
  await eventually(() => read().length === writers.length * lines * size, 'all lines');
  assert.match(read(), /^(line \d{6} x{80}\n)+$/);
});

test('a line that is longer than one write goes alone', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const output = new BackgroundOutput(writeEnd, {
    maxWriteBytes: 100,
    describeDropped: () => '',
    onDropped: () => assert.fail('a line was dropped'),
  });
  const text = `${'a'.repeat(200)}\n${'b'.repeat(50)}\n${'c'.repeat(60)}\n`;
  for (const line of text.trimEnd().split('\n')) output.write(`${line}\n`);
  await output.close();
  assert.equal(read(), text);
});

test('with a reader that stands still lines wait up to the bound, and the rest is counted and told of', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const { output, dropped } = outputTo(writeEnd, 100_000);
  for (let i = 0; i < MANY; i++) output.write(lineOf(i));
  const atFirst = dropped.lines;
  assert.ok(atFirst > MANY - 2500, String(atFirst));
  await eventually(() => read().includes('dropped'), 'the line about those that were dropped');
  output.write(lineOf(MANY));
  await eventually(() => read().includes(lineOf(MANY)), 'lines after that');
  const lines = read().split('\n');
  assert.equal(lines.pop(), '');
  assert.equal(lines.at(-2), `dropped ${atFirst}`);
  assert.deepEqual(
    lines.slice(0, -2),
    Array.from({ length: MANY - atFirst }, (_, i) => lineOf(i).trimEnd()),
  );
  await output.close();
});

test('a slow reader gets every line, whole and in order', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const { output, dropped } = outputTo(writeEnd);
  for (let i = 0; i < MANY; i++) output.write(lineOf(i));
  await eventually(() => read().endsWith(lineOf(MANY - 1)), 'the last line');
  assert.equal(read(), Array.from({ length: MANY }, (_, i) => lineOf(i)).join(''));
  assert.equal(dropped.lines, 0);
  await output.close();
});

test('closing waits for a reader, but not for one that stands still', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const slow = outputTo(writeEnd).output;
  for (let i = 0; i < 750; i++) slow.write(lineOf(i));
  const closing = slow.close();
  await eventually(() => read().endsWith(lineOf(749)), 'the last line');
  await closing;
  const stuck = outputTo(writeEnd).output;
  for (let i = 0; i < MANY; i++) stuck.write(lineOf(i));
  await stuck.close();
  const atOnce = outputTo(writeEnd).output;
  atOnce.write('last\n');
  atOnce.closeNow();
  read();
  const next = outputTo(writeEnd).output;
  next.write('very last\n');
  next.closeNow();
  assert.match(read(), /very last\n$/);
});

for (const [what, open] of [
  ['a full disk', () => fs.openSync('/dev/full', 'w')],
  ['a descriptor that cannot be written', () => fs.openSync('/dev/null', 'r')],
] as const) {
  test(`${what} holds nothing up, and what waits for it is bounded`, async (t) => {
    const fd = open();
    t.after(() => fs.closeSync(fd));
    const { output } = outputTo(fd, 10_000);
    for (let i = 0; i < 1000; i++) output.write(lineOf(i));
    await output.close();
    output.write('too late\n');
    output.closeNow();
    const other = outputTo(fd, 10_000).output;
    for (let i = 0; i < 1000; i++) other.write(lineOf(i));
    other.closeNow();
  });
}

test('lines that a disk takes only in part are not torn', async (t) => {
  const file = path.join(temporaryFolder(t), 'log');
  // The largest file that programs of this shell may write, in KiB.
  const script = `
    const { BackgroundOutput } = await import(${JSON.stringify(new URL('../../src/base/observe/background-output.js', import.meta.url).href)});
    const { openSync, truncateSync } = await import('node:fs');
    process.on('SIGXFSZ', () => {});
    const output = new BackgroundOutput(openSync(${JSON.stringify(file)}, 'a'), { describeDropped: () => '', onDropped: () => {} });
    for (let i = 0; i < 200; i++) output.write('line ' + i + ' ' + 'x'.repeat(80) + '\\n');
    let isEmptied = false;
    const look = setInterval(() => {
      const { size } = fs.statSync(${JSON.stringify(file)});
      if (size === 0 || (!isEmptied && size < 8192)) return;
      if (isEmptied) {
        // Not before the lines that had no room are there: closing waits for a busy disk for half a second only.
        clearInterval(look);
        void output.close();
        return;
      }
      fs.writeFileSync(${JSON.stringify(`${file}.first`)}, fs.readFileSync(${JSON.stringify(file)}));
      truncateSync(${JSON.stringify(file)});
      isEmptied = true;
    }, 10);
    const fs = await import('node:fs');`;
  const shell = `ulimit -f 8; exec "$0" --input-type=module -e "$1"`;
  execFileSync('bash', ['-c', shell, process.execPath, script], { timeout: 60_000 });
  const text = fs.readFileSync(`${file}.first`, 'utf8') + fs.readFileSync(file, 'utf8');
  const numbers = text
    .trimEnd()
    .split('\n')
    .map((line) => /^line (\d+) x{80}$/.exec(line)?.[1]);
  const wanted = Array.from(numbers, (_, i) => String(i));
  assert.deepEqual(numbers.slice(0, -1), wanted.slice(0, -1));
  assert.ok(numbers.length > 100, String(numbers.length));
});

test('the log counts dropped lines, also those before anybody counted', async (t) => {
  const { writeEnd, read } = makePipe(t);
  const log = createLog({ logLevel: 'info', logFormat: 'json', processes: 0 }, writeEnd);
  const filler = 'x'.repeat(1000);
  for (let i = 0; i < 6000; i++) log.logger.info({ filler }, 'line');
  let counted = 0;
  log.countDropped((lines) => {
    counted += lines;
  });
  const before = counted;
  assert.ok(before > 1000 && before < 3000, String(before));
  log.logger.info({ filler }, 'one more');
  assert.equal(counted, before + 1);
  await eventually(() => read().includes('dropped'), 'the line about them');
  await log.close();
  const said = read()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    .at(-1);
  assert.equal(said.level, 'warn');
  assert.equal(said.lines, counted);
});
