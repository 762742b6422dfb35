// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { packageDir } from '../../src/base/config/package-dir.js';

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** The wings of `src` with their rooms and the imports between wings, as a Mermaid diagram. */
export async function importDrawing(): Promise<string> {
  const arrows = await importsBetweenWings();
  const lines = [...arrows].flatMap(([from, targets]) =>
    [...withoutDetours(from, targets, arrows)].sort().map((to) => `  ${idOf(from)} --> ${idOf(to)}`),
  );
  const boxes = [...arrows.keys()].map(
    (wing) => `  ${idOf(wing)}["<b>${wing}</b><br>${roomsOf(wing).join('<br>')}"]`,
  );
  return ['```mermaid', 'flowchart TD', ...boxes, ...lines, '```'].join('\n');
}

// A name may be a Mermaid keyword, or contain a hyphen.
const idOf = (name: string): string => `wing_${name.replaceAll('-', '_')}`;

function roomsOf(wing: string): string[] {
  const entries = fs.readdirSync(path.join(packageDir, 'src', wing), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

async function importsBetweenWings(): Promise<Arrows> {
  const { output } = await cruise(['src'], {
    baseDir: packageDir,
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
  });
  const { modules } = output as ICruiseResult;
  const wingOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1];
  const arrows = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = wingOf(source);
    if (from === undefined) continue;
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    for (const { resolved } of dependencies) {
      const to = wingOf(resolved);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  return new Map([...arrows].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Omits arrows that are implied by others: the picture would be all arrows. */
function withoutDetours(from: string, targets: ReadonlySet<string>, arrows: Arrows): Set<string> {
  const isReachedThrough = (via: string, goal: string, seen = new Set([from])): boolean => {
    if (via === goal) return true;
    if (seen.has(via)) return false;
    seen.add(via);
    return [...(arrows.get(via) ?? [])].some((next) => isReachedThrough(next, goal, seen));
  };
  const isDetour = (to: string): boolean =>
    [...targets].some((via) => via !== to && isReachedThrough(via, to));
  return new Set([...targets].filter((to) => !isDetour(to)));
}
