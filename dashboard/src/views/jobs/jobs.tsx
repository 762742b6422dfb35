// SPDX-License-Identifier: Apache-2.0
import type { ViewProps } from '../../place.js';
import { JobList } from './job-list.js';
import { JobPage } from './job-page.js';

/** Work in the background: all of it, or one job. */
export default function Jobs({ place }: ViewProps) {
  return place.id === '' ? <JobList query={place.query} /> : <JobPage key={place.id} id={place.id} />;
}
