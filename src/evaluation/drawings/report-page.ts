// SPDX-License-Identifier: Apache-2.0
import type { Figure, GroupClass, ListedShare, Report, Share } from '../figures/report.js';
import { columnsOf, groupDrawings, overallDrawings } from './drawings.js';
import { percent } from './frame.js';
import { rowsOf } from './group-plot.js';
import { comparisonRows, meanInside, missingMeans, missingThresholds, wrongRow } from './report-rows.js';
import { escaped, inlineSvg, plotStyle } from './svg.js';
import { errorNames, rowNames } from './wording.js';

const pageStyle = `:root{color-scheme:light dark;--page:#f6f8fa;--card:#ffffff;--text:#1f2328;--soft:#59636e;--rule:#d1d9e0}
@media (prefers-color-scheme:dark){:root{--page:#010409;--card:#0d1117;--text:#f0f6fc;--soft:#9198a1;--rule:#3d444d}}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:980px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:24px;margin:0}h2{font-size:18px;margin:32px 0 8px}
p{margin:6px 0}.soft{color:var(--soft)}
section,details,.tiles{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:12px 16px;margin:12px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px 24px}
.tiles b{display:block;font-size:24px;line-height:1.25}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(400px,1fr));gap:12px}
.plots svg,details svg{width:100%;height:auto;border:1px solid var(--rule);border-radius:8px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:3px 8px;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}
summary{cursor:pointer;font-weight:600}.wide{overflow-x:auto}`;

type Cell = string | number;

function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const head = headings.map((heading) => `<th>${escaped(heading)}</th>`).join('');
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${escaped(String(cell))}</td>`).join('')}</tr>`,
  );
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}

const range = ([low, high]: readonly [number, number], text: (value: number) => string): string =>
  `${text(low)} to ${text(high)}`;
const decimals = (value: number): string => value.toFixed(3);

function tile(name: string, value: string, note: string): string {
  const title = escaped(name.charAt(0).toUpperCase() + name.slice(1));
  const [whole, small] = [value, note].map((text) => escaped(text).replaceAll(' %', '&nbsp;%'));
  return `<div><span class="soft">${title}</span><b>${whole}</b><span class="soft">${small}</span></div>`;
}

const figureTile = (name: string, figure: Figure | null, text: (value: number) => string): string =>
  figure ? tile(name, text(figure.value), range(figure.interval_95, text)) : '';

const shareTile = (name: string, share: Share | null): string =>
  share
    ? tile(name, percent(share.value), `${share.count} of ${share.of}, ${range(share.interval_95, percent)}`)
    : '';

const classCells = ({ count, mean_score, errors, eer, auc }: GroupClass): Cell[] => [
  count,
  decimals(mean_score),
  percent(errors.value),
  range(errors.interval_95, percent),
  eer === null ? '' : percent(eer),
  auc === null ? '' : decimals(auc),
];

/** One page that needs nothing else: no network, no script. Legible in light and dark. */
export function reportPage(report: Report): string {
  const { task, classes, counts, overall, at_threshold, inside_one_source, calibration, list, model } =
    report;
  const names = errorNames[task];
  const rows = rowNames[task];
  const where = list.where.length === 0 ? '' : ` where ${list.where.join(' and ')}`;
  const point = report.threshold_name === null ? '' : ` (${report.threshold_name})`;
  const head =
    `<h1>${escaped(model.id)}</h1><p>${escaped(list.file)}${escaped(where)}: ` +
    `${counts.negative} ${classes.negative} and ${counts.positive} ${classes.positive} ${rows}` +
    `${counts.failed > 0 ? `, and ${counts.failed} without a score` : ''}.</p>` +
    `<p class="soft">${escaped(report.created_at)}, veravox ${escaped(report.veravox_version)}, model file ${model.sha256.slice(0, 12)}…</p>`;
  const tiles = [
    figureTile('Equal error rate', overall.eer, percent),
    figureTile('AUC', overall.auc, decimals),
    figureTile('EER, systems and sources alike', overall.eer_groups_alike, percent),
    figureTile('AUC, systems and sources alike', overall.auc_groups_alike, decimals),
    ...(overall.min_dcf ?? []).map((cost) =>
      figureTile(`Lowest detection cost (${cost.name})`, cost, decimals),
    ),
    figureTile('Mean AUC inside one source', meanInside(inside_one_source), decimals),
    shareTile(`Accuracy at ${at_threshold.threshold}${point}`, at_threshold.accuracy),
    shareTile(names.fpr, at_threshold.fpr),
    shareTile(names.fnr, at_threshold.fnr),
    tile('Calibration error', percent(calibration.expected_calibration_error), 'expected, over ten bins'),
    tile('Brier score', decimals(calibration.brier), '0 is best'),
    tile('Log loss', decimals(calibration.log_loss), '0 is best'),
  ];
  const note =
    `<p class="soft">Ranges are 95 % intervals. For figures, whole generators, speakers or sources are resampled ` +
    `(${counts.positive_units} of ${classes.positive}, ${counts.negative_units} of ${classes.negative}); ` +
    `for shares, they are Wilson intervals, which assume independent ${rows} and are too narrow otherwise.</p>`;
  const plots = `<div class="plots">${overallDrawings(report).map(inlineSvg).join('\n')}</div>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(model.id)}: evaluation</title>
<style>${pageStyle}
${plotStyle}</style></head><body><main>
${head}
<div class="tiles">${tiles.join('')}</div>
${note}
${notGivenNote(report)}
${plots}
${thresholdSection(report)}
${wrongSection(report)}
${comparisonSection(report)}
${groupSections(report)}
${insideSection(report)}
${failureSection(report)}
</main></body></html>
`;
}

