// SPDX-License-Identifier: Apache-2.0
//
// Pages of `veravox predict --html`, read by Python's HTML parser and by Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Prediction } from '../../src/base/contract/prediction.js';
import { loadOfflinePages, type TimelineEntry } from '../../src/cli/offline-pages.js';
import { MAX_BINS, type Outline, OutlineBuilder } from '../../src/cli/timeline/outline.js';
import { Outliner } from '../../src/cli/timeline/outliner.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { assertNoSidewaysScrolling, takeoverOf } from '../support/page-facts.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';

const { timelinePage } = await loadOfflinePages();

const RATE_HZ = 16_000;

const hostile = [
  '<img src=x onerror=alert(1)>.wav',
  '"><script>document.title="owned"</script>',
  `' onmouseover='alert(1)`,
  '</title></style></svg><iframe srcdoc="<script>alert(1)</script>">',
  '&lt;b&gt;<!--',
  '\u202Egnp.wav\u0000\u0007\n',
  '</script><script>document.title="owned"</script>\u2028',
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
  'html head meta title style body main noscript h1 h2 h3 bdi div p span code strong section ul li dl dt dd details summary a table thead tbody tr th td script'.split(
    ' ',
  ),
);

/** Nothing of a page loads or leads anywhere, and nothing runs but its own script. */
function assertHarmless(page: string): Parsed {
  const found = parsed(page);
  for (const [tag, attributes] of found.tags) {
    assert.ok(expectedTags.has(tag), tag);
    for (const [name, value] of attributes) {
      assert.doesNotMatch(name, /^(?:on|src|style|action|formaction|data|xlink)/, `${tag} ${name}`);
      if (name === 'href') assert.match(value ?? '', /^#f\d+$/);
    }
  }
  assert.equal(found.tags.filter(([tag]) => tag === 'script').length, 2, 'the data and the code');
  for (const refused of [/[^\P{Cc}\n]|\p{Cf}|\p{Zl}/u, /@import|url\(/])
    assert.ok(!refused.test(page), refused.source);
  const [, policy = ''] = /content="(default-src [^"]+)"/.exec(page) ?? [];
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'sha256-[\w+/]{43}='; base-uri 'none'; /,
  );
  return found;
}

const shownName = (file: string): string => file.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}]/gu, '\u{FFFD}');

test('names of files, models and warnings are text, whatever they hold', () => {
  for (const file of hostile) {
    const { texts } = assertHarmless(timelinePage([entry(file)]));
    assert.ok(texts.includes(shownName(file)), file);
  }
  assertHarmless(
    timelinePage([
      ...hostile.map((file) => entry(file)),
      { file: hostile[1] ?? '', problem: hostile[0] ?? '' },
    ]),
  );
});

async function opened(t: TestContext, entries: readonly TimelineEntry[]) {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'page.html');
  fs.writeFileSync(file, timelinePage(entries));
  const page = await openPage(t, await launchBrowser(t), pathToFileURL(folder).href);
  await page.goto(pathToFileURL(file).href);
  return page;
}

test('a browser shows hostile names, draws their timelines, and runs nothing of them', async (t) => {
  const page = await opened(
    t,
    hostile.map((file) => entry(file)),
  );
  await page.getByRole('heading', { name: `${hostile.length} recordings` }).waitFor();
  assert.equal(await page.locator('canvas').count(), hostile.length);
  for (const file of hostile) await page.getByRole('heading', { name: shownName(file).trim() }).waitFor();
  const { title, handlers } = await takeoverOf(page);
  assert.equal(title, `${hostile.length} recordings: voices over time`);
  assert.equal(handlers, 0);
  assert.equal(await page.locator('img, iframe, main script').count(), 0);
});

test('a timeline is moved by keyboard, in both themes, on narrow screens and for screen readers', async (t) => {
  const page = await opened(t, [entry('call.wav', 12)]);
  const canvas = page.getByRole('slider', { name: 'Window' });
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  await page.getByText(/^Window 12 of 12, 0:55 to 1:00: score 0\.770, AI-generated/).waitFor();
  await page.getByText('12 windows as a table').click();
  await page.getByRole('button', { name: '0:55' }).waitFor();
  const pictures = new Set<string>();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await assertAccessible(page);
    await keepPicture(page, 'timeline-page', scheme);
    pictures.add((await canvas.screenshot()).toString('base64'));
  }
  assert.equal(pictures.size, 2, 'the drawing follows the theme');
  await page.setViewportSize({ width: 360, height: 740 });
  await assertAccessible(page);
  await assertNoSidewaysScrolling(page);
});

test('of many recordings, a browser draws those that are near', async (t) => {
  const page = await opened(
    t,
    Array.from({ length: 200 }, (_, i) => entry(`${i}.wav`)),
  );
  const isDrawn = (i: number): Promise<boolean> =>
    page.evaluate(`document.querySelectorAll('canvas')[${i}].width > 0`);
  await page.getByRole('link', { name: '0.wav', exact: true }).click();
  await eventually(() => isDrawn(0), 'the first is drawn');
  await page.getByRole('link', { name: '199.wav' }).click();
  await eventually(() => isDrawn(199), 'the last is drawn');
  await eventually(async () => !(await isDrawn(0)), 'the first is not kept');
  const drawn = Number(
    await page.evaluate("[...document.querySelectorAll('canvas')].filter(({ width }) => width > 0).length"),
  );
  assert.ok(drawn < 20, `${drawn}`);
});

