// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageDir } from '../base/config/package-dir.js';
import type { Prediction } from '../base/contract/prediction.js';
import type { Report } from '../evaluation/figures/report.js';
import type { Outline } from './timeline/outline.js';

/** A file that was analysed, or the problem with it. */
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

/** The dashboard's views as pages that need nothing else: `dashboard/src/offline/writer.tsx`. */
export interface OfflinePages {
  reportPage(report: Report): string;
  timelinePage(entries: readonly TimelineEntry[]): string;
  /** The plots of a report as SVG, by their names. */
  plotFiles(report: Report): ReadonlyMap<string, string>;
}

/** `npm run build:ts` puts them there. */
export const loadOfflinePages = (): Promise<OfflinePages> =>
  import(pathToFileURL(path.join(packageDir, 'dist/offline/writer.js')).href);
