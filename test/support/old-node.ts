// SPDX-License-Identifier: Apache-2.0

/** Settings that make a child process believe it is another version of Node. */
export function asNode(version: string): { NODE_OPTIONS: string } {
  const script = `for (const [name, value] of [['version', 'v${version}'], ['versions', { ...process.versions, node: '${version}' }]]) Object.defineProperty(process, name, { value });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
