// SPDX-License-Identifier: Apache-2.0
//
// Pages of `veravox predict --html`, read by Python's HTML parser, and by Chromium where there is one.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Prediction } from '../../src/base/contract/prediction.js';
import { MAX_BINS, type Outline, OutlineBuilder } from '../../src/cli/timeline/outline.js';
import { Outliner } from '../../src/cli/timeline/outliner.js';
import { type TimelineEntry, timelinePage } from '../../src/cli/timeline/timeline-page.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { monoWav } from '../support/wav.js';

const RATE_HZ = 16_000;

const hostile = [
  '<img src=x onerror=alert(1)>.wav',
  '"><script>document.title="owned"</script>',
  `' onmouseover='alert(1)`,
  '</title></style></svg><iframe srcdoc="<script>alert(1)</script>">',
  '&lt;b&gt;<!--',
  '\u202Egnp.wav\u0000\u0007\n',
];

function predictionOf(windows: number, warnings: readonly string[] = []): Prediction {
  const segments = Array.from({ length: windows }, (_, i) => {
    const score = ((7 * i) % 100) / 100;
    const result = score >= 0.5 ? ('spoofed' as const) : ('bonafide' as const);
    return { start: 5 * i, end: 5 * i + 5, scores: [score], confidence: Math.abs(2 * score - 1), result };
  });
  return {
    prediction_id: 'pred_1',
    global: { score: 0.75, confidence: 0.5, result: 'spoofed', reason: 'mixed_content' },
    segments,
    model: 'm',
    processing_time: 1,
    audio_duration: 5 * windows,
    warnings,
  };
}

function outlineOf(durationS: number): Outline {
  const builder = new OutlineBuilder();
  const second = Float32Array.from({ length: RATE_HZ }, (_, i) => Math.sin(i) * (i / RATE_HZ));
  const speech = Uint8Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? 1 : 0));
  for (let s = 0; s < durationS; s++) builder.add(second, speech);
  return builder.done();
}

const entry = (file: string, windows = 3): TimelineEntry => ({
  file,
  prediction: predictionOf(windows, [file]),
  modelId: file,
  threshold: 0.5,
  outline: outlineOf(5),
});

interface Parsed {
  readonly tags: readonly [name: string, attributes: readonly [string, string | null][]][];
  readonly texts: readonly string[];
}

const PARSE = `
import html.parser, json, sys
tags, texts = [], []
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs): tags.append([tag, attrs])
    def handle_data(self, data): texts.append(data)
Reader().feed(sys.stdin.buffer.read().decode())
print(json.dumps({"tags": tags, "texts": texts}))
`;
const parsed = (page: string): Parsed =>
  JSON.parse(execFileSync('python3', ['-c', PARSE], { input: page, maxBuffer: 1 << 28 }).toString());

const expectedTags = new Set(
  'html head meta title style body main h1 h2 bdi div p strong section ul li details summary a table thead tbody tr th td svg rect path line text'.split(
    ' ',
  ),
);

