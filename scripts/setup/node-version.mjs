// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

const description = new URL('../../package.json', import.meta.url);
const { engines } = JSON.parse(fs.readFileSync(description, 'utf8'));
/** Oldest first. */
const [, oldest, oldestMajor, oldestMinor] = /((\d+)\.(\d+))/.exec(engines.node);
const [major, minor] = process.versions.node.split('.').map(Number);

/** Undefined unless this Node is older than all supported versions. */
export const whyTooOld =
  major > oldestMajor || (major === Number(oldestMajor) && minor >= oldestMinor)
    ? undefined
    : `Expected Node ${oldest} or later, but this is ${process.version}`;