test('without scripts, a page says its verdict and the reason', () => {
  const page = timelinePage([entry('call.wav', 3)]);
  const { texts } = parsed(page);
  for (const text of [
    'The timelines need JavaScript.',
    'AI-generated, but 15 s look human at 0:00',
    'mixed_content',
    'A part sounds AI-generated, and the rest does not: the timeline shows where.',
    '0 of 3 windows look AI-generated.',
    '0.750',
    '0.500',
  ]) {
    assert.ok(
      texts.some((each) => each.trim() === text),
      text,
    );
  }
  assert.ok(!/>[^<]*\b(?:NaN|Infinity|undefined)\b/.test(page.slice(0, page.indexOf('<script'))));
});

interface Data {
  readonly speech?: readonly unknown[];
  readonly lanes: readonly {
    readonly windows: readonly { readonly result: string; readonly startS: number; readonly endS: number }[];
    readonly warningCount: number;
    readonly note: string;
  }[];
}
const dataOf = (page: string): Data[] =>
  JSON.parse(/<script id="data" type="application\/json">(.*?)<\/script>/s.exec(page)?.[1] ?? '');

test('a day of audio is a small page, and so is each of many files', () => {
  // Four hours: from 16 s on, the number of bins hardly depends on the length.
  const outlineS = 14_400;
  const outline = outlineOf(outlineS);
  assert.ok(
    outline.bins.length <= MAX_BINS && outline.bins.length >= MAX_BINS / 2,
    `${outline.bins.length} bins`,
  );
  assert.ok(Math.abs(outline.bins.length * outline.binS - outlineS) <= outline.binS);
  const made = predictionOf(
    17_280,
    Array.from(
      { length: 5000 },
      (_, i) => `Not analysed from ${15 * i} s to ${15 * i + 5} s: 95 percent is not speech (more than 80).`,
    ),
  );
  // A single AI-generated window in a human day.
  const segments = made.segments.map((segment, i) => ({
    ...segment,
    ...(i === 9999
      ? { scores: [0.9], result: 'spoofed' as const }
      : { scores: [0.000123 * (i % 1000)], result: 'bonafide' as const }),
  }));
  const global = { ...made.global, result: 'bonafide' as const };
  const day = {
    file: 'day.flac',
    prediction: { ...made, global, segments },
    modelId: 'm',
    threshold: 0.5,
    outline,
  };
  const page = timelinePage([day]);
  assert.ok(page.length < 200_000, `${page.length} characters`);
  const [{ lanes: [lane] = [] } = { lanes: [] }] = dataOf(page);
  assert.ok(lane && lane.windows.length <= 600 && lane.windows.length >= 250, `${lane?.windows.length}`);
  assert.ok(page.includes('but 5 s look AI-generated at 13:53:15'));
  assert.match(lane.note, /^1 of 17280 windows look AI-generated\. Neighbours are joined: /);
  const spoofed = lane.windows.filter(({ result }) => result === 'spoofed');
  assert.equal(spoofed.length, 1);
  assert.ok(Math.abs((spoofed[0]?.startS ?? 0) - 5 * 9999) < 300, 'at its time, as near as it is seen');
  assert.deepEqual(
    lane.windows.slice(1).filter(({ startS }, i) => startS !== lane.windows[i]?.endS),
    [],
    'no time is left out',
  );
  assert.equal(lane.warningCount, 5000);
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
  const settings = { VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even') };
  const all = path.join(folder, 'all.html');
  const pages = path.join(folder, 'new/pages');
  const one = await runCli(['predict', recordings, '--html', all], settings);
  assert.equal(one.status, 1, 'one file is not audio');
  const { tags, texts } = assertHarmless(fs.readFileSync(all, 'utf8'));
  const sections = tags.filter(([tag, its]) => tag === 'section' && its.some(([name]) => name === 'id'));
  assert.equal(sections.length, 3);
  assert.equal(dataOf(fs.readFileSync(all, 'utf8')).filter(({ speech }) => speech?.length).length, 2);
  assert.ok(texts.some((text) => text.startsWith('The file is not in a supported format')));
  await runCli(['predict', recordings, '--html', pages], settings);
  assert.deepEqual(fs.readdirSync(pages).sort(), ['a.mp3-2.html', 'a.mp3.html', 'broken.wav.html']);
  const refused = await runCli(
    ['predict', recordings, '--html', path.join(folder, 'none/all.html')],
    settings,
  );
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /no such file or folder: .*all\.html/);
  const [a, b] = ['a.mp3', 'sub/a.mp3'].map((name) => path.join(recordings, name)) as [string, string];
  const swapped = await runCli(['predict', '--html', a, b], settings);
  assert.equal(swapped.status, 1);
  assert.match(
    swapped.stderr,
    /a folder or a name that ends in \.html for --html but received .*a\.mp3, a file/,
  );
  assert.deepEqual(fs.readFileSync(a), fs.readFileSync(b), 'the recording is still there');
});
