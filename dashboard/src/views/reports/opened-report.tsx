// SPDX-License-Identifier: Apache-2.0
import type { Report } from '../../logic/report.js';
import { ComparisonSection } from './comparison-section.js';
import { FailuresSection } from './failures-section.js';
import { GroupSections } from './group-sections.js';
import { InsideSection } from './inside-section.js';
import { ReportHead } from './report-head.js';
import { ReportPlots } from './report-plots.js';
import { ThresholdTable } from './threshold-table.js';
import { WrongClips } from './wrong-clips.js';

export interface Opened {
  readonly fileName: string;
  readonly report: Report;
}

/** All of a report; `veravox evaluate --html` writes it as a page. */
export function OpenedReport({ fileName, report }: Opened) {
  return (
    <>
      <ReportHead report={report} fileName={fileName} />
      <ReportPlots report={report} />
      <ThresholdTable report={report} />
      <ComparisonSection report={report} />
      <WrongClips report={report} />
      <GroupSections report={report} />
      <InsideSection report={report} />
      <FailuresSection report={report} />
    </>
  );
}
