// SPDX-License-Identifier: Apache-2.0

/** A drawing: inline in a page it takes its colours from the page's `plotStyle`. */
export interface Drawing {
  /** Names its file, such as `det`. */
  readonly name: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly content: string;
}

const lightColours =
  '--plot-paper:#ffffff;--plot-ink:#1f2328;--plot-muted:#59636e;--plot-grid:#d1d9e0;--plot-positive:#bc4c00;--plot-negative:#0969da';
const darkColours =
  '--plot-paper:#0d1117;--plot-ink:#f0f6fc;--plot-muted:#9198a1;--plot-grid:#3d444d;--plot-positive:#f0883e;--plot-negative:#58a6ff';

/** Blue and orange, which people who see fewer colours tell apart as well; in two sets, for light and dark. */
export const plotStyle = `.plot{${lightColours};font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.plot{${darkColours}}}
.plot .paper{fill:var(--plot-paper)}
.plot text{fill:var(--plot-ink)}
.plot text.muted{fill:var(--plot-muted)}
.plot text.title{font-weight:600;font-size:14px}
.plot .grid{stroke:var(--plot-grid);fill:none}
.plot .frame{stroke:var(--plot-muted);fill:none}
.plot .line{stroke:var(--plot-ink);stroke-width:2;fill:none;stroke-linejoin:round}
.plot .guide{stroke:var(--plot-muted);stroke-dasharray:4 3;fill:none}
.plot .mark{fill:var(--plot-ink)}
.plot .positive{fill:var(--plot-positive);stroke:var(--plot-positive)}
.plot .negative{fill:var(--plot-negative);stroke:var(--plot-negative)}
.plot .whisker{stroke-width:2}
.plot .area{fill-opacity:.25;stroke-width:1.5}`;

/** Text for XML and HTML, in content and in attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A coordinate: a tenth of a pixel is finer than can be seen. */
export const at = (value: number): string => String(Math.round(value * 10) / 10);

type Anchor = 'start' | 'middle' | 'end';

export function label(x: number, y: number, text: string, anchor: Anchor = 'start', kind = ''): string {
  const style = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}"${style}>${escaped(text)}</text>`;
}

/** Along the left edge of a drawing, read upwards. */
export function uprightLabel(x: number, y: number, text: string): string {
  return `<text transform="translate(${at(x)} ${at(y)}) rotate(-90)" text-anchor="middle">${escaped(text)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" class="${kind}"/>`;
}

export function path(points: readonly (readonly [x: number, y: number])[], kind: string): string {
  return `<polyline points="${points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ')}" class="${kind}"/>`;
}

/** A dot that says more when pointed at. */
export function dot(x: number, y: number, kind: string, hint: string, radius = 4): string {
  const title = `<title>${escaped(hint)}</title>`;
  return `<circle cx="${at(x)}" cy="${at(y)}" r="${radius}" class="${kind}">${title}</circle>`;
}

function element({ width, height, title, content }: Drawing, style: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 ${at(width)} ${at(height)}" ` +
    `width="${at(width)}" height="${at(height)}" role="img" aria-label="${escaped(title)}">${style}` +
    `<rect class="paper" width="100%" height="100%"/>${label(12, 22, title, 'start', 'title')}${content}</svg>`
  );
}

/** For a page that has `plotStyle`. */
export const inlineSvg = (drawing: Drawing): string => element(drawing, '');

/** A file of its own. */
export const svgFile = (drawing: Drawing): string => `${element(drawing, `<style>${plotStyle}</style>`)}\n`;
