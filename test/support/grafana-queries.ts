// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';

const read = (file: string): string => fs.readFileSync(path.join(packageDir, file), 'utf8');

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** Each query of the Grafana dashboard, with the title of its panel. */
export const dashboardQueries = (): { title: string; query: string }[] =>
  (JSON.parse(read('deploy/grafana/veravox.json')).panels as Panel[]).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      query: expr.replaceAll('$job', 'veravox.*').replaceAll('$__rate_interval', '1m'),
    })),
  );
