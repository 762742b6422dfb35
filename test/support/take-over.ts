// SPDX-License-Identifier: Apache-2.0
//
// Takes over the contents of the given folder, as a server does at its start.
import { openState } from '../../src/state/takeover/open-state.js';
import { sqliteIn } from './stored-keys.js';

await (await openState(sqliteIn(process.argv[2] ?? ''), true)).close();
