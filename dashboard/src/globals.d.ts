// SPDX-License-Identifier: Apache-2.0

declare module '*.css';

/** The address, relative to the importing file, of a module that is a file of its own. */
declare module '*?standalone' {
  const address: string;
  export default address;
}

interface RequestInit {
  /** Known to fetch, but not yet to the types of browsers. */
  duplex?: 'half';
}
