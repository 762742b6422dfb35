// SPDX-License-Identifier: Apache-2.0
//
// This room is `veravox predict --html`: pages with the waveform of a recording and its verdict over time.
// A page is one file that loads nothing.
import { type Reason, reasons } from '../../analysis/verdict/reasons.js';
import type { Prediction } from '../../base/contract/prediction.js';
import { escaped, plotStyle } from '../../evaluation/drawings/svg.js';
import { clock } from '../prediction-table.js';
import { coarser, MAX_BINS, type Outline } from './outline.js';
import { timelineDrawing } from './timeline-drawing.js';
import { type TimelineRow, timelineRows } from './timeline-rows.js';

/** A file that was analysed, or why it was not. */
export type TimelineEntry =
  | {
      readonly file: string;
      readonly prediction: Prediction;
      /** The exact model. */
      readonly modelId: string;
      readonly threshold: number;
      readonly outline: Outline | undefined;
    }
  | { readonly file: string; readonly problem: string };

/** The detail shown of each file. */
interface Detail {
  readonly maxBins: number;
  readonly maxRows: number;
  readonly maxWarnings: number;
}

const whole: Detail = { maxBins: MAX_BINS, maxRows: 600, maxWarnings: 200 };
/** On a page of more files than this. */
const MANY_FILES = 10;
const reduced: Detail = { maxBins: 400, maxRows: 60, maxWarnings: 5 };

const style = `:root{color-scheme:light dark;--page:#f6f8fa;--card:#ffffff;--text:#1f2328;--soft:#59636e;--rule:#d1d9e0}
@media (prefers-color-scheme:dark){:root{--page:#010409;--card:#0d1117;--text:#f0f6fc;--soft:#9198a1;--rule:#3d444d}}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1020px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:22px;margin:0 0 12px}h2{font-size:18px;margin:0;overflow-wrap:anywhere}
p{margin:6px 0}.soft{color:var(--soft)}
section{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:12px 16px;margin:12px 0}
.verdict{font-size:18px;font-weight:600}
svg{width:100%;height:auto;margin:8px 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:2px 8px;border-bottom:1px solid var(--rule)}
th[scope=row],.left{text-align:left;overflow-wrap:anywhere}
summary{cursor:pointer;font-weight:600}.wide{overflow-x:auto}
a{color:inherit}:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.plot .wave{stroke:var(--plot-muted);fill:none}.plot .speech{fill:var(--plot-ink);fill-opacity:.6}`;

/** Shows characters that could turn or hide text in a line as question marks. */
const shown = (name: string): string =>
  escaped(name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\u{FFFD}'));

const number = (value: number): string => value.toFixed(3);

/**
 * One page that needs nothing else: no network, no script, and a policy that allows neither. A screen reader gets the drawing's
 * summary and the table.
 */
export function timelinePage(entries: readonly TimelineEntry[]): string {
  const detail = entries.length > MANY_FILES ? reduced : whole;
  const [first] = entries;
  const title =
    entries.length === 1 && first !== undefined ? shown(first.file) : `${entries.length} recordings`;
  const list = entries.length > 1 ? overview(entries) : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>${title}: voices over time</title>
<style>${style}
${plotStyle}</style></head><body><main>
<h1><bdi>${title}</bdi></h1>
${list}
${entries.map((entry, i) => sectionOf(entry, i, detail)).join('\n')}
</main></body></html>
`;
}

function overview(entries: readonly TimelineEntry[]): string {
  const rows = entries.map((entry, i) => {
    const link = `<th scope="row"><a href="#f${i}"><bdi>${shown(entry.file)}</bdi></a></th>`;
    if ('problem' in entry) return `<tr>${link}<td class="left" colspan="4">not analysed</td></tr>`;
    const { global, audio_duration } = entry.prediction;
    const cells = [global.result, number(global.score), global.reason ?? '', clock(audio_duration)];
    return `<tr>${link}${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`;
  });
  const head = ['verdict', 'score', 'reason', 'duration']
    .map((name) => `<th scope="col">${name}</th>`)
    .join('');
  return `<div class="wide"><table><thead><tr><th scope="col" class="left">file</th>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
}

function sectionOf(entry: TimelineEntry, i: number, detail: Detail): string {
  const heading = `<h2><bdi>${shown(entry.file)}</bdi></h2>`;
  if ('problem' in entry) {
    return `<section id="f${i}" aria-label="not analysed">${heading}<p>Not analysed: ${shown(entry.problem)}</p></section>`;
  }
  const { prediction, modelId, threshold, outline } = entry;
  const { global, segments, warnings, audio_duration: durationS } = prediction;
  const rows = timelineRows(segments, detail.maxRows);
  const spoofed = segments.filter(({ result }) => result === 'spoofed').length;
  const verdict = `${global.result}, score ${number(global.score)}, confidence ${number(global.confidence)}`;
  const counts = `${spoofed} of ${segments.length} windows are spoofed`;
  const reason =
    global.reason === null
      ? ''
      : `<p><strong>${escaped(global.reason)}</strong>: ${escaped(reasons[global.reason as Reason]?.meaning ?? '')}</p>`;
  const drawing = timelineDrawing(
    { durationS, threshold, rows, outline: outline && coarser(outline, detail.maxBins) },
    `Waveform, speech and scores over ${clock(durationS)}: ${verdict}; ${counts}. The table below has the numbers.`,
  );
  const hidden = warnings.length - detail.maxWarnings;
  const notes = warnings.slice(0, detail.maxWarnings).map((warning) => `<li>${shown(warning)}</li>`);
  if (hidden > 0) notes.push(`<li>and ${hidden} more</li>`);
  return `<section id="f${i}">${heading}
<p class="verdict">${escaped(verdict)}</p>
<p class="soft">${clock(durationS)} of audio, ${escaped(counts)}, threshold ${Number(threshold.toFixed(4))}, model ${shown(modelId)}</p>
${reason}
${drawing}
${notes.length === 0 ? '' : `<ul>${notes.join('')}</ul>`}
<details><summary>Table of scores</summary>${scoreTable(rows)}</details>
</section>`;
}

function scoreTable(rows: readonly TimelineRow[]): string {
  const isGrouped = rows.some(({ windows }) => windows > 1);
  const head = isGrouped ? ['mean', 'lowest', 'highest', 'windows', 'spoofed'] : ['score', 'verdict'];
  const body = rows.map((row) => {
    const cells = isGrouped
      ? [number(row.meanScore), number(row.lowestScore), number(row.highestScore), row.windows, row.spoofed]
      : [number(row.meanScore), row.spoofed > 0 ? 'spoofed' : 'bonafide'];
    return `<tr><th scope="row">${clock(row.startS)} to ${clock(row.endS)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const columns = head.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="wide"><table><thead><tr><th scope="col" class="left">time</th>${columns}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}