function thresholdSection(report: Report): string {
  const { thresholds, task } = report;
  if (thresholds.length === 0) return '';
  const names = errorNames[task];
  const rows = thresholds.map(({ threshold, target_fpr, fpr, fnr }) => [
    threshold,
    target_fpr === null ? '' : `at most ${percent(target_fpr)} ${names.fpr}`,
    ...shareCells(fpr),
    ...shareCells(fnr),
  ]);
  const headings = ['threshold', 'chosen for', names.fpr, '95 %', names.fnr, '95 %'];
  const missing = missingThresholds(report).map((text) => `<p class="soft">${escaped(text)}</p>`);
  return `<h2>Thresholds</h2><section>${table(headings, rows)}${missing.join('')}</section>`;
}

const shareCells = ({ value, interval_95_units }: ListedShare): Cell[] => [
  percent(value),
  interval_95_units === null ? '' : range(interval_95_units, percent),
];

function wrongSection({ most_wrong, task }: Report): string {
  if (most_wrong.length === 0) return '';
  const rows = most_wrong.map(wrongRow);
  const headings = [rowNames[task], 'label', 'score', 'confidence', 'reason', 'system or source'];
  return `<h2>Most confidently wrong</h2><section>${table(headings, rows)}</section>`;
}

function comparisonSection({ comparison, task, model }: Report): string {
  if (comparison === null) return '';
  const { figures, tests, why_no_intervals } = comparisonRows(task, comparison);
  const why =
    why_no_intervals === null ? '' : `<p class="soft">No intervals: ${escaped(why_no_intervals)}.</p>`;
  return (
    `<h2>Compared with ${escaped(comparison.id)}</h2><section>` +
    table(['figure', model.id, comparison.id, 'difference', '95 %'], figures) +
    why +
    table(['only one is wrong on', model.id, comparison.id, 'McNemar\u2019s p'], tests) +
    '</section>'
  );
}

function notGivenNote(report: Report): string {
  const texts = missingMeans(report);
  return texts.length === 0 ? '' : `<p class="soft">${escaped(texts.join(' '))}</p>`;
}

function groupSections(report: Report): string {
  const drawings = groupDrawings(report);
  const sections = columnsOf(report).map((column, i) => {
    const drawing = drawings[i];
    const rows = rowsOf(report, column).map(({ kind, name, members }) => [
      name,
      report.classes[kind],
      ...classCells(members),
    ]);
    const inside = report.groups.flatMap(({ column: own, value, within }) =>
      own === column && within ? [[value, percent(within.eer), decimals(within.auc)]] : [],
    );
    const both =
      inside.length === 0
        ? ''
        : `<p>Groups with both classes, against each other:</p>${table([column, 'EER', 'AUC'], inside)}`;
    return (
      `<details${i === 0 ? ' open' : ''}><summary>By ${escaped(column)}</summary>${drawing ? inlineSvg(drawing) : ''}` +
      table([column, 'class', 'count', 'mean score', 'errors', '95 %', 'EER', 'AUC'], rows) +
      `${both}</details>`
    );
  });
  if (sections.length === 0) return '';
  const note = `<p class="soft">Errors are at the threshold; EER and AUC are against the whole other class.</p>`;
  return `<h2>Groups</h2>${note}${sections.join('\n')}`;
}

function insideSection({ inside_one_source: inside }: Report): string {
  if (inside === null) return '';
  const rows = inside.sources.map(({ source, negative, positive, auc }) => [
    source,
    negative,
    positive,
    decimals(auc),
  ]);
  return `<h2>Inside one source</h2><section>${table(['source', 'negatives', 'positives', 'AUC'], rows)}</section>`;
}

function failureSection({ failures, classes }: Report): string {
  if (failures.length === 0) return '';
  const rows = failures.map(({ code, negative, positive }) => [code, negative, positive]);
  const lists = failures.map(({ code, files }) => {
    const lines = files.map(({ name, message }) => [name, message]);
    return `<details><summary>${escaped(code)}</summary>${table(['file', 'what was wrong'], lines)}</details>`;
  });
  return (
    `<h2>Without a score</h2><section>${table(['code', classes.negative, classes.positive], rows)}</section>` +
    lists.join('\n')
  );
}
