// SPDX-License-Identifier: Apache-2.0
//
// Must be imported before anything makes a diagnostic report, as libsql does to find its binary. A report that covers the network
// lists interfaces and looks up the names of connected hosts.

// Node's types do not have it.
Object.assign(process.report, { excludeNetwork: true });
