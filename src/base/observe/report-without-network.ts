// SPDX-License-Identifier: Apache-2.0
//
// To be imported before a diagnostic report is made, by which libsql finds its binary. With the network in it, a report lists
// interfaces and asks for the names of connected hosts.

// Node's types do not have it.
Object.assign(process.report, { excludeNetwork: true });