/** No part of a page loads, runs or links to anything. */
function assertHarmless(page: string): Parsed {
  const found = parsed(page);
  for (const [tag, attributes] of found.tags) {
    assert.ok(expectedTags.has(tag), tag);
    for (const [name, value] of attributes) {
      assert.doesNotMatch(name, /^(?:on|src|style|action|formaction|data|xlink)/, `${tag} ${name}`);
      if (name === 'href') assert.match(value ?? '', /^#f\d+$/);
    }
  }
  for (const refused of [/[^\P{Cc}\n]|\p{Cf}/u, /@import|url\(/])
    assert.ok(!refused.test(page), refused.source);
  assert.ok(page.includes(`content="default-src 'none'; style-src 'unsafe-inline'"`));
  return found;
}

test('names of files, models and warnings are text, whatever they hold', () => {
  for (const file of hostile) {
    const { texts } = assertHarmless(timelinePage([entry(file)]));
    const shown = file.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
    assert.ok(texts.includes(shown), file);
  }
  assertHarmless(
    timelinePage([
      ...hostile.map((file) => entry(file)),
      { file: hostile[1] ?? '', problem: hostile[0] ?? '' },
    ]),
  );
});

const browser = ['chromium-headless-shell', 'chromium'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

test('a browser shows the page with hostile names, and runs nothing', {
  skip: browser === undefined && 'no browser',
}, (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'page.html');
  fs.writeFileSync(file, timelinePage(hostile.map((name) => entry(name))));
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    `--user-data-dir=${folder}/profile`,
    '--dump-dom',
  ];
  const dom = execFileSync(browser ?? '', [...args, pathToFileURL(file).href], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { texts } = assertHarmless(dom.toString());
  assert.ok(texts.includes('6 recordings: voices over time'));
});

test('a page says in words and in a table what it draws', () => {
  const page = timelinePage([entry('call.wav', 3)]);
  const { tags, texts } = parsed(page);
  const [, attributes = []] = tags.find(([tag]) => tag === 'svg') ?? [];
  const { role, 'aria-label': label } = Object.fromEntries(attributes);
  assert.equal(role, 'img');
  assert.match(label ?? '', /spoofed, score 0\.750, confidence 0\.500; 0 of 3 windows are spoofed/);
  assert.ok(
    tags.some(([tag]) => tag === 'summary'),
    'opened by keyboard',
  );
  for (const text of [
    'spoofed, score 0.750, confidence 0.500',
    'mixed_content',
    'threshold 0.5',
    '0:05.0 to 0:10.0',
    '0.070',
  ]) {
    assert.ok(texts.includes(text), text);
  }
  assert.equal(
    tags.filter(([tag, its]) => tag === 'th' && its.some(([name]) => name === 'scope')).length,
    3 + 3,
  );
  assert.ok(!/NaN|Infinity|undefined/.test(page));
});

test('a day of audio is a small page, and so is each of many files', () => {
  const outline = outlineOf(86_400);
  assert.ok(
    outline.bins.length <= MAX_BINS && outline.bins.length >= MAX_BINS / 2,
    `${outline.bins.length} bins`,
  );
  assert.ok(Math.abs(outline.bins.length * outline.binS - 86_400) <= outline.binS);
  const prediction = predictionOf(
    17_280,
    Array.from({ length: 5000 }, (_, i) => `Warning ${i}.`),
  );
  const day = { file: 'day.flac', prediction, modelId: 'm', threshold: 0.5, outline };
  const page = timelinePage([day]);
  assert.ok(page.length < 200_000, `${page.length} characters`);
  const { texts } = parsed(page);
  // Each row stands for 29 windows, and none is lost.
  const rows = [...page.matchAll(/<td>(\d+)<\/td><td>(\d+)<\/td><\/tr>/g)];
  const sum = (column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0);
  assert.deepEqual(
    [sum(1), sum(2)],
    [17_280, prediction.segments.filter(({ result }) => result === 'spoofed').length],
  );
  assert.ok(texts.includes('and 4800 more'));
  const many = timelinePage(Array.from({ length: 20 }, () => day));
  assert.ok(many.length < 20 * 30_000, `${many.length} characters`);
});

async function outlined(t: TestContext, samples: Float32Array): Promise<Outline> {
  const file = new Uint8Array(monoWav(samples, RATE_HZ));
  const memory = new SharedArrayBuffer(file.length + 16);
  new Uint8Array(memory).set(file, 16);
  const outliner = new Outliner({ decoderSandbox: 'auto' }, 86_400);
  t.after(() => outliner.close());
  await assert.rejects(outliner.outline({ memory, offset: 0, length: 16 }));
  return outliner.outline({ memory, offset: 16, length: file.length });
}

test('the outline has each sample once, at its time', async (t) => {
  // 12.3 s: the last window overlaps the one before.
  const samples = new Float32Array(12.3 * RATE_HZ);
  samples.fill(0.5, 3 * RATE_HZ, 4 * RATE_HZ);
  samples.fill(-0.25, 11 * RATE_HZ, 12 * RATE_HZ);
  const { binS, bins } = await outlined(t, samples);
  assert.ok(Math.abs(bins.length * binS - 12.3) <= binS, `${bins.length} bins of ${binS} s`);
  bins.forEach(({ high, low }, i) => {
    const timeS = i * binS;
    const isInside = (startS: number): boolean =>
      timeS > startS + 0.02 && timeS < startS + 1 - 2 * binS - 0.02;
    const isNear = (startS: number): boolean => timeS > startS - 2 * binS - 0.02 && timeS < startS + 1.02;
    if (isInside(3)) assert.ok(Math.abs(high - 0.5) < 0.001 && Math.abs(low - 0.5) < 0.001, `${timeS} s`);
    if (isInside(11)) assert.ok(Math.abs(high + 0.25) < 0.001, `${timeS} s`);
    if (!isNear(3) && !isNear(11)) assert.ok(Math.abs(high) < 0.001 && Math.abs(low) < 0.001, `${timeS} s`);
  });
});

test('a command writes one page for all files, or one for each, also for those that fail', async (t) => {
  const folder = temporaryFolder(t);
  const recordings = path.join(folder, 'recordings');
  fs.mkdirSync(path.join(recordings, 'sub'), { recursive: true });
  fs.copyFileSync('test/fixtures/human-lj-a.mp3', path.join(recordings, 'a.mp3'));
  fs.copyFileSync('test/fixtures/human-lj-a.mp3', path.join(recordings, 'sub/a.mp3'));
  fs.writeFileSync(path.join(recordings, 'broken.wav'), 'not audio');
  const settings = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  const all = path.join(folder, 'all.html');
  const pages = path.join(folder, 'new/pages');
  const one = await runCli(['predict', recordings, '--html', all], settings);
  assert.equal(one.status, 1, 'one file is not audio');
  const { tags, texts } = assertHarmless(fs.readFileSync(all, 'utf8'));
  assert.equal(tags.filter(([tag]) => tag === 'section').length, 3);
  assert.equal(tags.filter(([, attributes]) => attributes.some(([, value]) => value === 'speech')).length, 2);
  assert.ok(texts.some((text) => text.startsWith('Not analysed: The file is not in a supported format')));
  await runCli(['predict', recordings, '--html', pages], settings);
  assert.deepEqual(fs.readdirSync(pages).sort(), ['a.mp3-2.html', 'a.mp3.html', 'broken.wav.html']);
  const refused = await runCli(
    ['predict', recordings, '--html', path.join(folder, 'none/all.html')],
    settings,
  );
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /no such file or folder: .*all\.html/);
});
