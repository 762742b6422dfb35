// SPDX-License-Identifier: Apache-2.0
//
// Interprets a Dockerfile and a .dockerignore like Docker, as far as this project uses them. Anything else
// throws.
import fs from 'node:fs';
import path from 'node:path';

export interface Copy {
  /** The stage to copy from; undefined for the build context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

export interface Stage {
  readonly name: string | undefined;
  readonly copies: readonly Copy[];
  readonly env: Readonly<Record<string, string>>;
  /** ENTRYPOINT and CMD, one after another. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly workdir: string;
}

export function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const starts = lines.flatMap((line, i) => (line.startsWith('FROM ') ? [i] : []));
  return starts.map((start, i) => stageOf(lines.slice(start, starts[i + 1])));
}

function stageOf(lines: readonly string[]): Stage {
  const argumentsOf = (instruction: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1));
  const list = (instruction: string): string[] => JSON.parse(argumentsOf(instruction)[0] ?? '[]');
  const [healthcheck = '[]'] = argumentsOf('HEALTHCHECK');
  return {
    name: / AS (\S+)$/.exec(lines[0] ?? '')?.[1],
    copies: argumentsOf('COPY').map(copyOf),
    env: Object.fromEntries(
      argumentsOf('ENV').flatMap((line) =>
        line
          .trim()
          .split(/\s+/)
          .map((entry) => entry.split('=') as [string, string]),
      ),
    ),
    command: [...list('ENTRYPOINT'), ...list('CMD')],
    healthcheck: JSON.parse(healthcheck.slice(healthcheck.indexOf('['))),
    workdir: argumentsOf('WORKDIR')[0] ?? '/',
  };
}

function copyOf(line: string): Copy {
  const words = line.trim().split(/\s+/);
  const flags = words.filter((word) => word.startsWith('--'));
  const [from, ...others] = flags;
  if (others.length > 0 || (from !== undefined && !from.startsWith('--from='))) {
    throw new Error(`This test does not know what COPY does with ${flags.join(' ')}.`);
  }
  const paths = words.slice(flags.length);
  return { from: from?.slice('--from='.length), sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/**
 * Whether a .dockerignore excludes a path from the build context: the last pattern that matches the path or one of its
 * folders decides; an exclamation mark includes it.
 */
export function ignorer(dockerignore: string): (file: string) => boolean {
  const patterns = dockerignore
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ lets: line.startsWith('!'), fits: patternOf(line.replace(/^!/, '')) }));
  return (file) => {
    const parts = file.split('/');
    const prefixes = parts.map((_, i) => parts.slice(0, i + 1).join('/'));
    const last = patterns.findLast(({ fits }) => prefixes.some((prefix) => fits.test(prefix)));
    return last !== undefined && !last.lets;
  };
}

function patternOf(pattern: string): RegExp {
  if (/[[\]?\\]|\*\*/.test(pattern)) throw new Error(`This test does not know the pattern ${pattern}.`);
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
}

/** Copies these sources from a build context, like COPY; an empty source throws. */
export function copyFromContext(copy: Copy, contextDir: string, stageDir: string): void {
  const isIgnored = ignorer(fs.readFileSync(path.join(contextDir, '.dockerignore'), 'utf8'));
  for (const source of copy.sources) {
    const files = filesUnder(contextDir, source).filter((file) => !isIgnored(file));
    if (files.length === 0) throw new Error(`The build context has no ${source}: COPY would fail.`);
    for (const file of files) {
      const target = path.join(stageDir, targetOf(copy, source, file));
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.copyFileSync(path.join(contextDir, file), target);
    }
  }
}

/** A folder's content goes into the target; a file becomes the target, or goes into it if it ends with a slash. */
export function targetOf({ target }: Copy, source: string, file: string): string {
  if (file !== source) return path.join(target, path.relative(source, file));
  return target.endsWith('/') ? path.join(target, path.basename(file)) : target;
}

function filesUnder(root: string, source: string): string[] {
  if (!fs.existsSync(path.join(root, source))) return [];
  if (fs.statSync(path.join(root, source)).isFile()) return [source];
  return fs
    .readdirSync(path.join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}
