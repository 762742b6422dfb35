// SPDX-License-Identifier: Apache-2.0
import type { Database } from './database.js';

/** Calls `onChange` for an announcement of any of these topics; may come too often. @returns ends it */
export function followAll(
  database: Pick<Database, 'follow'>,
  topics: readonly string[],
  onChange: () => void,
): () => void {
  const ends = topics.map((topic) => database.follow(topic, onChange));
  return () => {
    for (const end of ends) end();
  };
}
