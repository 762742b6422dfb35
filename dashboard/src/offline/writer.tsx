// SPDX-License-Identifier: Apache-2.0
//
// Pages and plots of commands, made by Node of the dashboard's parts.
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { printable } from '../logic/printable.js';
import type { Report } from '../logic/report.js';
import { Name } from '../parts/name.js';
import { OpenedReport } from '../views/reports/opened-report.js';
import { Reliability, Scores, Trade } from '../views/reports/report-plots.js';
import { documentOf, type Inline } from './document.js';
import { jsonInPage } from './in-page.js';
import { type Entry, sheetsOf } from './sheet.js';
import { Sheets } from './sheets.js';

/** Put in by the build. */
declare const built: {
  readonly reportStyle: Inline;
  readonly timelineStyle: Inline;
  readonly timelineScript: Inline;
  readonly plotStyle: string;
};

/** A report of `veravox evaluate`, which runs no script. */
export const reportPage = (report: Report): string =>
  documentOf({
    title: `${printable(report.model.id)}: evaluation`,
    style: built.reportStyle,
    children: (
      <>
        <h1>
          Evaluation of <Name text={report.model.id} />
        </h1>
        <OpenedReport report={report} fileName={report.list.file} />
      </>
    ),
  });

/** Findings of `veravox predict` over time. Verdicts can be read without a script, and timelines need one. */
export function timelinePage(entries: readonly Entry[]): string {
  const sheets = sheetsOf(entries);
  const [first] = entries;
  const name = entries.length === 1 && first !== undefined ? first.file : `${entries.length} recordings`;
  return documentOf({
    title: `${printable(name)}: voices over time`,
    style: built.timelineStyle,
    script: built.timelineScript,
    data: jsonInPage(sheets),
    children: <Sheets sheets={sheets} />,
  });
}

/** The plots of a report, each as a file of its own. @returns its content by its name, without plots that cannot be drawn */
export function plotFiles(report: Report): ReadonlyMap<string, string> {
  const plots: Readonly<Record<string, VNode>> = {
    det: <Trade report={report} />,
    scores: <Scores report={report} />,
    reliability: <Reliability report={report} />,
  };
  return new Map(
    Object.entries(plots).flatMap(([name, plot]): [string, string][] => {
      const [svg] = /<svg.*<\/svg>/s.exec(renderToString(plot)) ?? [];
      return svg === undefined ? [] : [[name, `${svg.replace('>', `><style>${built.plotStyle}</style>`)}\n`]];
    }),
  );
}
