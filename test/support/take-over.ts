// SPDX-License-Identifier: Apache-2.0
//
// Takes over what lies in the folder that is named, as a server does at its start.
import { openState } from '../../src/state/takeover/open-state.js';
import { sqliteIn } from './stored-keys.js';

await (await openState(sqliteIn(process.argv[2] ?? ''), true)).close();
