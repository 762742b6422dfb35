// SPDX-License-Identifier: Apache-2.0
//
// This room draws the figures of an evaluation as SVG and as one HTML page. All of it is pure functions.
import type { Findings } from '../figures/report.js';
import { detPlot } from './det-plot.js';
import { groupPlot } from './group-plot.js';
import { histogramPlot } from './histogram-plot.js';
import { reliabilityPlot } from './reliability-plot.js';
import type { Drawing } from './svg.js';

/** The columns that have groups, in their order. */
export const columnsOf = ({ groups }: Findings): string[] => [...new Set(groups.map(({ column }) => column))];

/** Drawings of all samples together. */
export function overallDrawings(findings: Findings): Drawing[] {
  const det = detPlot(findings);
  return [...(det ? [det] : []), histogramPlot(findings), reliabilityPlot(findings)];
}

/** One drawing per column. */
export function groupDrawings(findings: Findings): Drawing[] {
  return columnsOf(findings).map((column) => groupPlot(findings, column));
}
